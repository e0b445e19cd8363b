// `tilescope-gui`: the window, and pictures and films of it.
#include <CLI/CLI.hpp>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <utility>

#include "core/machine/parallel.hpp"
#include "core/text/message.hpp"
#include "core/text/words.hpp"
#include "gui/shell/asked.hpp"
#include "gui/shell/capture.hpp"
#include "gui/shell/film_beside.hpp"
#include "gui/shell/native.hpp"
#include "gui/shell/stage_file.hpp"
#include "gui/shell/status.hpp"
#include "lab/flags/build_info.hpp"
#include "lab/flags/ending.hpp"
#include "lab/flags/load.hpp"
#include "lab/flags/program.hpp"
#include "lab/flags/values.hpp"
#include "lab/system/atomic_file.hpp"
#include "lab/system/signals.hpp"
#include "show/state/state.hpp"
#include "show/words/setup_text.hpp"
#include "show/words/time_text.hpp"

namespace tilescope::gui::shell {
using namespace lab;
using text::message;
namespace {

struct Invocation : Asked {
    std::string open, screenshot, record, stage, log, progress;
    bool transparent = false, notes = false;
    Size size;
    Index fps = 30;
};

Size to_size(const std::string& text) {
    Size s;
    const char *begin = text.data(), *end = begin + text.size();
    const auto width = std::from_chars(begin, end, s.width);
    const bool cross = width.ec == std::errc() && width.ptr != end && *width.ptr == 'x';
    const auto height = cross ? std::from_chars(width.ptr + 1, end, s.height) : width;
    if (!cross || height.ec != std::errc() || height.ptr != end || s.width < window_least.width ||
        s.height < window_least.height || s.width > window_most.width || s.height > window_most.height)
        throw UsageError(message("window.must_be_size", text::shown(text)));
    return s;
}

void add_flags(CLI::App& app, Invocation& r) {
    add_load_option(app);  // first, because the flags of a state may name what --load loads
    add_asked_options(app, r);
    app.add_option_function<std::string>(
           "--size", [&r](const std::string& s) { r.size = to_size(s); }, message("window_flags.size"))
        ->type_name("WxH")
        ->default_str("1440x900");
    app.add_option("--open", r.open, message("window_flags.open"))->type_name("FILE.json");
    app.add_flag_callback(
        "--scenes",
        [] {
            for (const Scene& s : scenes()) std::cout << s.name << '\n';
            throw CLI::Success();
        },
        message("window_flags.scenes"));
    app.add_flag("--notes", r.notes, message("window_flags.notes"));
    app.add_option("--screenshot", r.screenshot, message("window_flags.screenshot"))->type_name("FILE.png");
    app.add_option("--record", r.record, message("window_flags.record"))->type_name("FILE.mp4|gif");
    app.add_option("--export", r.stage, message("window_flags.export"))->type_name("FILE.svg|pdf|png|mp4|gif");
    app.add_flag("--transparent", r.transparent, message("window_flags.transparent"));
    add_whole_option(app, "--fps", {1, 120, 30}, message("window_flags.fps"), [&r](Index n) {
        r.fps = n;
    })->default_str("30");
    app.add_option("--log", r.log, message("window_flags.log"))->type_name("FILE");
    app.add_option("--progress", r.progress, message("window_flags.progress"))->type_name("FILE");
    app.set_version_flag("--version", version_line("tilescope-gui"));
    app.get_formatter()->column_width(36);
    std::string lines;
    for (const char* id : {"window.keys", "window.flags_mean", "window.first_setup", "window.examples"})
        lines += message(id) + '\n';
    for (const char* id : {"window.example", "window.example_run", "window.example_trace", "window.example_race",
                           "window.example_screenshot", "window.example_export", "window.example_record"})
        lines += "  " + message(id) + '\n';
    app.footer(lines + exit_codes());
}

/// A film's name has to say which kind of film it shall be.
Film::Kind film_kind(const std::string& flag, const std::string& path) {
    const std::string ending = check_ending(flag, path, {".mp4", ".gif"});
    if (ending.empty()) throw UsageError(message("window.must_be_film", text::shown(path)));
    return ending == ".mp4" ? Film::Kind::mp4 : Film::Kind::gif;
}

/// The ending of the exported file, for upper and lower case alike; empty where nothing is exported.
std::string exported(const Invocation& r) {
    return r.stage.empty() ? "" : check_ending("--export", r.stage, {".svg", ".pdf", ".png", ".mp4", ".gif"});
}

void check_export(const Invocation& r) {
    const std::string& path = r.stage;
    if (path.empty()) {
        if (r.transparent) throw UsageError(message("window.transparent_alone"));
        if (r.caption) throw UsageError(message("window.caption_alone", text::shown(*r.caption)));
        return;
    }
    if (exported(r).empty()) throw UsageError(message("window.must_be_view_file", text::shown(path)));
    if (r.transparent && is_film(r.stage)) throw UsageError(message("window.transparent_film"));
}

void check(const Invocation& r) {
    if (r.answer && r.scene.empty()) throw UsageError(message("window.answer_alone", scenes().front().name));
    const std::pair<const char*, const std::string*> outputs[] = {
        {"--screenshot", &r.screenshot}, {"--record", &r.record}, {"--export", &r.stage}};
    const std::pair<const char*, const std::string*>* first = nullptr;
    for (const auto& output : outputs) {
        if (output.second->empty()) continue;
        if (first) throw UsageError(message("window.exclude", first->first, text::shown(*first->second), output.first));
        first = &output;
    }
    check_ending("--screenshot", r.screenshot, {".png"});
    if (!r.record.empty()) film_kind("--record", r.record);
    check_export(r);
    if (const Stretch& s = r.state.stretch; s.last >= 0 && s.last <= s.first)
        throw UsageError(message("window.from_beyond_to", std::to_string(s.first)));
}

/// A log for whoever watches the window; without a path, no log.
class Log {
  public:
    explicit Log(const std::string& path) {
        if (!path.empty()) out_.emplace(path);
    }
    bool wanted() const { return out_.has_value(); }
    /// Adds a line, unless it equals the last one.
    void add(std::string line) {
        if (out_ && line != last_) *out_ << (last_ = std::move(line)) << std::endl;
    }

