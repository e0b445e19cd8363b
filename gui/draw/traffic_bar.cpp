#include "gui/draw/traffic_bar.hpp"

#include "core/text/message.hpp"
#include "gui/draw/items.hpp"
#include "show/stage/wall_traffic.hpp"

namespace tilescope::gui {
using text::message;

std::vector<TrafficPart> sm_traffic_parts(const Theme& t, const show::Run& run) {
    std::vector<TrafficPart> parts;
    for (const show::WallBytes& b : show::wall_bytes(run)) {
        const ImU32 hue = t.hue(b.meaning);
        parts.push_back({b.so_far.read, Theme::mixed(t.panel, hue, 0.9f), b.name});
        parts.push_back({b.so_far.sent(), Theme::mixed(t.panel, hue, 0.55f), message("traffic_bar.written", b.name)});
    }
    return parts;
}

void draw_traffic_bar(const Canvas& canvas, const Box& bar, double per_byte, const std::vector<TrafficPart>& parts,
                      Bytes end) {
    const Theme& t = canvas.theme();
    const auto length = [&](Bytes bytes) { return static_cast<float>(static_cast<double>(bytes) * per_byte); };
    float x = bar.x0;
    for (const TrafficPart& part : parts) {
        if (part.bytes == 0) continue;
        const Box b = {x, bar.y0, x + length(part.bytes), bar.y1};
        canvas.fill(b, part.colour);
        if (Canvas::width(t.small_text, part.name) <= b.w() - canvas.px(4))
            canvas.text_in(t.small_text, b, Theme::ink_on(part.colour), part.name, Align::centre);
        if (hovered(b)) tooltip(show::traffic_part_text(part.name, part.bytes));
        x = b.x1;
    }
    const float last = bar.x0 + length(end);
    if (last > x + 1) canvas.dashed({x, bar.y0, last, bar.y1}, t.dim_ink);
}

}  // namespace tilescope::gui
