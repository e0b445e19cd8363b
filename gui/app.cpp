#include "gui/app.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "core/text/message.hpp"
#include "gui/draw/canvas.hpp"
#include "gui/draw/widgets.hpp"
#include "gui/layout.hpp"
#include "gui/panels.hpp"
#include "show/words/setup_text.hpp"

namespace tilescope::gui {
using text::message;
namespace {

struct StageTab {
    Stage stage;
    const char *name, *place;
};
/// The tabs of the views, in the order of the digit keys.
constexpr StageTab stage_tabs[] = {
    {Stage::wall, "app.wall", "view-wall"},    {Stage::machine, "app.machine", "view-machine"},
    {Stage::time, "app.time", "view-time"},    {Stage::row, "app.row", "view-row"},
    {Stage::tiles, "app.tiles", "view-tiles"}, {Stage::roofline, "app.roofline", "view-roofline"},
    {Stage::io, "app.io", "view-io"}};

template <class F>
void child(Screen& screen, const char* name, const ImVec4& at, F&& draw) {
    if (at.z <= 0) return;
    screen.places[std::string("panel-") + name] = at;
    const NotedAs as(name);
    ImGui::SetCursorPos({at.x, at.y});
    ImGui::BeginChild(name, {at.z, at.w}, true);
    draw();
    ImGui::EndChild();
}

/// The nearest tick after `tick` at which the SM in focus enters a line with a breakpoint.
std::optional<Index> next_break(const Shown& shown, const Run& run, Index tick) {
    if (shown.view.breakpoints.empty()) return std::nullopt;
    return run.next_tick(tick, shown.view.sm,
                         [&](const Step& s) { return s.enters_line && shown.view.breakpoints.contains(s.event.line); });
}

/// The next event after `tick` that happens for the first time, where playing pauses. There is no pause in a race, in a
/// loop, or where the user plays through.
const First* next_first(const Shown& shown, Derived& derived, const Run& run, Index tick) {
    if (shown.view.play_through || shown.playback.loop || shown.session.rival()) return nullptr;
    for (const First& first : derived.firsts.of(run, derived.walls, shown.session.version()))
        if (first.tick > tick) return &first;
    return nullptr;
}

/// The nearest position after `from`, up to `to`, at which playing pauses, and why; -1: none.
Index next_stop(const Shown& shown, Derived& derived, Screen& screen, Index from, Index to) {
    const Run* run = shown.session.run();
    if (!run) return -1;
    const Index tick = shown.session.ticks_at(from).first;
    const auto position = [&](std::optional<Index> at) {
        const Index p = at ? shown.session.position_of(*at) : to + 1;
        return p <= to ? p : -1;
    };
    const First* first = next_first(shown, derived, *run, tick);
    const Index line = position(next_break(shown, *run, tick));
    const Index pause = position(first ? std::optional(first->tick) : std::nullopt);
    if (pause < 0 || (line >= 0 && line < pause)) return line;
    screen.say(first->what, 12);
    return pause;
}

/// Turns to a view. Ends the zoom, because a zoomed spot belongs to one view.
void turn_to(Shown& shown, Stage stage) {
    if (shown.view.stage != stage) shown.view.zoom.reset();
    shown.view.stage = stage;
}

/// Shows an entry of History; nullptr: says that there is nothing to take back.
void show_again(Shown& shown, Screen& screen, const History::Entry* entry) {
    if (!entry) return screen.say(message("app.nothing_to_take_back"));
    shown.restore(entry->state);
    shown.scene = entry->scene, shown.revealed = false;
}

void press(App& app, Key key) {
    Shown& shown = app.shown;
    Screen& screen = app.screen;
    Playback& p = shown.playback;
    const bool was_blank = std::exchange(screen.blank, false);  // any key ends the blank screen
    if (gantt::moves_cursor(shown, app.derived, key)) return;
    switch (key) {
        case Key::space:
            return p.toggle();
        case Key::right:
            return shown.step_on();
        case Key::left:
            return shown.step_back();
        case Key::operation_on:
            return p.step(1);
        case Key::operation_back:
            return p.step(-1);
        case Key::home:
            return p.to_start();
        case Key::end:
            return p.to_end();
        case Key::escape:
            if (app.files.filming) {
                app.files.filming->cancelled = true;
                return;
            }
            return shown.view.zoom ? shown.view.zoom.reset() : shown.session.cancel();
        case Key::zoom:
            app.input.zooms = !shown.view.zoom;
            return shown.view.zoom.reset();
        case Key::tab:
            if (reader_of(shown, screen) != Reader::at_a_desk) return turn(shown, screen, Drawer::controls);
            shown.view.no_controls = !shown.view.no_controls;
            return;
        case Key::code:
            return turn(shown, screen, Drawer::code);
        case Key::values:
            return turn(shown, screen, Drawer::detail);
        case Key::enter:
            shown.revealed = !shown.revealed;
            return;
        case Key::page_up:
            return shown.turn_scene(-1);
        case Key::page_down:
            return shown.turn_scene(1);
        case Key::blank:
            p.pause();
            screen.blank = !was_blank;
            return;
        case Key::full_screen:
            app.host.full_screen = !app.host.full_screen;
            return;
        case Key::undo:
            return show_again(shown, screen, shown.history.back());
        case Key::redo:
            return show_again(shown, screen, shown.history.forward());
        case Key::up:
            shown.view.row = std::max<Index>(0, shown.view.row - 1);
            return;
        case Key::down:
            ++shown.view.row;
            return;
        default:
            break;
    }
    // The digit keys choose the view.
    const int n = static_cast<int>(key) - static_cast<int>(Key::one);
    if (n >= 0 && n < static_cast<int>(std::size(stage_tabs))) turn_to(shown, stage_tabs[n].stage);
}

void draw_runs(Shown& shown, Derived& derived, Screen& screen, Input& input) {
    Session& s = shown.session;
    if (!s.run()) return machine::overflow_panel(shown, screen);
    if (shown.view.stage == Stage::time) return gantt::panel(shown, derived, screen);
    const auto panel = [&](Run& run, const char* title) {
        if (shown.view.stage == Stage::machine) return machine::panel(shown, derived, screen, run, title);
        if (shown.view.stage == Stage::row) return row::panel(shown, derived, screen, run, title);
        wall::panel(shown, derived, screen, input, run, title);
    };
    if (!s.rival()) return panel(*s.run(), "");
    const float gap = screen.theme.px(8), w = (ImGui::GetContentRegionAvail().x - gap) / 2;
    const float h = ImGui::GetContentRegionAvail().y;
    ImGui::BeginChild("first", {w, h});
    panel(*s.run(), s.run()->algorithm().name);
    ImGui::EndChild();
    ImGui::SameLine(0, gap);
    ImGui::BeginChild("second", {w, h});
    panel(*s.rival(), s.rival()->algorithm().name);
    ImGui::EndChild();
}

void draw_stages(Shown& shown, Derived& derived, Screen& screen, Files& files, const Host& host) {
    const NotedAs as("views");
    float all = screen.theme.px(30);  // for the button beside the tabs
    for (const StageTab& t : stage_tabs)
        all += Canvas::width(screen.theme.title, message(t.name)) + screen.theme.px(18);
    const float gap = screen.theme.px(all < ImGui::GetContentRegionAvail().x ? 14 : 5);
    const float edge = ImGui::GetWindowPos().x + ImGui::GetWindowContentRegionMax().x;
    for (const StageTab& t : stage_tabs) {
        const float end =
            ImGui::GetItemRectMax().x + gap + Canvas::width(screen.theme.title, message(t.name)) + screen.theme.px(4);
        const bool below = reader_of(shown, screen) == Reader::in_the_hand && end > edge;
        if (t.stage != Stage::wall && !below) ImGui::SameLine(0, gap);
        if (tab(screen, t.place, message(t.name), shown.view.stage == t.stage)) turn_to(shown, t.stage);
    }
    export_control(shown, derived, screen, files, host);
}

/// Draws the runs twice as wide and high, and shows the part around a spot. The wall zooms by itself, so that its
/// edges stay in view.
void draw_zoomed_runs(Shown& shown, Derived& derived, Screen& screen, Input& input) {
    constexpr float zoom = 2;
    const ImVec2 at = ImGui::GetCursorScreenPos(), room = ImGui::GetContentRegionAvail();
    if (shown.view.stage == Stage::wall || !plays(shown.view.stage) || !shown.session.run() || room.x < 20 ||
        room.y < 20)
        return draw_runs(shown, derived, screen, input);
    const ImVec2 mouse = ImGui::GetMousePos();
    if (input.zooms && hovered({at.x, at.y, at.x + room.x, at.y + room.y}))
        input.zoom_in(shown.view, (mouse.x - at.x) / room.x, (mouse.y - at.y) / room.y);
    if (!shown.view.zoom) return draw_runs(shown, derived, screen, input);
    const auto before = [&](double spot, float all) {
        return std::clamp(static_cast<float>(spot) * zoom * all - all / 2, 0.f, (zoom - 1) * all);
    };
    ImGui::BeginChild("seen", room, false, ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoScrollWithMouse);
    ImGui::SetCursorScreenPos({at.x - before(shown.view.zoom->x, room.x), at.y - before(shown.view.zoom->y, room.y)});
    ImGui::BeginChild("all", {zoom * room.x, zoom * room.y});
    draw_runs(shown, derived, screen, input);
    ImGui::EndChild();
    ImGui::EndChild();
    if (!hovered({at.x, at.y, at.x + room.x, at.y + room.y})) return;
    input.grabs |= ImGui::IsMouseClicked(ImGuiMouseButton_Left) && !ImGui::IsAnyItemHovered();
    input.pan(shown.view, screen.theme, {zoom * room.x, zoom * room.y}, room, input.grabs);
}

/// On a phone: the height that a view needs. Where there is less, the view scrolls.
float least_height(Stage stage) {
    switch (stage) {
        case Stage::wall:
            return 190;
        case Stage::time:
            return 300;
        case Stage::row:
            return 400;
        default:
            return 440;
    }
}

/// The middle of the window.
void draw_stage(App& app) {
    Shown& shown = app.shown;
    Screen& screen = app.screen;
    constexpr double patience = 0.25;  // seconds before a wait is shown, so that a short one does not flicker
    const bool at_a_desk = reader_of(shown, screen) == Reader::at_a_desk;
    if (reader_of(shown, screen) != Reader::in_a_hall || drawer_of(shown, screen) == Drawer::controls)
        draw_stages(shown, app.derived, screen, app.files, app.host);
    const float scene = at_a_desk ? scene_height(shown, screen, ImGui::GetContentRegionAvail().x) : 0;
    ImGui::BeginChild("stage", {0, -scene});
    const ImVec2 corner = ImGui::GetCursorScreenPos();
    const float least = screen.theme.px(least_height(shown.view.stage));
    const bool scrolls = reader_of(shown, screen) == Reader::in_the_hand && ImGui::GetContentRegionAvail().y < least;
    if (scrolls) ImGui::BeginChild("all-of-it", {0, least});
    if (plays(shown.view.stage) || !shown.session.problem().empty()) {
        draw_zoomed_runs(shown, app.derived, screen, app.input);
    } else {
        const NotedAs as("explore");
        explore::panel(shown, app.derived, screen, app.input);
    }
    if (scrolls) ImGui::EndChild();
    if (shown.session.busy() && shown.waited >= patience) machine::making_panel(shown, screen, corner);
    if (app.files.filming) {
        const ImVec2 at = ImGui::GetWindowPos(), size = ImGui::GetWindowSize();
        filming_panel(screen, *app.files.filming, {at.x + size.x, at.y + size.y});
    };
    ImGui::EndChild();
    if (shown.scene && at_a_desk) scene_panel(shown, screen);
}

/// Nothing but the stage, and below it the caption.
void draw_alone(Shown& shown, Derived& derived, Screen& screen, Input& input) {
    const Theme& t = screen.theme;
    const NotedAs as("memory");
    const ImVec2 size = ImGui::GetIO().DisplaySize;
    const float edge = std::min(t.px(16), std::min(size.x, size.y) / 20), width = size.x - 2 * edge;
    const std::string& caption = screen.alone->caption;
    const auto most = std::max(1, static_cast<int>(size.y / 2 / t.text->FontSize));
    const int lines = std::min(most, static_cast<int>(Canvas::broken(t.text, caption, width).size()));
    const float below = lines > 0 ? static_cast<float>(lines) * t.text->FontSize + t.px(10) : 0;
    ImGui::SetCursorPos({edge, edge});
    ImGui::PushStyleColor(ImGuiCol_ChildBg, IM_COL32_BLACK_TRANS);
    ImGui::BeginChild("alone", {width, size.y - 2 * edge - below}, false, ImGuiWindowFlags_NoScrollbar);
    draw_zoomed_runs(shown, derived, screen, input);
    ImGui::EndChild();
    ImGui::PopStyleColor();
    Canvas(t).paragraph(t.text, {edge, size.y - edge - below + t.px(10)}, t.dim_ink, caption, width, lines);
}

/// Whether there is a run that no frame has drawn yet; drawing it comes first.
bool is_new(const Shown& shown) { return shown.session.version() != shown.drawn; }

/// Does a unit of the work that no thread does. Runs work ahead on their references only while no run is waited for.
/// True when nothing is left to do.
bool work_on(Shown& shown, Derived& derived, Export& exporting) {
    const bool waited_for = shown.session.busy() || is_new(shown);
    bool done = shown.session.pump();
    done &= derived.explorer.pump(shown.session, shown.view);
    done &= exporting.pump();
    if (waited_for) return false;
    for (Run* run : {shown.session.run(), shown.session.rival()})
        if (run) done &= run->work_ahead();
    return done;
}

/// Does a unit of the work that no thread does. In a page, which has no threads, does as many units as fit into 8 ms,
/// whatever time the browser then takes to draw.
void work(App& app, double seconds) {
    using Clock = std::chrono::steady_clock;
    const auto end = Clock::now() + std::chrono::milliseconds(8);
    do app.host.working = !work_on(app.shown, app.derived, app.files.exporting);
    while (app.host.working && app.host.page && !is_new(app.shown) && Clock::now() < end);
    app.shown.waited = app.shown.session.busy() ? app.shown.waited + seconds : 0;
    if (auto news = app.files.exporting.news()) app.screen.say(std::move(*news));
}

}  // namespace

const SmState* Shown::focus() const {
    const Run* run = session.run();
    if (!run || view.sm >= static_cast<Index>(run->moment().sms.size())) return nullptr;
    return &run->moment().sms[static_cast<std::size_t>(view.sm)];
}

void Screen::place(const std::string& name) {
    const ImVec2 a = ImGui::GetItemRectMin(), b = ImGui::GetItemRectMax();
    places[name] = {a.x, a.y, b.x - a.x, b.y - a.y};
}

void Input::zoom_in(View& view, float x, float y) {
    const auto short_number = [](float share) { return std::round(static_cast<double>(share) * 1000) / 1000; };
    view.zoom = Spot{short_number(x), short_number(y)};
    zooms = false;
}

void Input::pan(View& view, const Theme& theme, ImVec2 whole, ImVec2 seen, bool drags) {
    const bool dragged = drags && ImGui::IsMouseDragging(ImGuiMouseButton_Left);
    const ImGuiIO& io = ImGui::GetIO();
    if (!view.zoom || (!dragged && io.MouseWheel == 0 && io.MouseWheelH == 0)) return;
    if (dragged && !grabbed) grabbed = view.zoom;
    const Spot from = dragged ? *grabbed : *view.zoom;
    const ImVec2 by = dragged ? ImGui::GetMouseDragDelta(ImGuiMouseButton_Left)
                              : ImVec2(io.MouseWheelH * theme.px(50), io.MouseWheel * theme.px(50));
    const auto share = [](double at, float moved, float all, float part) {
        return static_cast<float>(
            panned(at, static_cast<double>(moved), static_cast<double>(all), static_cast<double>(part)));
    };
    zoom_in(view, share(from.x, by.x, whole.x, seen.x), share(from.y, by.y, whole.y, seen.y));
}

void Screen::say(std::string text, double for_seconds) {
    message = std::move(text);
    message_until = ImGui::GetTime() + for_seconds;
}

Reader reader_of(const Shown& shown, const Screen& screen) {
    return reader_of(screen.theme.reader == Reader::in_the_hand, shown.view.projector);
}

Drawer drawer_of(const Shown& shown, const Screen& screen) {
    const bool held = reader_of(shown, screen) == Reader::in_the_hand && shown.view.drawer == Drawer::automatic;
    return held ? Drawer::none : open_drawer(shown.session, shown.view);
}

void turn(Shown& shown, const Screen& screen, Drawer which) {
    shown.view.drawer = drawer_of(shown, screen) == which ? Drawer::none : which;
}

void Shown::step_on() {
    const Run* run = session.run();
    if (!run || view.stride == Stride::operation) return playback.step(1);
    const Index to = stride_on(*run, view.stride, view.sm, session.ticks_at(playback.position()).first);
    // In a race, goes on by at least one position, because the other run may not have ended.
    playback.go(std::max(session.position_of(to), playback.position() + 1));
}

void Shown::step_back() {
    const Run* run = session.run();
    if (!run || view.stride == Stride::operation) return playback.step(-1);
    const Index to = stride_back(*run, view.stride, view.sm, session.ticks_at(playback.position()).first);
    playback.go(std::min(session.position_of(to), playback.position() - 1));
}

std::optional<Scene> Shown::told_scene() const {
    return scene ? std::optional(worded_for(*scene, session.setup())) : std::nullopt;
}

void Shown::open(const Saved& saved) {
    restore(saved.state);
    scene = saved.scene, revealed = false;
}

void Shown::open_scene(const Scene& opened, State state) {
    state.view.light = view.light, state.view.projector = view.projector, state.view.no_controls = view.no_controls;
    state.view.drawer = view.drawer;
    restore(state);
    scene = opened, revealed = false;
}

void Shown::turn_scene(int by) {
    const auto last = static_cast<int>(scenes().size()) - 1;
    const int now = scene ? scene_number(*scene) : by > 0 ? -1 : last + 1;
    open_scene(scenes()[static_cast<std::size_t>(std::clamp(now + by, 0, last))]);
}

void follow(Shown& shown) {
    if (shown.session.setup() != shown.stretched)
        shown.playback.set_stretch({}), shown.stretched = shown.session.setup();
    shown.playback.set_length(shown.session.length());
    shown.session.show(shown.playback.position());
    const Run* run = shown.session.run();
    if (!run) return;
    if (shown.wanted_sm && !shown.session.busy()) {
        shown.view.sm = *std::exchange(shown.wanted_sm, {});
        shown.followed = {};
    }
    shown.view.sm = std::clamp<Index>(shown.view.sm, 0, std::max<Index>(0, run->schedule().sms_used() - 1));
    if (shown.followed == std::pair(shown.session.version(), run->tick())) return;
    shown.followed = {shown.session.version(), run->tick()};
    const auto& sms = run->moment().sms;
    const auto first = sms.begin() + static_cast<std::ptrdiff_t>(shown.view.sm);
    const auto works = [](const SmState& sm) { return sm.block != nullptr; };
    if (sms.empty() || works(*first)) return;
    if (const auto next = std::find_if(first, sms.end(), works); next != sms.end())
        shown.view.sm = next->sm;
    else if (const auto other = std::find_if(sms.begin(), sms.end(), works); other != sms.end())
        shown.view.sm = other->sm;
}

void frame(App& app, double seconds) {
    Shown& shown = app.shown;
    Screen& screen = app.screen;
    screen.places.clear();
    screen.notes.begin_frame();
    if (!ImGui::IsMouseDown(ImGuiMouseButton_Left) && !ImGui::IsMouseReleased(ImGuiMouseButton_Left))
        app.input.grabs = false, app.input.grabbed.reset();
    work(app, seconds);
    // For a frame after Enter Dear ImGui still says that it wants text.
    const bool typing = ImGui::GetIO().WantTextInput && ImGui::IsAnyItemActive();
    for (const Key key : std::exchange(app.input.keys, {}))
        if (!typing && shown.view.tour < 0) follow(shown), press(app, key);
    follow(shown);
    shown.playback.advance(
        seconds, [&](Index from, Index to) { return next_stop(shown, app.derived, screen, from, to); },
        [&](Index position) { return shown.session.weight(position); });
    follow(shown);

    if (!ImGui::IsAnyItemActive() && !shown.session.busy()) shown.history.note({shown.state(), shown.scene});
    if (const std::string said = is_new(shown) ? about_files_text(shown.session) : ""; !said.empty())
        screen.say(said, 12);
    shown.drawn = shown.session.version();
    if (screen.blank) return;

    const ImVec2 size = ImGui::GetIO().DisplaySize;
    const Layout l = layout(shown, screen, size);
    ImGui::SetNextWindowPos({0, 0});
    ImGui::SetNextWindowSize(size);
    ImGui::PushFont(screen.theme.text);
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {0, 0});
    if (screen.alone)
        ImGui::PushStyleColor(ImGuiCol_WindowBg, screen.alone->transparent ? IM_COL32_BLACK_TRANS : screen.theme.panel);
    ImGui::Begin("TileScope", nullptr,
                 ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoSavedSettings |
                     ImGuiWindowFlags_NoBringToFrontOnFocus | ImGuiWindowFlags_NoNav);
    ImGui::PopStyleVar();
    if (screen.alone) {
        ImGui::PopStyleColor();
        draw_alone(shown, app.derived, screen, app.input);
        ImGui::End();
        ImGui::PopFont();
        return;
    }
    child(screen, "controls", l.controls, [&] { controls::panel(shown, screen, app.files, app.host); });
    child(screen, "memory", l.memory, [&] { draw_stage(app); });
    child(screen, "code", l.code, [&] { code::panel(shown, screen); });
    child(screen, "detail", l.detail, [&] {
        shown.view.detail == Detail::values ? detail::values_panel(shown, screen)
                                            : detail::counters_panel(shown, screen);
    });
    child(screen, "strip", l.strip, [&] { strip(shown, screen); });
    child(screen, "transport", l.transport, [&] { transport::panel(shown, screen); });
    ImGui::End();
    tour(shown, screen);
    ImGui::PopFont();
    if (std::exchange(app.input.zooms, false)) screen.say(message("app.nothing_to_zoom"));
}

}  // namespace tilescope::gui
