// All SMs of the GPU, one square each.
#include <algorithm>
#include <cmath>

#include "core/text/numbers.hpp"
#include "gui/draw/items.hpp"
#include "gui/memory/figure.hpp"

namespace tilescope::gui::memory {
namespace {

struct Squares {
    float pitch = 0, side = 0;
    int in_row = 1, rows = 1;
};

/// The largest squares with which `n` of them fit.
Squares squares(const MemoryFigure& f, Index n, float width, float height) {
    Squares s;
    for (float pitch = f.px(16); pitch >= f.px(4); pitch -= 1) {
        s.pitch = std::floor(pitch);
        s.in_row = std::max(1, static_cast<int>(width / s.pitch));
        s.rows = static_cast<int>(ceil_div(n, s.in_row));
        if (static_cast<float>(s.rows) * s.pitch <= height) break;
    }
    // Rows of equal length, as far as they go.
    s.in_row = static_cast<int>(ceil_div(n, s.rows));
    s.side = std::max(2.f, s.pitch - std::max(1.f, std::floor(s.pitch / 5)));
    return s;
}

enum class Work : std::uint8_t { shown, elsewhere, none };

/// What every SM of the GPU is doing. Thread blocks go to the SMs in order, the recorded ones first. Those that were
/// not recorded do the same on other heads: where all run at once they end with their like among the recorded ones, and
/// where there are more than SMs, the next one follows as long as the launch runs.
std::vector<Work> work_of_sms(const MemoryFigure& f) {
    const Run& run = f.run;
    const Moment& m = run.moment();
    const Index sms = run.experiment().gpu.sms;
    std::vector<Work> work(static_cast<std::size_t>(sms), Work::none);
    if (f.over) return work;
    for (const SmState& s : m.sms)
        if (s.block) work[static_cast<std::size_t>(s.sm)] = Work::shown;
    if (m.launch < 0 || m.busy == 0) return work;
    const auto& all = run.schedule().placements();
    const auto before = [&](Index launch) {
        return std::partition_point(all.begin(), all.end(), [&](const Placement& p) { return p.launch < launch; });
    };
    const Index recorded = std::min<Index>(sms, before(m.launch + 1) - before(m.launch));
    const Index blocks = run.counted().launches[static_cast<std::size_t>(m.launch)].thread_blocks;
    for (Index sm = recorded; sm < std::min(sms, blocks); ++sm)
        if (blocks > sms || work[static_cast<std::size_t>(sm % recorded)] == Work::shown)
            work[static_cast<std::size_t>(sm)] = Work::elsewhere;
    return work;
}

/// About the launch, the longest first.
std::vector<std::string> launch_lines(const MemoryFigure& f, Index busy) {
    const Run& run = f.run;
    const Moment& m = run.moment();
    const std::string sms = std::to_string(run.experiment().gpu.sms) + " SMs";
    if (m.launch < 0) return {"before the first launch · " + sms, sms};
    const Report& r = run.counted();
    const Count n = r.launches[static_cast<std::size_t>(m.launch)].thread_blocks;
    const std::string blocks = text::grouped(n) + (n == 1 ? " block" : " blocks");
    const std::string threads = text::grouped(n) + (n == 1 ? " thread block" : " thread blocks");
    const std::string number = std::to_string(m.launch + 1), all = std::to_string(r.launches.size());
    const bool one = r.launches.size() == 1;
    const std::string filled = f.over ? "finished" : std::to_string(busy) + " of " + sms + " busy";
    return {m.kernel + (one ? "" : " (launch " + number + " of " + all + ")") + " · " + threads + " · " + filled,
            m.kernel + (one ? "" : " " + number + "/" + all) + " · " + blocks + " · " + filled, blocks + " · " + filled,
            filled};
}

void draw_square(const MemoryFigure& f, const Box& b, Work work, bool focus) {
    const Theme& t = f.theme();
    const Canvas& c = f.canvas;
    const float round = std::min(f.px(2), b.w() / 4);
    if (work == Work::shown) c.fill(b, t.sram, round);
    if (work == Work::elsewhere) {
        c.fill({b.x0, b.centre().y, b.x1, b.y1}, Theme::faded(t.sram, 0.6f), round);
        c.outline(b, Theme::faded(t.sram, 0.6f), 1, round);
    }
    if (work == Work::none) c.outline(b, t.bus, 1, round);
    if (focus) c.outline(b.grown(f.px(1.5f)), t.highlight, f.px(2), round);
}

void explain(const MemoryFigure& f, Index sm, Work work) {
    std::string text = "SM " + std::to_string(sm);
    const auto& sms = f.run.moment().sms;
    if (work == Work::shown)
        text += ": thread block " + std::to_string(sms[static_cast<std::size_t>(sm)].block->block);
    else
        text += work == Work::elsewhere ? ": a thread block that is not shown" : ": idle";
    tooltip(text +
            "\n\nfilled: works on a thread block shown here\nhalf filled: works on one like them, not "
            "recorded\noutline: idle\nClick a filled square to look at that SM.");
}

}  // namespace

float sm_map_height(const MemoryFigure& f, float width, float at_most) {
    const Squares s = squares(f, f.run.experiment().gpu.sms, width, at_most);
    return static_cast<float>(s.rows) * s.pitch;
}

void draw_sm_map(MemoryFigure& f, Box area) {
    const Theme& t = f.theme();
    const auto& recorded = f.run.moment().sms;
    const Index sms = f.run.experiment().gpu.sms;
    const std::vector<Work> work = work_of_sms(f);
    const Index busy = sms - std::count(work.begin(), work.end(), Work::none);
    const Box line = area.cut_top(Canvas::height(t.text) + f.px(6));
    f.canvas.text_in(t.text, line, t.ink, launch_lines(f, busy));
    const Squares s = squares(f, sms, area.w(), area.h());
    for (Index sm = 0; sm < sms; ++sm) {
        const float x = area.x0 + static_cast<float>(sm % s.in_row) * s.pitch;
        const float y = area.y0 + static_cast<float>(sm / s.in_row) * s.pitch;
        const Box b = {x, y, x + s.side, y + s.side};
        const bool known = sm < static_cast<Index>(recorded.size());
        const Work now = work[static_cast<std::size_t>(sm)];
        draw_square(f, b, now, sm == f.focus);
        if (known) {
            const std::string name = f.prefix + "sm-" + std::to_string(sm);
            ImGui::SetCursorScreenPos(b.min());
            if (ImGui::InvisibleButton(name.c_str(), {s.side, s.side})) f.app.view.sm = sm;
            f.app.place(name);
        }
        if (hovered(b)) explain(f, sm, now);
    }
}

}  // namespace tilescope::gui::memory
