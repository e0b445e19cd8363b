#include "gui/app.hpp"

#include <algorithm>
#include <utility>

#include "gui/draw/canvas.hpp"
#include "gui/draw/widgets.hpp"
#include "gui/panels.hpp"

namespace tilescope::gui {
namespace {

struct StageTab {
    Stage stage;
    const char *name, *place;
};
/// In the order of the digits.
constexpr StageTab stage_tabs[] = {
    {Stage::wall, "Wall", "view-wall"},       {Stage::machine, "Machine", "view-machine"},
    {Stage::time, "Time", "view-time"},       {Stage::row, "Row", "view-row"},
    {Stage::tiles, "Tiles", "view-tiles"},    {Stage::roofline, "Roofline", "view-roofline"},
    {Stage::io, "Bytes against N", "view-io"}};

struct Layout {
    ImVec4 controls, memory, code, detail, transport;  // x, y, width, height
};

/// Controls on the left, memory in the middle, words and numbers on the right, time below. Small windows give the
/// middle what they have.
Layout layout(const Theme& t, ImVec2 size, bool with_controls) {
    const float gap = t.px(8), x0 = gap, y0 = gap, w = size.x - 2 * gap, h = size.y - 2 * gap;
    const float bottom = std::min(t.px(96), h * 0.3f);
    const float left = with_controls ? std::clamp(w * 0.17f, std::min(t.px(200), w * 0.24f), t.px(300)) : -gap;
    const float right = std::clamp(w * 0.31f, std::min(t.px(300), w * 0.33f), t.px(560));
    const float top = h - bottom - gap, middle = w - left - right - 2 * gap;
    const float code = top * 0.5f;
    Layout l;
    l.controls = {x0, y0, left, top};
    l.memory = {x0 + left + gap, y0, middle, top};
    l.code = {x0 + left + middle + 2 * gap, y0, right, code - gap / 2};
    l.detail = {l.code.x, y0 + code + gap / 2, right, top - code - gap / 2};
    l.transport = {x0, y0 + top + gap, w, bottom};
    return l;
}

template <class F>
void child(App& app, const char* name, const ImVec4& at, F&& draw) {
    app.places[std::string("panel-") + name] = at;
    const NotedAs as(name);
    ImGui::SetCursorPos({at.x, at.y});
    ImGui::BeginChild(name, {at.z, at.w}, true);
    draw();
    ImGui::EndChild();
}

/// The nearest position after `from`, up to `to`, at which the SM in focus enters a line with a breakpoint; -1: none.
Index next_stop(const App& app, Index from, Index to) {
    const Run* run = app.session.run();
    if (!run || app.view.breakpoints.empty()) return -1;
    const Index first = app.session.ticks_at(from).first;
    const auto tick = run->next_tick(first, app.view.sm, [&](const Step& s) {
        return s.enters_line && app.view.breakpoints.contains(s.event.line);
    });
    if (!tick) return -1;
    const Index position = app.session.position_of(*tick);
    return position <= to ? position : -1;
}

void press(App& app, Key key) {
    Playback& p = app.playback;
    const bool was_blank = std::exchange(app.blank, false);  // any key shows again what there is
    switch (key) {
        case Key::space:
            return p.toggle();
        case Key::right:
            return p.step(1);
        case Key::left:
            return p.step(-1);
        case Key::home:
            return p.pause(), p.seek(0);
        case Key::end:
            return p.pause(), p.seek(p.length());
        case Key::escape:
            return app.session.cancel();
        case Key::tab:
            app.view.no_controls = !app.view.no_controls;
            return;
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
    if (n >= 0 && n < static_cast<int>(std::size(stage_tabs))) app.view.stage = stage_tabs[n].stage;
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
    for (const StageTab& t : stage_tabs) {
        if (t.stage != Stage::wall) ImGui::SameLine(0, gap);
        if (tab(app, t.place, t.name, app.view.stage == t.stage)) app.view.stage = t.stage;
    }
    export_control(app);
}

/// The middle of the window.
void draw_stage(App& app) {
    constexpr double patience = 0.25;  // seconds, so that what takes a few frames does not flicker
    draw_stages(app);
    const float scene = scene_height(app);
    ImGui::BeginChild("stage", {0, -scene});
    const ImVec2 corner = ImGui::GetCursorScreenPos();
    if (plays(app.view.stage) || !app.session.problem().empty()) {
        draw_runs(app);
    } else {
        const NotedAs as("explore");
        explore::panel(app);
    }
    if (app.session.busy() && app.waited >= patience) machine::making_panel(app, corner);
    ImGui::EndChild();
    if (app.scene) scene_panel(app);
}

/// Nothing but the stage, and below it the caption.
void draw_alone(App& app) {
    const Theme& t = app.theme;
    const NotedAs as("memory");
    const ImVec2 size = ImGui::GetIO().DisplaySize;
    const float edge = std::min(t.px(16), std::min(size.x, size.y) / 20), width = size.x - 2 * edge;
    const std::string& caption = app.alone->caption;
    const auto lines = static_cast<int>(Canvas::broken(t.text, caption, width).size());
    const float below = lines > 0 ? static_cast<float>(lines) * t.text->FontSize + t.px(10) : 0;
    ImGui::SetCursorPos({edge, edge});
    ImGui::PushStyleColor(ImGuiCol_ChildBg, IM_COL32_BLACK_TRANS);
    ImGui::BeginChild("alone", {width, size.y - 2 * edge - below}, false, ImGuiWindowFlags_NoScrollbar);
    draw_runs(app);
    ImGui::EndChild();
    ImGui::PopStyleColor();
    Canvas(t).paragraph(t.text, {edge, size.y - edge - below + t.px(10)}, t.dim_ink, caption, width, lines);
}

/// Does what frames have to do where threads do not.
void work(App& app, double seconds) {
    const bool made = app.session.pump();
    app.waited = made ? 0 : app.waited + seconds;
    app.working = !made;
    app.working |= !app.explorer.pump(app.session, app.view);
    app.working |= !app.exporting.pump();
    if (auto news = app.exporting.news()) app.say(std::move(*news));
    for (Run* run : {app.session.run(), app.session.rival()})
        if (run) app.working |= !run->work_ahead();
}

}  // namespace

void App::place(const std::string& name) {
    const ImVec2 a = ImGui::GetItemRectMin(), b = ImGui::GetItemRectMax();
    places[name] = {a.x, a.y, b.x - a.x, b.y - a.y};
}

void App::say(std::string text) {
    message = std::move(text);
    message_until = ImGui::GetTime() + 4;
}

void App::open_scene(const Scene& opened) {
    State state = opened.state;
    state.view.light = view.light, state.view.projector = view.projector, state.view.no_controls = view.no_controls;
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
    app.playback.set_length(app.session.length());
    app.session.show(app.playback.position());
    const Run* run = app.session.run();
    if (!run) return;
    app.view.sm = std::clamp<Index>(app.view.sm, 0, std::max<Index>(0, run->schedule().sms_used() - 1));
    if (app.followed == std::pair(app.session.version(), run->tick())) return;
    app.followed = {app.session.version(), run->tick()};
    const auto& sms = run->moment().sms;
    const auto first = sms.begin() + app.view.sm;
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
    work(app, seconds);
    // For a frame after Enter Dear ImGui still says that it wants text.
    const bool typing = ImGui::GetIO().WantTextInput && ImGui::IsAnyItemActive();
    for (const Key key : std::exchange(app.keys, {}))
        if (!typing && app.view.tour < 0) follow(app), press(app, key);
    follow(app);
    app.playback.advance(seconds, [&](Index from, Index to) { return next_stop(app, from, to); });
    follow(app);

    if (!ImGui::IsAnyItemActive() && !app.session.busy()) app.history.note({app.state(), app.scene});
    if (app.blank) return;

    const ImVec2 size = ImGui::GetIO().DisplaySize;
    const Layout l = layout(app.theme, size, !app.view.no_controls);
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
    if (!app.view.no_controls) child(app, "controls", l.controls, [&] { controls::panel(app); });
    child(app, "memory", l.memory, [&] { draw_stage(app); });
    child(app, "code", l.code, [&] { code::panel(app); });
    child(app, "detail", l.detail,
          [&] { app.view.detail == Detail::values ? detail::values_panel(app) : detail::counters_panel(app); });
    child(app, "transport", l.transport, [&] { transport::panel(app); });
    ImGui::End();
    tour(app);
    ImGui::PopFont();
}

}  // namespace tilescope::gui
