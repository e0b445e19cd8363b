// Bytes so far across the SMs' boundary and across DRAM's, and another algorithm's bytes, on one scale.
#include <algorithm>

#include "gui/draw/message.hpp"
#include "gui/draw/traffic_bar.hpp"
#include "gui/machine/figure.hpp"
#include "show/stage/wall_traffic.hpp"

namespace tilescope::gui::machine {
namespace {

struct Odometer {
    std::vector<TrafficPart> parts;
    Bytes end;  ///< bytes at the end of the run, where this is known
    std::string text;
    bool ghost = false;
};

std::vector<Odometer> odometers(const MachineFigure& f) {
    const Theme& t = f.theme();
    Odometer sm{sm_traffic_parts(t, f.run), f.run.hbm(f.run.ticks()), ""}, dram{{}, 0, ""};
    sm.text = traffic_text(f.run, f.run.hbm(f.run.tick()), sm.end);
    TensorId id = 0;
    Bytes all = f.l2.dram_written();
    for (const RecordedTensor& tensor : f.run.trace().tensors()) {
        const Bytes read = f.l2.dram_read(id++);
        all += read;
        dram.parts.push_back({read, Theme::mixed(t.panel, t.hue(tensor.meaning), 0.9f), tensor.name});
    }
    dram.parts.push_back({f.l2.dram_written(), t.bus, message("machine_panel.written")});
    dram.text = dram_text(all);
    std::vector<Odometer> rows = {sm, dram};
    const lab::Report* other = f.shown.session.counted(f.shown.view.compare);
    if (!other || f.shown.view.compare == f.run.algorithm().name) return rows;
    if (const auto bytes = other_bytes(f.run, *other))
        rows.push_back({{}, *bytes, traffic_of_other_text(*bytes, f.shown.view.compare), true});
    return rows;
}

}  // namespace

float odometers_height(const MachineFigure& f) { return 3 * (Canvas::height(f.theme().small_text) + f.px(5)); }

void draw_odometers(const MachineFigure& f, Box area) {
    const Theme& t = f.theme();
    const std::vector<Odometer> rows = odometers(f);
    Bytes largest = 1;
    float label = Canvas::width(t.small_text, dram_text(999'000'000));
    // In a race, one scale for both.
    for (const Run* run : {f.shown.session.run(), f.shown.session.rival()})
        if (run) largest = std::max(largest, run->hbm(run->ticks()));
    for (const Odometer& o : rows) {
        largest = std::max(largest, o.end);
        label = std::max(label, Canvas::width(t.small_text, o.text));
    }
    const float room = std::max(f.px(10), area.w() - label - f.px(10));
    const double per_byte = static_cast<double>(room) / static_cast<double>(largest);
    for (const Odometer& o : rows) {
        const Box line = area.cut_top(Canvas::height(t.small_text) + f.px(5));
        const Box bar = {line.x0, line.y0 + f.px(1), line.x0 + room, line.y1 - f.px(3)};
        draw_traffic_bar(f.canvas, bar, per_byte, o.parts, o.end);
        f.canvas.text_in(t.small_text, {bar.x1 + f.px(8), line.y0, line.x1, line.y1}, o.ghost ? t.dim_ink : t.ink,
                         o.text);
    }
}

}  // namespace tilescope::gui::machine
