// The page: the frames of the window on a canvas. index.html and page.js are its other half; they call the functions
// below, and tell() calls theirs.
#include <emscripten.h>

#include <CLI/CLI.hpp>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>

#include "core/text/message.hpp"
#include "core/text/words.hpp"
#include "gui/draw/whole.hpp"
#include "gui/shell/asked.hpp"
#include "gui/shell/status.hpp"
#include "gui/shell/vectors.hpp"
#include "gui/web/canvas_window.hpp"
#include "gui/web/recorder.hpp"
#include "lab/flags/ending.hpp"
#include "lab/flags/parse.hpp"
#include "show/state/link.hpp"
#include "show/words/code_text.hpp"
#include "show/words/setup_text.hpp"

namespace tilescope::gui::web {
using namespace lab;
using text::message;
namespace {

// Calls the function `what` of page.js.
EM_JS(void, tell_page, (const char* what, const char* text), { Module.told[UTF8ToString(what)](UTF8ToString(text)); })

EM_JS(void, tell_work, (double milliseconds), { Module.work = milliseconds; })

void tell(const char* what, const std::string& text) { tell_page(what, text.c_str()); }

// A file in this folder becomes a download. It is the working directory, so that file names without a folder lead here.
constexpr const char* downloads = "/downloads";

/// Half of the tile contents (value_bytes) that a native program keeps; the other limits are the same.
constexpr RecordingLimits limits = {.matmul_flops = 300'000'000, .value_bytes = Bytes{64} << 20, .events = 100'000};

/// What an address asks for.
struct Address : shell::Asked {
    bool alone = false;
};

Address asked_by(const std::vector<std::string>& words) {
    Address a;
    CLI::App app;
    app.set_help_flag("");
    shell::add_asked_options(app, a);
    app.add_flag("--alone", a.alone);
    parse(app, words);
    shell::look_at_typed(app, a);
    if (!a.scene.empty()) a.state = shell::state_asked(a, scene_named(a.scene));
    return a;
}

class Page {
  public:
    explicit Page(const std::string& address) { app.host.page = InPage{address}; }

    /// Shows what an address asks for. If the address is wrong, says why and keeps what was shown.
    void open(const std::vector<std::string>& words);
    /// Shows a scene and keeps the flags that say how the page looks now: --light, --projector, --no-controls, --alone,
    /// --caption.
    void open_scene(const std::string& name);
    void open_files(const std::vector<std::string>& paths);
    void act(const std::string& what, double number);
    /// Whether another frame is to follow.
    bool frame();

    App app{limits};
    CanvasWindow window;
    bool full_screen = false;  ///< of the page
    bool watched = false;      ///< the page wants a line of log for every change

  private:
    /// What was shown, to return to if what is opened next proves wrong.
    struct Kept {
        State state;
        std::optional<Scene> scene = {};
        bool revealed = false;
        std::optional<Alone> alone = {};
        bool caption_of_setup = false;
    };
    Kept kept() const {
        return {app.shown.state(), app.shown.scene, app.shown.revealed, app.screen.alone, caption_of_setup_};
    }
    void show(Kept what);
    void show(const Address& asked);
    void refuse(const std::string& why);
    void after_frame(double milliseconds);
    void look_at_opened();
    void write_address();
    void export_stage();
    void film();
    void say_what_is_shown();
    void log();

    bool begun_ = false;          // the page shows something
    std::optional<Kept> before_;  // what was shown before the run that is still being made
    bool caption_of_setup_ = false;
    /// What the page was told last, and what its address stands for.
    struct Told {
        std::uint64_t version = 0;
        Index step = -1, of = 0, sm = 0;
        bool playing = false, settled = false;
        std::string problem = {}, said = {};
        bool operator==(const Told&) const = default;
    } told_;
    struct Addressed {
        State state;
        std::string scene, caption;
        bool answer = false, alone = false;
        bool operator==(const Addressed&) const = default;
    } addressed_;
    std::string address_, logged_, cursor_;
    bool typing_ = false;    // into a field, as the page was told
    double written_ = -1e9;  // when the address was written, in milliseconds
    Recorder recorder_;
};

void Page::show(Kept what) {
    app.shown.scene = std::move(what.scene), app.shown.revealed = what.revealed;
    app.shown.restore(what.state);
    app.screen.alone = std::move(what.alone), caption_of_setup_ = what.caption_of_setup;
    begun_ = true;
}

void Page::show(const Address& asked) {
    Kept what{asked.state};
    if (!asked.scene.empty()) what.scene = scene_named(asked.scene), what.revealed = asked.answer;
    if (asked.alone) what.alone = Alone{asked.caption.value_or("")};
    what.caption_of_setup = asked.alone && asked.caption && asked.caption->empty();
    show(std::move(what));
}

void Page::refuse(const std::string& why) {
    address_.clear();
    tell("problem", why);
}

void Page::open(const std::vector<std::string>& words) {
    try {
        const Address asked = asked_by(words);
        Kept shown = begun_ ? kept() : Kept{asked_by({}).state};
        show(asked);
        before_ = std::move(shown);
        tell("problem", "");
    } catch (const UsageError& e) {
        refuse(e.what());
        if (!begun_) show(asked_by({}));
    }
}

void Page::open_scene(const std::string& name) {
    std::vector<std::string> words = {"--scene", name};
    const auto keep = [&](bool is_so, const char* flag) {
        if (is_so) words.emplace_back(flag);
    };
    keep(app.shown.view.light, "--light");
    keep(app.shown.view.projector, "--projector");
    keep(app.shown.view.no_controls, "--no-controls");
    keep(app.screen.alone.has_value(), "--alone");
    keep(app.screen.alone && (caption_of_setup_ || !app.screen.alone->caption.empty()), "--caption");
    open(words);
}

/// Files that were dropped on the page: a saved state, a recording, or inputs named q.npy, k.npy, v.npy, x.npy.
void Page::open_files(const std::vector<std::string>& paths) {
    try {
        Saved opened{app.shown.state(), app.shown.scene};
        State& state = opened.state;
        std::vector<std::string> flags;
        for (const std::string& path : paths) {
            const std::filesystem::path file(path);
            const std::string name = file.stem().string();
            if (file.extension() == ".json") {
                opened = read_saved(path);
                app.screen.say(opened_text(file.filename().string(), state));
            } else if (file.extension() == ".npy" && name.size() == 1 &&
                       std::string("qkvxQKVX").find(name) != std::string::npos) {
                flags.push_back(std::string("--") + static_cast<char>(std::tolower(name[0])));
                flags.push_back(path);
            } else {
                throw UsageError(message("page_window.must_be_file", text::shown(file.filename().string())));
            }
        }
        if (!flags.empty()) {  // the inputs' shapes give the sizes
            Options& o = state.setup.options;
            o.batch = o.heads = o.kv_heads = o.seq = o.seq_q = o.seq_k = o.dim = o.dim_v = {};
            o.model.clear(), o.phase.clear();
        }
        state = changed(state, flags);
        before_ = kept();
        app.shown.open(opened);
        tell("problem", "");
    } catch (const std::runtime_error& e) {
        tell("problem", e.what());
    }
}

/// Returns to what was shown before if an error in what was opened was found only while it was made.
void Page::look_at_opened() {
    if (!before_ || app.shown.session.busy()) return;
    Kept before = *std::exchange(before_, {});
    if (app.shown.session.problem().empty() || app.shown.session.spill()) return;
    refuse(app.shown.session.problem());
    show(std::move(before));
}

/// The caption below a lone stage: the scene's words, or what was asked for and where the numbers come from.
std::string caption_of(const Shown& shown) {
    if (!shown.scene) return shown.caption();
    const Scene s = *shown.told_scene();
    std::vector<std::string> said = {message("page_window.scene", scene_title(s), s.caption)};
    if (!s.question.empty()) said.push_back(s.question);
    if (shown.revealed) said.push_back(s.answer);
    return text::sentences(said);
}

void Page::write_address() {
    constexpr double least_apart = 500;  // milliseconds: browsers allow a hundred in half a minute
    const double now = emscripten_get_now();
    if (before_ || app.files.filming || app.shown.moves() || now - written_ < least_apart) return;
    Addressed what{app.shown.state(), app.shown.scene ? app.shown.scene->name : "",
                   app.screen.alone ? app.screen.alone->caption : "", app.shown.revealed, app.screen.alone.has_value()};
    if (!address_.empty() && what == addressed_) return;
    addressed_ = std::move(what);
    std::vector<std::string> words = link_words(app.shown.state(), app.shown.scene ? &*app.shown.scene : nullptr).words;
    if (app.shown.scene && app.shown.revealed) words.emplace_back("--answer");
    if (app.screen.alone) words.emplace_back("--alone");
    if (app.screen.alone && (caption_of_setup_ || !app.screen.alone->caption.empty())) {
        words.emplace_back("--caption");
        if (!caption_of_setup_) words.push_back(app.screen.alone->caption);
    }
    const std::string fragment = fragment_of(words);
    if (fragment == address_) return;
    tell("address", address_ = fragment);
    written_ = now;
}

/// Exports the stage alone to the file that was asked for.
void Page::export_stage() {
    const std::string path = std::exchange(app.files.stage_file.path, {});
    if (path.empty()) return;
    const std::string caption = app.files.stage_file.caption ? app.shown.caption() : "";
    const auto before = std::exchange(app.screen.alone, Alone{caption, app.files.stage_file.transparent});
    for (int k = 0; k < 3; ++k) window.lay_out(app);  // Dear ImGui learns some sizes by drawing
    if (check_ending(message("export.name"), path, {".svg", ".pdf", ".png"}) == ".svg") {
        std::ofstream(path) << shell::as_svg(app.shown, app.screen, [this] { window.lay_out(app); });
    } else {
        window.draw_beside(app);
        tell("picture", std::filesystem::path(path).filename().string());
    }
    app.screen.alone = before;
    app.screen.say(written_text(path));
}

void Page::film() {
    if (recorder_.to_begin(app.files)) {
        recorder_.prepare(app.shown, app.screen, app.files);
        for (int k = 0; k < 3; ++k) window.lay_out(app);
        window.draw_beside(app);
        recorder_.begin(app.shown, app.files, tell);
    }
    recorder_.work(app.shown, app.screen, app.files, emscripten_get_now(), tell);
    if (app.files.filming) window.wake();
}

/// Tells the page what is shown, for pages that embed this one and for people who cannot see it.
void Page::say_what_is_shown() {
    Told now;
    now.version = app.shown.session.version(), now.step = app.shown.playback.position(),
    now.of = app.shown.playback.length();
    now.sm = app.shown.view.sm, now.playing = app.shown.playback.playing();
    now.settled = app.shown.playback.fraction() >= 1 && !app.shown.session.busy();
    now.problem = app.shown.session.problem();
    if (!now.playing) now.said = what_happens_now(app.shown.session, app.shown.focus());
    if (now == told_) return;
    told_ = std::move(now);
    const nlohmann::ordered_json j{{"step", told_.step},
                                   {"of", told_.of},
                                   {"playing", told_.playing},
                                   {"settled", told_.settled},
                                   {"said", told_.said}};
    tell("shown", j.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
}

/// Logs the window's status when two frames in a row have the same one, because a click's changes are drawn only in the
/// next frame. While the run plays, logs the status of every frame.
void Page::log() {
    std::string now = shell::status(app);
    if (now == logged_ || app.shown.playback.playing()) tell("log", now);
    logged_ = std::move(now);
}

void Page::after_frame(double milliseconds) {
    tell_work(milliseconds);
    look_at_opened();
    write_address();
    say_what_is_shown();
    export_stage();
    film();
    if (watched) log();
    if (caption_of_setup_ && app.screen.alone) app.screen.alone->caption = caption_of(app.shown);
    if (const std::string wanted = CanvasWindow::cursor(); wanted != cursor_) tell("cursor", cursor_ = wanted);
    const auto field = CanvasWindow::field();
    if (field.has_value() != std::exchange(typing_, field.has_value()))
        tell(field ? "typing" : "typed", field.value_or(""));
    if (std::exchange(app.host.page->opens, false)) tell("choose", "");
    if (app.host.full_screen != full_screen) tell("fullscreen", (full_screen = app.host.full_screen) ? "on" : "off");
}

void Page::act(const std::string& what, double number) {
    if (what == "step") number < 0 ? app.shown.step_back() : app.shown.step_on();
    if (what == "seek")
        app.shown.playback.pause(), app.shown.playback.seek(whole(number, 0, app.shown.playback.length()));
    if (what == "play" && !app.shown.playback.playing()) app.shown.playback.play();
    if (what == "pause") app.shown.playback.pause();
    if (what == "reveal") app.shown.revealed = number != 0;
    if (what == "unfilm" && app.files.filming) app.files.filming->cancelled = true;
}

bool Page::frame() {
    return window.once(app, [this](double milliseconds) { after_frame(milliseconds); });
}

std::unique_ptr<Page> page;
std::string pasted, answer;

void begin(const std::string& address, const std::string& fragment, bool tour) {
    std::filesystem::create_directories(downloads);
    std::filesystem::current_path(downloads);
    page = std::make_unique<Page>(address);
    ImGuiIO& io = ImGui::GetIO();
    io.SetClipboardTextFn = [](void*, const char* text) { tell("copied", text); };
    io.GetClipboardTextFn = [](void*) { return pasted.c_str(); };
    const auto words = words_of_fragment(fragment);
    page->open(words);
    if (tour && std::find(words.begin(), words.end(), "--no-tour") == words.end() && !page->app.screen.alone)
        page->app.shown.view.tour = 0;
}

}  // namespace
}  // namespace tilescope::gui::web

// The functions that page.js calls. Text is UTF-8.
using namespace tilescope::gui::web;
extern "C" {

/// Begins the page. Returns the error that prevents this, or an empty text.
EMSCRIPTEN_KEEPALIVE const char* tilescope_begin(const char* address, const char* fragment, int tour, int mac) {
    try {
        begin(address, fragment, tour != 0);
        ImGui::GetIO().ConfigMacOSXBehaviors = mac != 0;
        return "";
    } catch (const std::exception& e) {
        answer = e.what();
        return answer.c_str();
    }
}

EMSCRIPTEN_KEEPALIVE int tilescope_frame() { return page->frame() ? 1 : 0; }
EMSCRIPTEN_KEEPALIVE void tilescope_wake() { page->window.wake(); }

EMSCRIPTEN_KEEPALIVE void tilescope_key(int down, const char* key, const char* code, unsigned character, int mods) {
    page->window.key(down != 0, key, code, character, mods);
}
EMSCRIPTEN_KEEPALIVE void tilescope_button(int down, int button, double x, double y, int mods) {
    page->window.button(down != 0, button, x, y, mods);
}
EMSCRIPTEN_KEEPALIVE void tilescope_move(double x, double y) { page->window.move(x, y); }
EMSCRIPTEN_KEEPALIVE void tilescope_leave() { page->window.leave(); }
EMSCRIPTEN_KEEPALIVE void tilescope_wheel(double right, double down) { page->window.wheel(right, down); }
EMSCRIPTEN_KEEPALIVE void tilescope_blur() { page->window.blur(); }
/// Text that was typed elsewhere in the page, for the active field.
EMSCRIPTEN_KEEPALIVE void tilescope_type(const char* text) { page->window.type(text); }
EMSCRIPTEN_KEEPALIVE void tilescope_paste(const char* text) { pasted = text; }

/// Shows what a fragment of an address asks for, or a scene.
EMSCRIPTEN_KEEPALIVE void tilescope_open(const char* fragment) {
    page->window.wake();
    page->open(tilescope::show::words_of_fragment(fragment));
}
EMSCRIPTEN_KEEPALIVE void tilescope_open_scene(const char* name) {
    page->window.wake();
    page->open_scene(name);
}
/// Opens files; `paths` has one path per line.
EMSCRIPTEN_KEEPALIVE void tilescope_open_files(const char* paths) {
    page->window.wake();
    std::istringstream lines(paths);
    std::vector<std::string> all;
    for (std::string path; std::getline(lines, path);) all.push_back(path);
    page->open_files(all);
}

/// What a page around this one asks for: step (1 on, -1 back), seek, play, pause, reveal.
EMSCRIPTEN_KEEPALIVE void tilescope_do(const char* what, double number) {
    page->window.wake();
    page->act(what, number);
}
EMSCRIPTEN_KEEPALIVE void tilescope_full_screen(int on) { page->app.host.full_screen = page->full_screen = on != 0; }
/// Zooms in on a point, or out.
EMSCRIPTEN_KEEPALIVE void tilescope_zoom(int in, double x, double y) {
    page->window.move(x, y);
    page->app.input.zooms = in != 0;
    page->app.shown.view.zoom.reset();
}
/// Whether to leave out the animation of moves and show only their result.
EMSCRIPTEN_KEEPALIVE void tilescope_still(int still) { page->app.shown.playback.still = still != 0; }
EMSCRIPTEN_KEEPALIVE void tilescope_watch() { page->watched = true; }
}
