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
void draw_traffic(const App& app, const Bar& bar, ImDrawList* draw) {
    const Session& s = app.session;
    const auto columns = whole(bar.width() / 2, 1, s.length());
    const auto border = [&](Index k) { return k * s.length() / columns; };
    Bytes most = 1;
    for (Index k = 0; k < columns; ++k) {
        const Traffic m = moved_between(s, border(k), border(k + 1));
        most = std::max({most, m.read, m.write});
    }
    const float middle = std::round((bar.from.y + bar.to.y) / 2), half = (bar.to.y - bar.from.y) / 2 - app.theme.px(2);
    // Square roots, so that small tiles can be seen beside large ones.
    const auto height = [&](Bytes n) {
        return std::max(1.f, half * std::sqrt(static_cast<float>(n) / static_cast<float>(most)));
    };
    const ImU32 load = app.theme.sram, store = app.theme.hue(Meaning::output);
    draw->AddLine({bar.from.x, middle}, {bar.to.x, middle}, app.theme.panel_border);
    for (Index k = 0; k < columns; ++k) {
        const Traffic m = moved_between(s, border(k), border(k + 1));
        const float a = bar.x(static_cast<double>(border(k))), b = bar.x(static_cast<double>(border(k + 1)));
        const float right = std::max(a + 1, b - a > 4 ? b - 1 : b);
        // Reads go up to the SMs and writes down to HBM, as everywhere.
        if (m.read > 0) draw->AddRectFilled({a, middle - height(m.read)}, {right, middle}, load);
        if (m.write > 0) draw->AddRectFilled({a, middle}, {right, middle + height(m.write)}, store);
    }
}

/// Where launches begin, with the kernel's name if there is room, and small ticks where the SM in focus takes a block.
void draw_beginnings(const App& app, const Bar& bar, ImDrawList* draw) {
    const Theme& t = app.theme;
    const Run& run = *app.session.run();
    const auto x_of = [&](Index tick) { return bar.x(static_cast<double>(app.session.position_of(tick - 1))); };
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
        if (p.sm != app.view.sm || x < last_tick + t.px(3)) continue;
        draw->AddLine({x, bar.to.y - t.px(5)}, {x, bar.to.y}, t.ink, t.px(1));
        last_tick = x;
    }
}

/// Where we are; between two positions while the last move is under way.
float playhead(const App& app, const Bar& bar) {
    const Index now = std::min(app.playback.position(), app.session.length());
    return std::round(bar.x(std::max(0.0, static_cast<double>(now) - 1 + app.playback.fraction())));
}

void draw_playhead(const App& app, const Bar& bar, ImDrawList* draw) {
    const Theme& t = app.theme;
    const float x = playhead(app, bar);
    draw->AddLine({x, bar.from.y - t.px(2)}, {x, bar.to.y + t.px(2)}, t.highlight, t.px(2));
    const float r = t.px(5), y = bar.from.y - t.px(1);
    draw->AddTriangleFilled({x - r, y}, {x + r, y}, {x, y + 1.4f * r}, t.highlight);
}

void scrub_tip(const App& app, const Bar& bar) {
    ImGui::PushFont(app.theme.small_text);
    tooltip(about_position(app.session, bar.position(ImGui::GetIO().MousePos.x), app.view.sm));
    ImGui::PopFont();
}

}  // namespace

void scrub_bar(App& app, float height) {
    const Theme& t = app.theme;
    const ImVec2 from = ImGui::GetCursorScreenPos();
    const float width = std::max(1.f, ImGui::GetContentRegionAvail().x);
    hit_area("scrub", {width, height});
    app.place("scrub");
    const bool dragged = ImGui::IsItemActive(), hovered = ImGui::IsItemHovered();
    const Bar bar{from, {from.x + width, from.y + height}, std::max<Index>(1, app.session.length())};
    ImDrawList* draw = ImGui::GetWindowDrawList();
    draw->AddRectFilled(bar.from, bar.to, Theme::mixed(t.panel, t.faint, 0.5f), t.px(3));
    if (!app.session.run() || app.session.length() == 0) return;
    if (dragged) {
        app.playback.pause();
        app.playback.seek(bar.position(ImGui::GetIO().MousePos.x));
    }
    draw_traffic(app, bar, draw);
    // What playing leaves out is dark, and what is still to come is paler.
    const float first = bar.x(static_cast<double>(app.playback.first()));
    const float last = bar.x(static_cast<double>(app.playback.last()));
    draw->AddRectFilled(bar.from, {first, bar.to.y}, Theme::faded(t.panel, 0.7f));
    draw->AddRectFilled({last, bar.from.y}, bar.to, Theme::faded(t.panel, 0.7f));
    draw->AddRectFilled({playhead(app, bar), bar.from.y}, bar.to, Theme::faded(t.panel, 0.55f));
    draw_beginnings(app, bar, draw);
    draw_playhead(app, bar, draw);
    if (hovered || dragged) scrub_tip(app, bar);
}

}  // namespace tilescope::gui::transport
