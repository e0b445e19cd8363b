#include "gui/app.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "gui/draw/canvas.hpp"
#include "gui/draw/widgets.hpp"
#include "gui/layout.hpp"
#include "gui/panels.hpp"
#include "show/words/setup_text.hpp"

namespace tilescope::gui {
namespace {

struct StageTab {
    Stage stage;
    const char *name, *place;
};
/// In the order of the digit keys.
constexpr StageTab stage_tabs[] = {
    {Stage::wall, "Wall", "view-wall"},       {Stage::machine, "Machine", "view-machine"},
    {Stage::time, "Time", "view-time"},       {Stage::row, "Row", "view-row"},
    {Stage::tiles, "Tiles", "view-tiles"},    {Stage::roofline, "Roofline", "view-roofline"},
    {Stage::io, "Bytes against N", "view-io"}};

template <class F>
void child(App& app, const char* name, const ImVec4& at, F&& draw) {
    if (at.z <= 0) return;
    app.places[std::string("panel-") + name] = at;
    const NotedAs as(name);
    ImGui::SetCursorPos({at.x, at.y});
    ImGui::BeginChild(name, {at.z, at.w}, true);
    draw();
    ImGui::EndChild();
}

/// The nearest tick after `tick` at which the SM in focus enters a line with a breakpoint.
std::optional<Index> next_break(const App& app, const Run& run, Index tick) {
    if (app.view.breakpoints.empty()) return std::nullopt;
    return run.next_tick(tick, app.view.sm,
                         [&](const Step& s) { return s.enters_line && app.view.breakpoints.contains(s.event.line); });
}

/// The next event after `tick` that happens for the first time, where playing pauses. There is no pause in a race, in a
/// loop, or where the user plays through.
const First* next_first(App& app, const Run& run, Index tick) {
    if (app.view.play_through || app.playback.loop || app.session.rival()) return nullptr;
    for (const First& first : app.firsts.of(run, app.walls, app.session.version()))
        if (first.tick > tick) return &first;
    return nullptr;
}

/// The nearest position after `from`, up to `to`, at which playing pauses, and why; -1: none.
Index next_stop(App& app, Index from, Index to) {
    const Run* run = app.session.run();
    if (!run) return -1;
    const Index tick = app.session.ticks_at(from).first;
    const auto position = [&](std::optional<Index> at) {
        const Index p = at ? app.session.position_of(*at) : to + 1;
        return p <= to ? p : -1;
    };
    const First* first = next_first(app, *run, tick);
    const Index line = position(next_break(app, *run, tick));
    const Index pause = position(first ? std::optional(first->tick) : std::nullopt);
    if (pause < 0 || (line >= 0 && line < pause)) return line;
    app.say(first->what, 12);
    return pause;
}

/// A zoomed spot belongs to one view.
void turn_to(App& app, Stage stage) {
    if (app.view.stage != stage) app.view.zoom.reset();
    app.view.stage = stage;
}

void press(App& app, Key key) {
    Playback& p = app.playback;
    const bool was_blank = std::exchange(app.blank, false);  // any key ends the blank screen
    switch (key) {
        case Key::space:
            return p.toggle();
        case Key::right:
            return app.step_on();
        case Key::left:
            return app.step_back();
        case Key::operation_on:
            return p.step(1);
        case Key::operation_back:
            return p.step(-1);
        case Key::home:
            return p.to_start();
        case Key::end:
            return p.to_end();
        case Key::escape:
            if (app.filming) {
                app.filming->cancelled = true;
                return;
            }
            return app.view.zoom ? app.view.zoom.reset() : app.session.cancel();
        case Key::zoom:
            app.zooms = !app.view.zoom;
            return app.view.zoom.reset();
        case Key::tab:
            if (app.reader() != Reader::at_a_desk) return app.turn(Drawer::controls);
            app.view.no_controls = !app.view.no_controls;
            return;
        case Key::code:
            return app.turn(Drawer::code);
        case Key::values:
            return app.turn(Drawer::detail);
        case Key::enter:
            app.revealed = !app.revealed;
            return;
        case Key::page_up:
            return app.turn_scene(-1);
        case Key::page_down:
            return app.turn_scene(1);
        case Key::blank:
            p.pause();
            app.blank = !was_blank;
            return;
        case Key::full_screen:
            app.full_screen = !app.full_screen;
            return;
        case Key::undo:
            return app.go_to(app.history.back());
        case Key::redo:
            return app.go_to(app.history.forward());
        case Key::up:
            app.view.row = std::max<Index>(0, app.view.row - 1);
            return;
        case Key::down:
            ++app.view.row;
            return;
        default:
            break;
    }
    // The digits: what the middle shows.
    const int n = static_cast<int>(key) - static_cast<int>(Key::one);
    if (n >= 0 && n < static_cast<int>(std::size(stage_tabs))) turn_to(app, stage_tabs[n].stage);
}

void draw_runs(App& app) {
    Session& s = app.session;
    if (!s.run()) return machine::overflow_panel(app);
    if (app.view.stage == Stage::time) return gantt::panel(app);
    const auto panel = app.view.stage == Stage::machine ? machine::panel
                       : app.view.stage == Stage::row   ? row::panel
                                                        : wall::panel;
    if (!s.rival()) return panel(app, *s.run(), "");
    const float gap = app.theme.px(8), w = (ImGui::GetContentRegionAvail().x - gap) / 2;
    const float h = ImGui::GetContentRegionAvail().y;
    ImGui::BeginChild("first", {w, h});
    panel(app, *s.run(), s.run()->algorithm().name);
    ImGui::EndChild();
    ImGui::SameLine(0, gap);
    ImGui::BeginChild("second", {w, h});
    panel(app, *s.rival(), s.rival()->algorithm().name);
    ImGui::EndChild();
}

void draw_stages(App& app) {
    const NotedAs as("views");
    float all = app.theme.px(30);  // with the button beside them
    for (const StageTab& t : stage_tabs) all += Canvas::width(app.theme.title, t.name) + app.theme.px(18);
    const float gap = app.theme.px(all < ImGui::GetContentRegionAvail().x ? 14 : 5);
    const float edge = ImGui::GetWindowPos().x + ImGui::GetWindowContentRegionMax().x;
    for (const StageTab& t : stage_tabs) {
        const float end = ImGui::GetItemRectMax().x + gap + Canvas::width(app.theme.title, t.name) + app.theme.px(4);
        const bool below = app.reader() == Reader::in_the_hand && end > edge;
        if (t.stage != Stage::wall && !below) ImGui::SameLine(0, gap);
        if (tab(app, t.place, t.name, app.view.stage == t.stage)) turn_to(app, t.stage);
    }
    export_control(app);
}

/// Draws the runs twice as wide and high, and shows the part around a spot. The wall zooms by itself, so that its
/// edges stay in view.
void draw_zoomed_runs(App& app) {
    constexpr float zoom = 2;
    const ImVec2 at = ImGui::GetCursorScreenPos(), room = ImGui::GetContentRegionAvail();
    if (app.view.stage == Stage::wall || !plays(app.view.stage) || !app.session.run() || room.x < 20 || room.y < 20)
        return draw_runs(app);
    const ImVec2 mouse = ImGui::GetMousePos();
    if (app.zooms && hovered({at.x, at.y, at.x + room.x, at.y + room.y}))
        app.zoom_in((mouse.x - at.x) / room.x, (mouse.y - at.y) / room.y);
    if (!app.view.zoom) return draw_runs(app);
    const auto before = [&](double spot, float all) {
        return std::clamp(static_cast<float>(spot) * zoom * all - all / 2, 0.f, (zoom - 1) * all);
    };
    ImGui::BeginChild("seen", room, false, ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoScrollWithMouse);
    ImGui::SetCursorScreenPos({at.x - before(app.view.zoom->x, room.x), at.y - before(app.view.zoom->y, room.y)});
    ImGui::BeginChild("all", {zoom * room.x, zoom * room.y});
    draw_runs(app);
    ImGui::EndChild();
    ImGui::EndChild();
    if (!hovered({at.x, at.y, at.x + room.x, at.y + room.y})) return;
    app.grabs |= ImGui::IsMouseClicked(ImGuiMouseButton_Left) && !ImGui::IsAnyItemHovered();
    app.pan({zoom * room.x, zoom * room.y}, room, app.grabs);
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
    constexpr double patience = 0.25;  // seconds, so that what takes a few frames does not flicker
    const bool at_a_desk = app.reader() == Reader::at_a_desk;
    if (app.reader() != Reader::in_a_hall || app.drawer() == Drawer::controls) draw_stages(app);
    const float scene = at_a_desk ? scene_height(app, ImGui::GetContentRegionAvail().x) : 0;
    ImGui::BeginChild("stage", {0, -scene});
    const ImVec2 corner = ImGui::GetCursorScreenPos();
    const float least = app.theme.px(least_height(app.view.stage));
    const bool scrolls = app.reader() == Reader::in_the_hand && ImGui::GetContentRegionAvail().y < least;
    if (scrolls) ImGui::BeginChild("all of it", {0, least});
    if (plays(app.view.stage) || !app.session.problem().empty()) {
        draw_zoomed_runs(app);
    } else {
        const NotedAs as("explore");
        explore::panel(app);
    }
    if (scrolls) ImGui::EndChild();
    if (app.session.busy() && app.waited >= patience) machine::making_panel(app, corner);
    if (app.filming) {
        const ImVec2 at = ImGui::GetWindowPos(), size = ImGui::GetWindowSize();
        filming_panel(app, {at.x + size.x, at.y + size.y});
    };
    ImGui::EndChild();
    if (app.scene && at_a_desk) scene_panel(app);
}

/// Nothing but the stage, and below it the caption.
void draw_alone(App& app) {
    const Theme& t = app.theme;
    const NotedAs as("memory");
    const ImVec2 size = ImGui::GetIO().DisplaySize;
    const float edge = std::min(t.px(16), std::min(size.x, size.y) / 20), width = size.x - 2 * edge;
    const std::string& caption = app.alone->caption;
    const auto most = std::max(1, static_cast<int>(size.y / 2 / t.text->FontSize));
    const int lines = std::min(most, static_cast<int>(Canvas::broken(t.text, caption, width).size()));
    const float below = lines > 0 ? static_cast<float>(lines) * t.text->FontSize + t.px(10) : 0;
    ImGui::SetCursorPos({edge, edge});
    ImGui::PushStyleColor(ImGuiCol_ChildBg, IM_COL32_BLACK_TRANS);
    ImGui::BeginChild("alone", {width, size.y - 2 * edge - below}, false, ImGuiWindowFlags_NoScrollbar);
    draw_zoomed_runs(app);
    ImGui::EndChild();
    ImGui::PopStyleColor();
    Canvas(t).paragraph(t.text, {edge, size.y - edge - below + t.px(10)}, t.dim_ink, caption, width, lines);
}

/// Whether there is a run that no frame has drawn yet; drawing it comes first.
bool is_new(const App& app) { return app.session.version() != app.drawn; }

/// Does a unit of the work that no thread does. Runs work ahead on their references only while no run is waited for.
/// True when nothing is left to do.
bool work_on(App& app) {
    const bool waited_for = app.session.busy() || is_new(app);
    bool done = app.session.pump();
    done &= app.explorer.pump(app.session, app.view);
    done &= app.exporting.pump();
    if (waited_for) return false;
    for (Run* run : {app.session.run(), app.session.rival()})
        if (run) done &= run->work_ahead();
    return done;
}

/// Does the work of threads in frames, where there are no threads. In a page, this takes as long as a frame can
/// afford, whatever time the browser then takes to draw.
void work(App& app, double seconds) {
    using Clock = std::chrono::steady_clock;
    const auto end = Clock::now() + std::chrono::milliseconds(8);
    do app.working = !work_on(app);
    while (app.working && app.page && !is_new(app) && Clock::now() < end);
    app.waited = app.session.busy() ? app.waited + seconds : 0;
    if (auto news = app.exporting.news()) app.say(std::move(*news));
}

}  // namespace

void App::place(const std::string& name) {
    const ImVec2 a = ImGui::GetItemRectMin(), b = ImGui::GetItemRectMax();
    places[name] = {a.x, a.y, b.x - a.x, b.y - a.y};
}

void App::zoom_in(float x, float y) {
    const auto short_number = [](float share) { return std::round(static_cast<double>(share) * 1000) / 1000; };
    view.zoom = Spot{short_number(x), short_number(y)};
    zooms = false;
}

void App::pan(ImVec2 whole, ImVec2 seen, bool drags) {
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
    zoom_in(share(from.x, by.x, whole.x, seen.x), share(from.y, by.y, whole.y, seen.y));
}

void App::say(std::string text, double for_seconds) {
    message = std::move(text);
    message_until = ImGui::GetTime() + for_seconds;
}

Reader App::reader() const { return reader_of(theme.reader == Reader::in_the_hand, view.projector); }

Drawer App::drawer() const {
    const bool held = reader() == Reader::in_the_hand && view.drawer == Drawer::automatic;
    return held ? Drawer::none : open_drawer(session, view);
}

void App::turn(Drawer which) { view.drawer = drawer() == which ? Drawer::none : which; }

void App::step_on() {
    const Run* run = session.run();
    if (!run || view.stride == Stride::operation) return playback.step(1);
    const Index to = stride_on(*run, view.stride, view.sm, session.ticks_at(playback.position()).first);
    // In a race the other run may still have some way to go.
    playback.go(std::max(session.position_of(to), playback.position() + 1));
}

void App::step_back() {
    const Run* run = session.run();
    if (!run || view.stride == Stride::operation) return playback.step(-1);
    const Index to = stride_back(*run, view.stride, view.sm, session.ticks_at(playback.position()).first);
    playback.go(std::min(session.position_of(to), playback.position() - 1));
}

std::optional<Scene> App::told_scene() const {
    return scene ? std::optional(worded_for(*scene, session.setup())) : std::nullopt;
}

void App::open(const Saved& saved) {
    restore(saved.state);
    scene = saved.scene, revealed = false;
}

void App::open_scene(const Scene& opened, State state) {
    state.view.light = view.light, state.view.projector = view.projector, state.view.no_controls = view.no_controls;
    state.view.drawer = view.drawer;
    restore(state);
    scene = opened, revealed = false;
}

void App::turn_scene(int by) {
    const auto last = static_cast<int>(scenes().size()) - 1;
    const int now = scene ? scene_number(*scene) : by > 0 ? -1 : last + 1;
    open_scene(scenes()[static_cast<std::size_t>(std::clamp(now + by, 0, last))]);
}

void App::go_to(const History::Entry* entry) {
    if (!entry) return say("Nothing more to take back or to do again");
    restore(entry->state);
    scene = entry->scene, revealed = false;
}

void follow(App& app) {
    if (app.session.setup() != app.stretched) app.playback.set_stretch({}), app.stretched = app.session.setup();
    app.playback.set_length(app.session.length());
    app.session.show(app.playback.position());
    const Run* run = app.session.run();
    if (!run) return;
    if (app.wanted_sm && !app.session.busy()) {
        app.view.sm = *std::exchange(app.wanted_sm, {});
        app.followed = {};
    }
    app.view.sm = std::clamp<Index>(app.view.sm, 0, std::max<Index>(0, run->schedule().sms_used() - 1));
    if (app.followed == std::pair(app.session.version(), run->tick())) return;
    app.followed = {app.session.version(), run->tick()};
    const auto& sms = run->moment().sms;
    const auto first = sms.begin() + static_cast<std::ptrdiff_t>(app.view.sm);
    const auto works = [](const SmState& sm) { return sm.block != nullptr; };
    if (sms.empty() || works(*first)) return;
    if (const auto next = std::find_if(first, sms.end(), works); next != sms.end())
        app.view.sm = next->sm;
    else if (const auto other = std::find_if(sms.begin(), sms.end(), works); other != sms.end())
        app.view.sm = other->sm;
}

void frame(App& app, double seconds) {
    app.places.clear();
    app.notes.begin_frame();
    if (!ImGui::IsMouseDown(ImGuiMouseButton_Left) && !ImGui::IsMouseReleased(ImGuiMouseButton_Left))
        app.grabs = false, app.grabbed.reset();
    work(app, seconds);
    // For a frame after Enter Dear ImGui still says that it wants text.
    const bool typing = ImGui::GetIO().WantTextInput && ImGui::IsAnyItemActive();
    for (const Key key : std::exchange(app.keys, {}))
        if (!typing && app.view.tour < 0) follow(app), press(app, key);
    follow(app);
    app.playback.advance(
        seconds, [&](Index from, Index to) { return next_stop(app, from, to); },
        [&](Index position) { return app.session.weight(position); });
    follow(app);

    if (!ImGui::IsAnyItemActive() && !app.session.busy()) app.history.note({app.state(), app.scene});
    if (const std::string said = is_new(app) ? about_files_text(app.session) : ""; !said.empty()) app.say(said, 12);
    app.drawn = app.session.version();
    if (app.blank) return;

    const ImVec2 size = ImGui::GetIO().DisplaySize;
    const Layout l = layout(app, size);
    ImGui::SetNextWindowPos({0, 0});
    ImGui::SetNextWindowSize(size);
    ImGui::PushFont(app.theme.text);
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {0, 0});
    if (app.alone)
        ImGui::PushStyleColor(ImGuiCol_WindowBg, app.alone->transparent ? IM_COL32_BLACK_TRANS : app.theme.panel);
    ImGui::Begin("TileScope", nullptr,
                 ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoSavedSettings |
                     ImGuiWindowFlags_NoBringToFrontOnFocus | ImGuiWindowFlags_NoNav);
    ImGui::PopStyleVar();
    if (app.alone) {
        ImGui::PopStyleColor();
        draw_alone(app);
        ImGui::End();
        ImGui::PopFont();
        return;
    }
    child(app, "controls", l.controls, [&] { controls::panel(app); });
    child(app, "memory", l.memory, [&] { draw_stage(app); });
    child(app, "code", l.code, [&] { code::panel(app); });
    child(app, "detail", l.detail,
          [&] { app.view.detail == Detail::values ? detail::values_panel(app) : detail::counters_panel(app); });
    child(app, "strip", l.strip, [&] { strip(app); });
    child(app, "transport", l.transport, [&] { transport::panel(app); });
    ImGui::End();
    tour(app);
    ImGui::PopFont();
    if (std::exchange(app.zooms, false)) app.say("Nothing to zoom in on there: point at the stage");
}

}  // namespace tilescope::gui
