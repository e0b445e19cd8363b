#include <algorithm>
#include <cmath>
#include <numbers>

#include "gui/draw/canvas.hpp"
#include "gui/draw/message.hpp"
#include "gui/draw/widgets.hpp"
#include "gui/panels.hpp"
#include "gui/transport/scrub.hpp"
#include "show/words/time_text.hpp"

namespace tilescope::gui::transport {
namespace {

enum class Icon : std::uint8_t { start, back, play, pause, step, end, loop };

/// A triangle that points right (or left, for a negative width) from x.
void triangle(ImDrawList* draw, ImVec2 at, float width, float half, ImU32 colour) {
    draw->AddTriangleFilled({at.x, at.y - half}, {at.x + width, at.y}, {at.x, at.y + half}, colour);
}

void draw_loop(ImDrawList* draw, ImVec2 c, float r, ImU32 colour) {
    constexpr auto pi = std::numbers::pi_v<float>;
    draw->PathArcTo(c, r, -0.2f * pi, 1.45f * pi, 24);
    draw->PathStroke(colour, 0, std::max(1.5f, r * 0.28f));
    triangle(draw, {c.x, c.y - r}, r * 0.85f, r * 0.6f, colour);
}

/// Draws an icon in a square of side 2r around c.
void draw_icon(ImDrawList* draw, Icon icon, ImVec2 c, float r, ImU32 colour) {
    const float bar = std::max(2.f, r * 0.3f);
    const auto post = [&](float x) { draw->AddRectFilled({x, c.y - r}, {x + bar, c.y + r}, colour); };
    switch (icon) {
        case Icon::start:
            post(c.x - r);
            return triangle(draw, {c.x + r, c.y}, -1.5f * r, r, colour);
        case Icon::back:
            post(c.x + 0.55f * r);
            return triangle(draw, {c.x + 0.25f * r, c.y}, -1.2f * r, r * 0.9f, colour);
        case Icon::play:
            return triangle(draw, {c.x - 0.7f * r, c.y}, 1.7f * r, 1.1f * r, colour);
        case Icon::pause:
            draw->AddRectFilled({c.x - 0.75f * r, c.y - r}, {c.x - 0.2f * r, c.y + r}, colour);
            draw->AddRectFilled({c.x + 0.2f * r, c.y - r}, {c.x + 0.75f * r, c.y + r}, colour);
            return;
        case Icon::step:
            post(c.x - 0.55f * r - bar);
            return triangle(draw, {c.x - 0.25f * r, c.y}, 1.2f * r, r * 0.9f, colour);
        case Icon::end:
            post(c.x + r - bar);
            return triangle(draw, {c.x - r, c.y}, 1.5f * r, r, colour);
        case Icon::loop:
            return draw_loop(draw, c, r, colour);
    }
}

bool icon_button(Screen& screen, const char* place, Icon icon, bool chosen, const std::string& explanation) {
    const float size = ImGui::GetFrameHeight();
    if (chosen) ImGui::PushStyleColor(ImGuiCol_Button, ImGui::GetStyleColorVec4(ImGuiCol_ButtonActive));
    const bool clicked = push_button(std::string("##") + place, {size * 1.25f, size});
    if (chosen) ImGui::PopStyleColor();
    const ImVec2 a = ImGui::GetItemRectMin(), b = ImGui::GetItemRectMax();
    const ImU32 colour = ImGui::GetColorU32(ImGuiCol_Text);  // paler where disabled
    draw_icon(ImGui::GetWindowDrawList(), icon, {(a.x + b.x) / 2, (a.y + b.y) / 2}, size * 0.24f, colour);
    if (chosen) ImGui::GetWindowDrawList()->AddRect(a, b, screen.theme.highlight, ImGui::GetStyle().FrameRounding);
    screen.place(place);
    tip(screen, explanation);
    ImGui::SameLine();
    return clicked;
}

void motion_buttons(Shown& shown, Screen& screen) {
    Playback& p = shown.playback;
    if (icon_button(screen, "start", Icon::start, false, message("transport.to_start"))) p.to_start();
    if (icon_button(screen, "step-back", Icon::back, false, message("transport.back"))) shown.step_back();
    if (icon_button(screen, "play", p.playing() ? Icon::pause : Icon::play, false, message("transport.play")))
        p.toggle();
    if (icon_button(screen, "step", Icon::step, false, message("transport.on"))) shown.step_on();
    if (icon_button(screen, "end", Icon::end, false, message("transport.to_end"))) p.to_end();
}

void loop_button(Shown& shown, Screen& screen) {
    Playback& p = shown.playback;
    if (icon_button(screen, "loop", Icon::loop, p.loop, message("transport.loop"))) p.loop = !p.loop;
}

/// Whether there is room for words beside the buttons.
bool is_wide(const Screen& screen) { return ImGui::GetWindowWidth() >= screen.theme.px(1000); }

/// The list of strides: how far a step goes.
void stride_list(Shown& shown, Screen& screen) {
    struct Choice {
        Stride stride;
        const char *place, *text, *what;
    };
    constexpr Choice choices[] = {
        {Stride::operation, "stride-operation", "transport.stride_operation", "transport.about_stride_operation"},
        {Stride::line, "stride-line", "transport.stride_line", "transport.about_stride_line"},
        {Stride::tile, "stride-tile", "transport.stride_tile", "transport.about_stride_tile"},
        {Stride::row, "stride-row", "transport.stride_row", "transport.about_stride_row"},
        {Stride::launch, "stride-launch", "transport.stride_launch", "transport.about_stride_launch"}};
    if (is_wide(screen)) {
        ImGui::AlignTextToFramePadding();
        text_line(message("transport.step_by"));
        ImGui::SameLine();
    }
    ImGui::SetNextItemWidth(width_of(message("transport.stride_operation")) + 2 * ImGui::GetStyle().FramePadding.x +
                            ImGui::GetFrameHeight());
    Stride& now = shown.view.stride;
    combo(screen, "stride", message(choices[static_cast<std::size_t>(now)].text), message("transport.about_stride"),
          [&] {
              for (const Choice& c : choices)
                  if (entry(screen, c.place, message(c.text), now == c.stride, message(c.what))) now = c.stride;
          });
    ImGui::SameLine();
}

void first_box(Shown& shown, Screen& screen) {
    bool pauses = !shown.view.play_through;
    if (checkbox(screen, "firsts", message(is_wide(screen) ? "transport.pause_at_firsts" : "transport.pause"), pauses,
                 message("transport.about_pause")))
        shown.view.play_through = !pauses;
    ImGui::SameLine();
}

/// Rounds a speed: below 10 to halves, else to whole numbers.
float round_off(float speed) { return speed < 10 ? std::round(speed * 2) / 2 : std::round(speed); }

void speed_slider(Shown& shown, Screen& screen) {
    auto speed = static_cast<float>(shown.playback.speed());
    ImGui::SetNextItemWidth(screen.theme.px(is_wide(screen) ? 150 : 70));
    if (ratio_slider("##speed", speed, Playback::slowest, Playback::fastest))
        shown.playback.set_speed(static_cast<double>(round_off(speed)));
    screen.place("speed");
    tip(screen, message(shown.session.setup().pace == Pace::time ? "transport.speed_of_time" : "transport.speed"));
    ImGui::SameLine();
    const float after = ImGui::GetCursorPosX() + width_of(message("time.operations_a_second", "0,000"));
    ImGui::AlignTextToFramePadding();
    text_line(speed_text(shown.session, shown.playback.speed()));
    ImGui::SameLine(after);
}

/// Draws items in small type, as high as the buttons.
template <class F>
void small_items(const Theme& t, F&& draw) {
    const float padding = (ImGui::GetFrameHeight() - t.small_text->FontSize) / 2;
    ImGui::PushFont(t.small_text);
    ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {t.px(7), padding});
    draw();
    ImGui::PopStyleVar();
    ImGui::PopFont();
}

/// The last thing done, for a while after it; empty: nothing to say.
const std::string& said_now(const Screen& screen) {
    static const std::string nothing;
    return ImGui::GetTime() < screen.message_until ? screen.message : nothing;
}

/// Whether to say when a run ends: not where the time view hides what comes later, to keep a race open.
bool says_when_it_ends(const Shown& shown) { return !shown.view.hide_ahead || shown.view.stage != Stage::time; }

Index position_of(const Shown& shown) { return std::min(shown.playback.position(), shown.session.length()); }

/// In a hall and on a phone: all that there is to say, in one line.
struct Line {
    std::vector<std::string> texts;  ///< the longest way to say it first
    ImU32 colour;
};
Line one_line(const Shown& shown, const Screen& screen) {
    const std::string& message = said_now(screen);
    if (!message.empty()) return {{message}, screen.theme.good};
    return {step_and_times(shown.session, position_of(shown), says_when_it_ends(shown)), screen.theme.ink};
}

/// Writes the step and the modelled time, at the right. The message of the last thing done is left of them or, without
/// room there, in place of the time.
void position_text(const Shown& shown, Screen& screen, float height) {
    const Theme& t = screen.theme;
    const Session& s = shown.session;
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float right = ImGui::GetWindowPos().x + ImGui::GetWindowContentRegionMax().x;
    const Canvas c(t);
    if (reader_of(shown, screen) != Reader::at_a_desk) {
        const Line line = one_line(shown, screen);
        c.text_in(t.small_text, {at.x + t.px(10), at.y, right, at.y + height}, line.colour, line.texts, Align::right);
        return;
    }
    const std::string step = step_text(s, position_of(shown));
    const std::vector<std::string> times = modelled_times(s, position_of(shown), says_when_it_ends(shown));
    const std::string& message = said_now(screen);
    const float bottom = at.y + height, small = t.small_text->FontSize;
    const Box below = {at.x, bottom - small, right, bottom};
    const float wide = Canvas::width(t.small_text, Canvas::that_fits(t.small_text, below.w(), times));
    const float column = std::max(Canvas::width(t.text, step), wide);
    const bool room = right - column - at.x > t.px(260);
    c.text_in(t.text, {at.x, at.y, right, at.y + t.text->FontSize}, t.ink, step, Align::right);
    if (!message.empty() && !room)
        c.text_in(t.small_text, below, t.good, message, Align::right);
    else
        c.text_in(t.small_text, below, t.dim_ink, times, Align::right);
    if (!message.empty() && room)
        c.text_in(t.small_text, {at.x + t.px(10), at.y, right - column - t.px(24), bottom}, t.good, message,
                  Align::right);
    if (!s.run()) return;
    screen.places["time"] = {right - wide, below.y0, wide, small};
    if (hovered({right - wide, below.y0, right, below.y1})) tooltip(about_modelled_time(s));
}

/// In a hall: the bar of the run, and right of it the step and the times in one line.
void only_time(Shown& shown, Screen& screen) {
    const Theme& t = screen.theme;
    const ImVec2 at = ImGui::GetCursorScreenPos(), room = ImGui::GetContentRegionAvail();
    const Line line = one_line(shown, screen);
    const float wide = Canvas::width(t.small_text, Canvas::that_fits(t.small_text, room.x / 2, line.texts)) + t.px(12);
    const Box right = {at.x + room.x - wide, at.y, at.x + room.x, at.y + room.y};
    Canvas(t).text_in(t.small_text, right, line.colour, line.texts, Align::right);
    screen.places["time"] = {right.x0, right.y0, right.w(), right.h()};
    ImGui::BeginChild("bar", {room.x - wide, 0});
    scrub_bar(shown, screen, room.y);
    ImGui::EndChild();
}

}  // namespace

