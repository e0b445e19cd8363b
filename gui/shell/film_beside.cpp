#include "gui/shell/film_beside.hpp"

#include <cstdio>
#include <system_error>
#include <utility>

#include "core/text/message.hpp"
#include "gui/shell/native.hpp"

namespace tilescope::gui::shell {
using text::message;
namespace {

/// The last line that the writer printed, without the program's name.
std::string complaint_in(std::string said) {
    while (said.ends_with('\n')) said.pop_back();
    if (const auto before = said.rfind('\n'); before != said.npos) said.erase(0, before + 1);
    constexpr std::string_view name = "tilescope-gui: ";
    if (said.starts_with(name)) said.erase(0, name.size());
    return said.empty() ? message("film_beside.failed") : said;
}

std::vector<std::string> words_for(const Filming& film, Size size) {
    std::vector<std::string> words = film_command(film.state, film.order, size.width, size.height);
    words.insert(words.begin(), "/proc/self/exe");
    words.emplace_back("--progress=/dev/fd/3");
    return words;
}

}  // namespace

struct FilmBeside::Writer {
    Writer(const Filming& film, Size size)
        : program(words_for(film, size), {said.descriptor(), said.descriptor(), progress.descriptor()}) {
        program.close_input();
    }

    /// Reads the writer's newest whole line: "12 of 340".
    void read_progress(Filming& film) {
        for (std::string piece; !(piece = progress.read()).empty();) lines += piece;
        const auto end = lines.rfind('\n');
        if (end == lines.npos) return;
        const auto begin = end == 0 ? lines.npos : lines.rfind('\n', end - 1);
        long long done = 0, all = 0;
        if (std::sscanf(lines.c_str() + (begin == lines.npos ? 0 : begin + 1), "%lld of %lld", &done, &all) == 2)
            film.done = done, film.all = all;
        lines.erase(0, end + 1);
    }

    NamelessFile said, progress;
    std::string lines;
    bool told_to_end = false;
    Program program;  // the last member, to end first
};

FilmBeside::FilmBeside() = default;
FilmBeside::~FilmBeside() = default;

std::string FilmBeside::work(Files& files, Size size) {
    if (!files.filming) return "";
    Filming& film = *files.filming;
    std::string news;
    try {
        if (!writer_) writer_ = std::make_unique<Writer>(film, size);
        if (film.cancelled && !std::exchange(writer_->told_to_end, true)) writer_->program.ask_to_end();
        writer_->read_progress(film);
        if (!writer_->program.ended()) return "";
        news = writer_->program.succeeded() ? written_text(film.order.path)
               : film.cancelled             ? not_filmed_text(film.order.path)
                                            : complaint_in(writer_->said.read());
    } catch (const std::system_error& e) {
        news = message("film_beside.not_written", e.what());
    }
    writer_.reset();
    files.filming.reset();
    return news;
}

}  // namespace tilescope::gui::shell
