#include "show/files/page_files.hpp"

#include <filesystem>

#include "core/machine/error.hpp"
#include "core/text/message.hpp"
#include "core/text/words.hpp"
#include "lab/flags/ending.hpp"
#include "show/files/export.hpp"

namespace tilescope::show {
using namespace lab;
using text::message;

std::string usual_page_file(Stage stage) {
    return plays(stage) ? usual_file(stage)
                        : std::filesystem::path(usual_file(stage)).replace_extension(".csv").string();
}

std::string about_page_export(Stage stage) { return message(plays(stage) ? "page.picture_or_film" : "page.numbers"); }

std::string about_page_endings() { return message("page.endings"); }

std::string about_page_films() { return message("page.films"); }

bool is_page_film(const std::string& path) {
    return path.ends_with(".webm") || path.ends_with(".WEBM") || path.ends_with(".mp4") || path.ends_with(".MP4");
}

void check_page_file(const Session& session, Stage stage, const std::string& path) {
    if (!plays(stage)) {
        if (!path.ends_with(".csv")) throw UsageError(message("page.ends_in_csv", text::shown(path)));
        return;
    }
    if (is_page_film(path)) return check_can_export(session);
    if (check_ending(message("export.name"), path, {".svg", ".png", ".webm", ".mp4"}).empty())
        throw UsageError(message("page.stage_endings", text::shown(path)));
    check_can_export(session);
}

}  // namespace tilescope::show