void panel(Shown& shown, Screen& screen) {
    const Theme& t = screen.theme;
    const bool held = reader_of(shown, screen) == Reader::in_the_hand,
               all = drawer_of(shown, screen) == Drawer::controls;
    const bool below = held && all && ImGui::GetWindowWidth() < t.px(600);
    if (reader_of(shown, screen) == Reader::in_a_hall && !all) return only_time(shown, screen);
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {t.px(5), t.px(8)});
    ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {t.px(7), (t.px(30) - t.text->FontSize) / 2});
    ImGui::PushStyleVar(ImGuiStyleVar_FrameBorderSize, t.px(1));
    const float row = ImGui::GetFrameHeight(), rows = (below ? 2 : 1) * (row + t.px(8));
    ImGui::BeginDisabled(!shown.session.run());
    scrub_bar(shown, screen, std::max(t.px(14), ImGui::GetContentRegionAvail().y - rows));
    motion_buttons(shown, screen);
    if (!held) loop_button(shown, screen);
    if (below) position_text(shown, screen, row), ImGui::NewLine();
    if (!held || all)
        small_items(t, [&] { stride_list(shown, screen), first_box(shown, screen), speed_slider(shown, screen); });
    ImGui::EndDisabled();
    if (!below) position_text(shown, screen, row);
    ImGui::PopStyleVar(3);
}

}  // namespace tilescope::gui::transport