  private:
    std::optional<Output> out_;
    std::string last_;
};

/// A line on a terminal that says how far work has come, and is gone when the work is.
class ProgressLine {
  public:
    ~ProgressLine() {
        if (shown_) std::fputs("\r\033[K", stderr);
    }
    void show(const std::string& what, Index done, Index all) {
        if (!terminal_) return;
        std::fprintf(stderr, "\r\033[K%s %3d%%", what.c_str(), static_cast<int>(100 * done / std::max<Index>(all, 1)));
        shown_ = true;
    }

  private:
    const bool terminal_ = stderr_is_terminal();
    bool shown_ = false;
};

/// Waits until the run is there or, unless `all`, until the request is found to be right. Throws Interrupted.
void await(Session& session, bool all) {
    ProgressLine line;
    for (int waited = 0; !session.pump() && (all || session.progress().done == 0); ++waited) {
        check_stop(&control());
        wait_a_moment();
        const auto [done, left] = session.progress();
        if (waited % 500 == 499) line.show(message("window.counting_and_recording"), done, done + left);
    }
}

/// Remarks that a step beyond the end shows the end, because the picture does not tell this.
void remark_on_step(const Session& session, Index step) {
    const Index length = session.length();
    if (session.run() && step > length)
        std::cerr << "tilescope-gui: "
                  << message("window.step_beyond", std::to_string(step), positions_text(session, length),
                             std::to_string(length))
                  << '\n';
}

/// Names the letters that a picture shows as boxes, because no font has them.
void remark_on_letters(const Window& window) {
    if (!window.lacking().empty()) std::cerr << "tilescope-gui: " << lacking_text(window.lacking()) << '\n';
}

void take_screenshot(App& app, const Invocation& r, std::ostream& out) {
    Window window(Window::Kind::hidden, r.size);
    settle(app, window);
    remark_on_step(app.shown.session, r.state.step);
    write_picture(app, window, exported(r), out);
    if (exported(r) != ".svg") remark_on_letters(window);
    Log(r.log).add(status(app));
}

void take_film(App& app, const Invocation& r, std::ostream& out) {
    app.shown.playback.set_length(app.shown.session.length());
    const Index first = app.shown.playback.stretch().first, last = app.shown.playback.last();
    if (first >= last)
        throw UsageError(message("window.from_beyond_run", std::to_string(first), app.shown.session.length(),
                                 std::to_string(app.shown.session.length())));
    Window window(Window::Kind::hidden, r.size);
    Film film(r.stage.empty() ? film_kind("--record", r.record) : film_kind("--export", r.stage), r.size,
              static_cast<int>(r.fps));
    Log log(r.log);
    settle(app, window);
    // A film does not stop.
    app.shown.view.breakpoints.clear(), app.shown.view.play_through = true, app.shown.playback.loop = false;
    app.shown.playback.seek(first);
    app.shown.playback.play();
    const double seconds = 1.0 / static_cast<double>(r.fps);
    const Index pictures = film_pictures(app.shown.session, first, last, app.shown.playback.speed(), r.fps);
    ProgressLine line;
    Log progress(r.progress);
    for (Index k = 0; k < pictures && app.shown.playback.position() <= last; ++k) {
        film.add(window.picture(app, seconds));
        if (log.wanted()) log.add(status(app));
        line.show(message("window.recording"), k + 1, pictures);
        progress.add(std::to_string(k + 1) + " of " + std::to_string(pictures));
    }
    film.write(out);
    remark_on_letters(window);
}

/// Takes the picture or the film, on a display in memory where there is no other.
void take(App& app, const Invocation& r, std::ostream& out) {
    const auto act = r.record.empty() && !is_film(r.stage) ? take_screenshot : take_film;
    try {
        return act(app, r, out);
    } catch (const NoDisplay&) {
    }
    const DisplayInMemory display(r.size.width, r.size.height);
    try {
        act(app, r, out);
    } catch (const NoDisplay&) {
        throw RunError(message("window.no_opengl_in_memory"));
    }
}

/// The file that remembers that the tour was seen.
std::filesystem::path seen_file() {
    const char *config = std::getenv("XDG_CONFIG_HOME"), *home = std::getenv("HOME");
    const std::filesystem::path base = config && *config ? config : std::string(home ? home : ".") + "/.config";
    return base / "tilescope" / "tour-seen";
}

void show_window(App& app, const Invocation& r) {
    Window window(Window::Kind::visible, r.size);
    std::error_code ignored;
    if (!r.no_tour && !std::filesystem::exists(seen_file(), ignored)) {
        app.shown.view.tour = 0;
        std::filesystem::create_directories(seen_file().parent_path(), ignored);
        std::ofstream{seen_file()};
    }
    Log log(r.log);
    FilmBeside film;
    std::string before, news;
    std::size_t lacking = 0;  // how many letters the user was told of
    window.show(
        app, [] { return control().stop.load(); },
        [&](double) {
            // Said in a later frame, because this frame's clock stood still during the export.
            if (!news.empty()) app.screen.say(std::exchange(news, {}), 10);
            if (window.lacking().size() > lacking) app.screen.say(lacking_text(window.lacking()), 10);
            lacking = window.lacking().size();
            news = export_stage(app, window);
            if (news.empty()) news = film.work(app.files, window.size());
            if (!log.wanted()) return;
            // A click's changes are drawn in the next frame, so a status counts once two frames in a row have it.
            std::string now = status(app);
            if (now == before || app.shown.playback.playing() || app.files.filming) log.add(now);
            before = std::move(now);
        });
    check_stop(&control());
}

/// The first flag, or else the algorithm, that the user typed beside a file or flag that brings a whole state; nullopt:
/// none.
std::optional<std::string> asked_beside(State asked) {
    asked.setup.recording.clear();
    const std::vector<std::string> words = command_line(asked);  // the algorithm, and the flags
    if (words.size() == 1 && asked.setup.algorithm == State{}.setup.algorithm) return std::nullopt;
    return text::shown(words[words.size() > 1 ? 1 : 0]);
}

/// Prints the notes on the terminal, which the audience does not see.
void print_notes(const Invocation& r) {
    if (const std::string path = r.screenshot + r.record + r.stage + r.log + r.open; !path.empty())
        throw UsageError(message("window.notes_alone", text::shown(path)));
    if (!r.scene.empty()) return show::print_notes(std::cout, scene_named(r.scene));
    if (const auto word = asked_beside(r.state)) throw UsageError(message("window.notes_of_scenes", *word));
    for (const Scene& s : scenes()) {
        if (scene_number(s) > 0) std::cout << '\n';
        show::print_notes(std::cout, s);
    }
}

/// The files of what was opened.
struct Opened {
    std::string file;       ///< the saved state; empty: none
    std::string recording;  ///< the recording that is played; empty: none
};

/// Opens the scene, changed by the flags that were typed beside it.
Opened open_scene(Shown& shown, const Invocation& r) {
    const Scene scene = scene_named(r.scene);
    const State state = state_asked(r, scene);
    if (!r.state.setup.recording.empty())
        throw UsageError(message("window.scene_has_run", text::shown(r.state.setup.recording), text::shown(r.scene)));
    shown.view = state.view;
    shown.open_scene(scene, state);
    shown.revealed = r.answer;
    return {"", state.setup.recording};
}

Opened open_state(Shown& shown, const Invocation& r) {
    // A saved state may stand where an algorithm does, too.
    const std::string& file = r.state.setup.recording;
    const bool is_saved = r.open.empty() && !file.empty() && std::filesystem::exists(file) && !is_recording(file);
    const std::string from = is_saved ? file : r.open;
    if (const auto word = from.empty() ? std::nullopt : asked_beside(r.state))
        throw UsageError(message("window.flags_of_saved", *word, text::shown(from)));
    const Saved saved = from.empty() ? Saved{r.state, {}} : read_saved(from);
    for (const std::string& remark : saved.state.remarks) std::cerr << "tilescope-gui: " << remark << '\n';
    shown.open(saved);
    return {from, saved.state.setup.recording};
}

/// Makes frames draw the stage alone.
void leave_alone(const Shown& shown, Screen& screen, const Invocation& r) {
    if (!plays(shown.view.stage)) throw UsageError(message("window.export_plays", text::shown(r.stage)));
    if (!shown.session.run()) throw UsageError(message("window.export_nothing", text::shown(r.stage)));
    screen.alone = Alone{r.caption.value_or(""), r.transparent};
    if (r.caption && r.caption->empty()) screen.alone->caption = shown.caption();
}

void carry_out(const Invocation& r) {
    check(r);
    std::optional<AtomicFile> out;  // opened before the work, so that an error is reported before the work
    if (const std::string path = r.screenshot + r.record + r.stage; !path.empty()) out.emplace(path);
    App app;
    const auto [file, recording] = r.scene.empty() ? open_state(app.shown, r) : open_scene(app.shown, r);
    await(app.shown.session, out.has_value());
    if (const std::string& problem = app.shown.session.problem(); !problem.empty() && !app.shown.session.spill())
        throw UsageError(file.empty() || !recording.empty() ? problem
                                                            : message("window.in_file", text::shown(file), problem));
    if (const Run* run = app.shown.session.run(); run && !run->remark().empty())
        std::cerr << "tilescope-gui: " << message("window.in_file", text::shown(recording), run->remark()) << '\n';
    if (!out) return show_window(app, r);
    if (!r.stage.empty()) leave_alone(app.shown, app.screen, r);
    take(app, r, out->stream());
    out->commit();
}

}  // namespace
}  // namespace tilescope::gui::shell

int main(int argc, char** argv) {
    using namespace tilescope::gui::shell;
    const auto describe = [](CLI::App& app) {
        static Invocation request;
        add_flags(app, request);
        app.callback([&app] {
            look_at_typed(app, request, request.notes || !request.open.empty());
            request.notes ? print_notes(request) : carry_out(request);
        });
    };
    return tilescope::lab::carry_out("tilescope-gui", "window.purpose", describe, argc, argv);
}
