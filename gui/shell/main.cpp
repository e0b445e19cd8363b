// `tilescope-gui`: the window, and pictures and films of it. Exit codes: 0 done, 1 failed, 2 a bad request, 130
// interrupted.
#include <CLI/CLI.hpp>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "core/machine/parallel.hpp"
#include "core/text/words.hpp"
#include "gui/shell/capture.hpp"
#include "gui/shell/native.hpp"
#include "gui/shell/status.hpp"
#include "show/state.hpp"

namespace tilescope::gui::shell {
using namespace lab;
namespace {

constexpr int failed = 1, misused = 2, interrupted = 130;

volatile std::sig_atomic_t stop_asked = 0;

/// The first time it is a wish; whoever asks again does not want to wait.
void ask_to_stop(int signal) {
    stop_asked = 1;
    std::signal(signal, SIG_DFL);
}

struct Invocation {
    State state;
    std::string open, screenshot, record, log;
    Size size;
    Index from = 0, to = -1;  // -1: the end
    int fps = 30;
    bool no_tour = false;
};

Size to_size(const std::string& text) {
    Size s;
    const char *begin = text.data(), *end = begin + text.size();
    const auto width = std::from_chars(begin, end, s.width);
    const bool cross = width.ec == std::errc() && width.ptr != end && *width.ptr == 'x';
    const auto height = cross ? std::from_chars(width.ptr + 1, end, s.height) : width;
    if (!cross || height.ec != std::errc() || height.ptr != end || s.width < 320 || s.height < 240 || s.width > 7680 ||
        s.height > 4320)
        throw UsageError("--size " + text + ": must be WIDTHxHEIGHT, 320x240 to 7680x4320; try --size 1440x900");
    return s;
}

void add_flags(CLI::App& app, Invocation& r) {
    add_state_options(app, r.state);
    app.add_option_function<std::string>(
           "--size", [&r](const std::string& s) { r.size = to_size(s); }, "Of the window or the picture")
        ->type_name("WxH")
        ->default_str("1440x900");
    app.add_option("--open", r.open, "What the window saved, or `tilescope trace` wrote, instead of all flags above")
        ->type_name("FILE.json");
    app.add_option("--screenshot", r.screenshot, "Write a picture and end; needs no display")->type_name("FILE.png");
    app.add_option("--record", r.record, "Write a film and end; needs ffmpeg, and no display")
        ->type_name("FILE.mp4|gif");
    app.add_option("--from", r.from, "First step of the film")->type_name("N")->capture_default_str();
    app.add_option("--to", r.to, "Last step of the film")->type_name("N")->default_str("the end");
    app.add_option("--fps", r.fps, "Pictures a second of the film")->type_name("N")->capture_default_str();
    app.add_flag("--no-tour", r.no_tour, "No tour, not even the first time");
    app.add_option("--log", r.log, "Write a line of JSON for every change (one for a picture), for scripts")
        ->type_name("FILE");
    app.set_version_flag("--version", std::string("tilescope-gui ") + TILESCOPE_VERSION);
    app.get_formatter()->column_width(36);
    app.footer(
        "Keys: Space play, left and right step, Home and End, 1 to 6 the attention algorithms.\n"
        "Examples:\n"
        "  tilescope-gui\n"
        "  tilescope-gui flash_v2 --seq 256 --step 120\n"
        "  tilescope-gui trace.json                 plays what `tilescope trace` wrote\n"
        "  tilescope-gui flash_v1 --race flash_v2 --pace bytes\n"
        "  tilescope-gui flash_v2 --gpu toy --seq 16 --dim 4 --heads 1 --br 4 --bc 4 --screenshot toy.png\n"
        "  tilescope-gui flash_v2 --seq 256 --record film.mp4 --from 1 --to 60 --speed 4");
}

void check(const Invocation& r) {
    if (!r.screenshot.empty() && !r.record.empty())
        throw UsageError("--screenshot " + r.screenshot + ": and --record exclude each other; leave one out");
    if (r.fps < 1 || r.fps > 120)
        throw UsageError("--fps " + std::to_string(r.fps) + ": must be 1 to 120; try --fps 30");
    if (r.from < 0 || (r.to >= 0 && r.to <= r.from))
        throw UsageError("--from " + std::to_string(r.from) + ": must be at least 0 and below --to; try --from 0");
}

std::ofstream open_log(const std::string& path) {
    std::ofstream log(path);
    if (!log) throw RunError("--log " + path + ": cannot be written; name another file");
    return log;
}

/// Until what was asked for is there, or, for a window, found to be right. Throws Interrupted.
void await(App& app, bool all) {
    while (!app.session.pump() && (all || app.session.progress().done == 0)) {
        if (stop_asked) throw Interrupted();
        wait_a_moment();
    }
}

void take_screenshot(App& app, const Invocation& r) {
    Window window(Window::Kind::hidden, r.size);
    // More than once, for ImGui learns the sizes of some things by drawing them.
    for (int k = 0; k < 3; ++k) window.picture(app, 0);
    const Picture picture = window.picture(app, 0);
    if (!r.log.empty()) open_log(r.log) << status(app) << std::endl;
    write_png(picture, r.screenshot);
}

void take_film(App& app, const Invocation& r) {
    const Index last = r.to < 0 ? app.session.length() : std::min(r.to, app.session.length());
    if (r.from >= last)
        throw UsageError("--from " + std::to_string(r.from) + ": the run has " + std::to_string(app.session.length()) +
                         " steps; try --from 0");
    Window window(Window::Kind::hidden, r.size);
    Film film(r.record, r.size, r.fps);
    for (int k = 0; k < 3; ++k) window.picture(app, 0);
    app.view.breakpoints.clear();  // a film does not stop
    app.playback.seek(r.from);
    app.playback.play();
    const double seconds = 1.0 / r.fps;
    const double moves = static_cast<double>(last - r.from) + 1;
    const auto pictures = static_cast<Index>(moves / app.playback.speed() * r.fps) + 1;
    const bool terminal = stderr_is_terminal();
    for (Index k = 0; k < pictures && app.playback.position() <= last; ++k) {
        if (stop_asked) throw Interrupted();
        film.add(window.picture(app, seconds));
        if (terminal) std::fprintf(stderr, "\rrecording %3d%%", static_cast<int>(100 * (k + 1) / pictures));
    }
    if (terminal) std::fprintf(stderr, "\r              \r");
    film.commit();
}

/// Where it is remembered that the tour was seen.
std::filesystem::path seen_file() {
    const char *config = std::getenv("XDG_CONFIG_HOME"), *home = std::getenv("HOME");
    const std::filesystem::path base = config && *config ? config : std::string(home ? home : ".") + "/.config";
    return base / "tilescope" / "tour-seen";
}

void show_window(App& app, const Invocation& r) {
    Window window(Window::Kind::visible, r.size);
    std::error_code ignored;
    if (!r.no_tour && !std::filesystem::exists(seen_file(), ignored)) {
        app.view.tour = 0;
        std::filesystem::create_directories(seen_file().parent_path(), ignored);
        std::ofstream{seen_file()};
    }
    std::ofstream log;
    if (!r.log.empty()) log = open_log(r.log);
    std::string said, before;
    window.show(
        app, [] { return stop_asked != 0; },
        [&](double) {
            if (!log.is_open()) return;
            // What a click changes is drawn in the next frame: two frames that agree are certain.
            std::string now = status(app);
            if (now != said && (now == before || app.playback.playing())) log << (said = now) << std::endl;
            before = std::move(now);
        });
}

void carry_out(const Invocation& r, char** argv) {
    check(r);
    App app;
    // A saved state may stand where an algorithm does, too.
    const std::string& file = r.state.setup.recording;
    const bool saved = r.open.empty() && !file.empty() && std::filesystem::exists(file) && !is_recording(file);
    const State state = saved ? read_state(file) : r.open.empty() ? r.state : read_state(r.open);
    if (!is_inside_xvfb())  // where they were said before
        for (const std::string& remark : state.remarks) std::cerr << "tilescope-gui: " << remark << '\n';
    app.restore(state);
    const bool visible = r.screenshot.empty() && r.record.empty();
    await(app, !visible);
    if (!app.session.problem().empty()) throw UsageError(app.session.problem());
    if (const Run* run = app.session.run(); run && !run->remark().empty() && !is_inside_xvfb())
        std::cerr << "tilescope-gui: " << state.setup.recording << ": " << run->remark() << '\n';
    if (visible) return show_window(app, r);
    try {
        r.record.empty() ? take_screenshot(app, r) : take_film(app, r);
    } catch (const NoDisplay&) {
        start_again_in_xvfb(argv, r.size.width, r.size.height);
        throw RunError("no display, and xvfb-run cannot be started; install it (apt-get install xvfb xauth)");
    }
}

int say(const std::string& message, int code) {
    std::cerr << "tilescope-gui: " << message << '\n';
    return code;
}

int run(int argc, char** argv) {
    CLI::App app("TileScope's window: watch attention move through the memory hierarchy", "tilescope-gui");
    for (const int s : {SIGINT, SIGTERM}) std::signal(s, ask_to_stop);
    std::signal(SIGPIPE, SIG_IGN);  // a failed write says more than a death
    Invocation request;
    add_flags(app, request);
    try {
        app.parse(argc, argv);
        carry_out(request, argv);
        return stop_asked ? interrupted : 0;
    } catch (const CLI::Success& e) {
        return app.exit(e);
    } catch (const CLI::ParseError& e) {
        return say(text::one_line(e.what()) + "; see `tilescope-gui --help`", misused);
    } catch (const UsageError& e) {
        return say(e.what(), misused);
    } catch (const Interrupted&) {
        return say("interrupted; nothing was written", interrupted);
    } catch (const std::bad_alloc&) {
        return say("out of memory; try a smaller problem", failed);
    } catch (const std::exception& e) {
        return say(e.what(), failed);
    }
}

}  // namespace
}  // namespace tilescope::gui::shell

int main(int argc, char** argv) { return tilescope::gui::shell::run(argc, argv); }
