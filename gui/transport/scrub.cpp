#include "gui/transport/scrub.hpp"

#include <cmath>

#include "gui/draw/canvas.hpp"
#include "gui/draw/items.hpp"
#include "gui/draw/whole.hpp"
#include "show/words/time_text.hpp"

namespace tilescope::gui::transport {
namespace {

/// The bar on the screen, and which position is where.
struct Bar {
    ImVec2 from, to;
    Index length;  ///< positions; at least 1

    float width() const { return to.x - from.x; }
    float x(double position) const {
        return from.x + width() * static_cast<float>(position / static_cast<double>(length));
    }
    Index position(float at) const {
        const double share = static_cast<double>((at - from.x) / width());
        return whole(std::round(share * static_cast<double>(length)), 0, length);
    }
};

/// One column per position or, where there are many, per two pixels: loads above the middle, stores below it.
void draw_traffic(const Shown& shown, const Screen& screen, const Bar& bar, ImDrawList* draw) {
    const Session& s = shown.session;
    const auto columns = whole(bar.width() / 2, 1, s.length());
    const auto border = [&](Index k) { return k * s.length() / columns; };
    Bytes most = 1;
    for (Index k = 0; k < columns; ++k) {
        const Traffic m = moved_between(s, border(k), border(k + 1));
        most = std::max({most, m.read, m.write});
    }
    const float middle = std::round((bar.from.y + bar.to.y) / 2),
                half = (bar.to.y - bar.from.y) / 2 - screen.theme.px(2);
    // Square roots, so that small tiles can be seen beside large ones.
    const auto height = [&](Bytes n) {
        return std::max(1.f, half * std::sqrt(static_cast<float>(n) / static_cast<float>(most)));
    };
    const ImU32 load = screen.theme.sram, store = screen.theme.hue(Meaning::output);
    draw->AddLine({bar.from.x, middle}, {bar.to.x, middle}, screen.theme.panel_border);
    for (Index k = 0; k < columns; ++k) {
        const Traffic m = moved_between(s, border(k), border(k + 1));
        const float a = bar.x(static_cast<double>(border(k))), b = bar.x(static_cast<double>(border(k + 1)));
        const float right = std::max(a + 1, b - a > 4 ? b - 1 : b);
        // Reads go up to the SMs and writes down to HBM, as everywhere.
        if (m.read > 0) draw->AddRectFilled({a, middle - height(m.read)}, {right, middle}, load);
        if (m.write > 0) draw->AddRectFilled({a, middle}, {right, middle + height(m.write)}, store);
    }
}

/// Where launches begin, with the kernel's name if there is room, and small ticks where the SM in focus gets a block.
void draw_beginnings(const Shown& shown, const Screen& screen, const Bar& bar, ImDrawList* draw) {
    const Theme& t = screen.theme;
    const Run& run = *shown.session.run();
    const auto x_of = [&](Index tick) { return bar.x(static_cast<double>(shown.session.position_of(tick - 1))); };
    const Canvas c(t);
    ImFont* font = t.small_text;
    float last_tick = -1e9f, free_from = bar.from.x;
    Index launch = -1;
    for (const Placement& p : run.schedule().placements()) {
        const float x = x_of(p.first_tick);
        if (p.launch != launch) {
            launch = p.launch;
            const char* name = run.trace().launches()[static_cast<std::size_t>(launch)].kernel.c_str();
            draw->AddLine({x, bar.from.y}, {x, bar.to.y}, t.dim_ink, t.px(1));
            const float end = x + t.px(5) + Canvas::width(font, name);
            if (x >= free_from && end <= bar.to.x) {
                draw->AddRectFilled({x + t.px(2), bar.from.y + t.px(1)},
                                    {end + t.px(3), bar.from.y + t.px(2) + font->FontSize},
                                    Theme::faded(t.panel, 0.85f), t.px(2));
                c.text(font, {x + t.px(5), bar.from.y + t.px(1)}, t.ink, name);
                free_from = end + t.px(6);
            }
        }
        if (p.sm != shown.view.sm || x < last_tick + t.px(3)) continue;
        draw->AddLine({x, bar.to.y - t.px(5)}, {x, bar.to.y}, t.ink, t.px(1));
        last_tick = x;
    }
}

/// The x of the playhead, between two positions while the last move is under way.
float playhead(const Shown& shown, const Bar& bar) {
    const Index now = std::min(shown.playback.position(), shown.session.length());
    return std::round(bar.x(std::max(0.0, static_cast<double>(now) - 1 + shown.playback.fraction())));
}

void draw_playhead(const Shown& shown, const Screen& screen, const Bar& bar, ImDrawList* draw) {
    const Theme& t = screen.theme;
    const float x = playhead(shown, bar);
    draw->AddLine({x, bar.from.y - t.px(2)}, {x, bar.to.y + t.px(2)}, t.highlight, t.px(2));
    const float r = t.px(5), y = bar.from.y - t.px(1);
    draw->AddTriangleFilled({x - r, y}, {x + r, y}, {x, y + 1.4f * r}, t.highlight);
}

void scrub_tip(const Shown& shown, const Screen& screen, const Bar& bar) {
    ImGui::PushFont(screen.theme.small_text);
    tooltip(about_position(shown.session, bar.position(ImGui::GetIO().MousePos.x), shown.view.sm));
    ImGui::PopFont();
}

}  // namespace

void scrub_bar(Shown& shown, Screen& screen, float height) {
    const Theme& t = screen.theme;
    const ImVec2 from = ImGui::GetCursorScreenPos();
    const float width = std::max(1.f, ImGui::GetContentRegionAvail().x);
    hit_area("scrub", {width, height});
    screen.place("scrub");
    const bool dragged = ImGui::IsItemActive(), hovered = ImGui::IsItemHovered();
    const Bar bar{from, {from.x + width, from.y + height}, std::max<Index>(1, shown.session.length())};
    ImDrawList* draw = ImGui::GetWindowDrawList();
    draw->AddRectFilled(bar.from, bar.to, Theme::mixed(t.panel, t.faint, 0.5f), t.px(3));
    if (!shown.session.run() || shown.session.length() == 0) return;
    if (dragged) {
        shown.playback.pause();
        shown.playback.seek(bar.position(ImGui::GetIO().MousePos.x));
    }
    draw_traffic(shown, screen, bar, draw);
    // What playing leaves out is dark, and what is still to come is paler.
    const float first = bar.x(static_cast<double>(shown.playback.first()));
    const float last = bar.x(static_cast<double>(shown.playback.last()));
    draw->AddRectFilled(bar.from, {first, bar.to.y}, Theme::faded(t.panel, 0.7f));
    draw->AddRectFilled({last, bar.from.y}, bar.to, Theme::faded(t.panel, 0.7f));
    draw->AddRectFilled({playhead(shown, bar), bar.from.y}, bar.to, Theme::faded(t.panel, 0.55f));
    draw_beginnings(shown, screen, bar, draw);
    draw_playhead(shown, screen, bar, draw);
    if (hovered || dragged) scrub_tip(shown, screen, bar);
}

}  // namespace tilescope::gui::transport
