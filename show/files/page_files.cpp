#include "show/files/page_files.hpp"

#include <filesystem>

#include "core/machine/error.hpp"
#include "core/text/words.hpp"
#include "lab/flags/ending.hpp"
#include "show/files/export.hpp"

namespace tilescope::show {
using namespace lab;

std::string usual_page_file(Stage stage) {
    return plays(stage) ? usual_file(stage)
                        : std::filesystem::path(usual_file(stage)).replace_extension(".csv").string();
}

std::string about_page_export(Stage stage) {
    if (plays(stage)) return "This view alone as a picture (SVG, PNG) or a film (WebM); the name's ending says which.";
    return "The numbers of this view (CSV). Pictures of it need gnuplot: tilescope plot draws them.";
}

std::string about_page_endings() { return "A picture where the name ends in .svg or .png; a film in .webm."; }

std::string about_page_films() { return "It plays once, alone, and is recorded: Space ends it, Escape gives it up."; }

bool is_page_film(const std::string& path) {
    return path.ends_with(".webm") || path.ends_with(".WEBM") || path.ends_with(".mp4") || path.ends_with(".MP4");
}

void check_page_file(const Session& session, Stage stage, const std::string& path) {
    const std::string name = "the name " + text::shown(path);
    if (!plays(stage)) {
        if (!path.ends_with(".csv"))
            throw UsageError(name + ": must end in .csv; pictures of this view need gnuplot, which a browser has not");
        return;
    }
    if (is_page_film(path)) return check_can_export(session);
    if (check_ending("the name", path, {".svg", ".png", ".webm", ".mp4"}).empty())
        throw UsageError(name + ": must end in .svg, .png or .webm");
    check_can_export(session);
}

}  // namespace tilescope::show
