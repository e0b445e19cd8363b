#include "lab/figure/picture.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "core/machine/error.hpp"
#include "core/text/message.hpp"
#include "core/text/words.hpp"
#include "lab/flags/ending.hpp"
#include "lab/system/atomic_file.hpp"
#include "lab/system/child.hpp"
#include "lab/system/output.hpp"

namespace tilescope::lab {
using text::message;
namespace {

/// A temporary folder. The destructor removes it with everything in it.
class Workshop {
  public:
    Workshop() {
        const char* const asked = std::getenv("TMPDIR");
        const std::filesystem::path folder = asked && *asked ? asked : "/tmp";
        std::string name = (folder / "tilescope-XXXXXX").string();
        if (!mkdtemp(name.data()))
            throw RunError(message("picture.no_folder", text::shown(folder.string()), std::strerror(errno)));
        path_ = name;
    }
    ~Workshop() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    Workshop(const Workshop&) = delete;
    Workshop& operator=(const Workshop&) = delete;
    std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

  private:
    std::filesystem::path path_;
};

}  // namespace

const PictureFile& picture_file(const std::string& flag, const std::string& path) {
    std::vector<std::string> endings;
    for (const PictureFile& f : picture_files) endings.emplace_back(f.ending);
    const std::string ending = check_ending(flag, path, endings);
    if (ending.empty() && !path.empty() && !path.starts_with("/dev/"))
        throw UsageError(message("picture.no_ending", flag, text::shown(path), text::shown(path + endings[0])));
    for (const PictureFile& f : picture_files)
        if (ending == f.ending) return f;
    return picture_files[0];
}

void require_gnuplot(const std::string& instead) {
    if (!on_path("gnuplot")) throw RunError(message("picture.no_gnuplot", instead));
}

std::string drawn(const Figure& figure, Theme theme, const PictureFile& file, const Page& page,
                  const Control* control) {
    const Workshop workshop;
    const std::string script = workshop / "figure.gp", picture = workshop / "figure";
    Output lines(script);
    lines << as_gnuplot(figure, theme, file.terminal, picture, page);
    lines.close();
    Child gnuplot({"gnuplot", script});
    std::string words;
    while (gnuplot.read_more(words, control)) {
    }
    if (gnuplot.wait() != 0) throw RunError(message("picture.gnuplot_failed", text::shown(words, 400)));
    std::ifstream drawing(picture, std::ios::binary);
    std::string content((std::istreambuf_iterator<char>(drawing)), {});
    const std::size_t end = content.rfind(file.last);
    if (end == content.npos || end + 80 < content.size())
        throw RunError(
            message("picture.not_finished", words.empty() ? message("picture.no_space") : text::shown(words, 400)));
    return content;
}

void write_file(const std::string& path, const std::string& content) {
    AtomicFile file(path);
    file.stream() << content;
    file.commit();
}

}  // namespace tilescope::lab
