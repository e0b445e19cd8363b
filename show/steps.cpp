#include "show/steps.hpp"

#include <algorithm>

#include "core/text/numbers.hpp"
#include "core/text/words.hpp"
#include "show/formula.hpp"
#include "show/narration.hpp"
#include "show/sm_text.hpp"

namespace tilescope::show {
using namespace lab;
namespace {

/// What of a tick is this SM's: the step that its line is read from; nullptr where it does nothing.
const Step* last_of(const Run& run, Index tick, Index sm) {
    for (Index k = run.schedule().steps_after(tick); k-- > run.schedule().steps_after(tick - 1);)
        if (run.on_sm(run.trace()[k], sm)) return &run.trace()[k];
    return nullptr;
}

bool is_wanted(const StepsWanted& w, const Step& s) {
    const bool launch = s.kind() == Kind::launch;
    return (!w.launch || s.launch == *w.launch) && (!w.block || (!launch && s.event.block == *w.block)) &&
           (!w.line || (!launch && s.event.line == *w.line));
}

/// "i = 3 of 16", "head 1 of 8".
std::string turn_text(const std::string& index, Index turn, Index of) {
    const std::string count = std::to_string(turn + 1) + " of " + std::to_string(of);
    return index.size() == 1 ? index + " = " + count : (index.empty() ? "tile " : index + ' ') + count;
}

/// The place of the SM's thread block on the axes of its grid.
std::vector<std::string> places_in_grid(const Run& run, const Placement& p) {
    const auto& axes = run.trace().launches()[static_cast<std::size_t>(p.launch)].axes;
    const RecordedBlock& block = run.trace().block(p.launch, p.block);
    std::vector<std::string> places;
    for (std::size_t k = 0; k < axes.size(); ++k) {
        const bool heads = axes[k].name == "head";
        places.push_back(turn_text(axes[k].name, block.at[k].begin / axes[k].tile_size,
                                   heads ? run.experiment().problem.batch_heads() : axes[k].count));
    }
    return places;
}

}  // namespace

std::vector<Index> steps_of(const Run& run, const StepsWanted& w) {
    std::vector<Index> steps;
    if (w.from <= 0 && !w.launch && !w.block && !w.line) steps.push_back(0);
    for (Index tick = std::max<Index>(w.from, 1); tick <= std::min(w.to, run.ticks()); ++tick)
        if (const Step* s = last_of(run, tick, w.sm); s && is_wanted(w, *s)) steps.push_back(tick);
    return steps;
}

std::string loop_position(const Run& run, const SmState& sm) {
    if (!sm.block) return {};
    std::vector<std::string> inner;
    const auto& turns = run.trace().turns();
    for (Index t = sm.steps.empty() ? -1 : run.trace()[sm.steps.back()].turn; t >= 0;) {
        const RecordedTurn& turn = turns[static_cast<std::size_t>(t)];
        const RecordedLoop& loop = run.trace().loops()[static_cast<std::size_t>(turn.loop)];
        inner.push_back(turn_text(loop.name, turn.index, turn.of));
        t = turn.around;
    }
    std::vector<std::string> all = places_in_grid(run, *sm.block);
    all.insert(all.end(), inner.rbegin(), inner.rend());
    return text::join(all, ", ");
}

StepText step_text(const Run& run, const SmState& sm) {
    std::vector<std::string> where;
    for (const std::string& part : {sm.block ? sm_block(sm) : "", sm_line(sm), loop_position(run, sm)})
        if (!part.empty()) where.push_back(part);
    return {run.tick(),
            sm.block ? sm.line : std::uint16_t{0},
            text::join(where, " · "),
            code_of(run.algorithm(), sm.line),
            formula(run, sm),
            what_happens(run, sm),
            sm.block ? why(run, sm) : ""};
}

std::string traffic_so_far(const Run& run) {
    const Counters& c = run.player().state().total;
    return "SM traffic so far, of all SMs: " + text::bytes(c.hbm_read) + " read, " + text::bytes(c.hbm_write) +
           " written; " + text::count(static_cast<double>(c.flops())) + " FLOPs";
}

const TileState* tile_written(const Run& run, const SmState& sm) {
    const Step* s = run.operation(sm);
    if (!s) return nullptr;
    const auto found = std::find_if(sm.tiles.begin(), sm.tiles.end(), [&](auto& t) { return t.tile == s->tile(); });
    return found != sm.tiles.end() ? &*found : nullptr;
}

std::string failure_text(const Run& run) {
    const Failure& f = *run.failure();
    return "Fails after step " + text::grouped(f.tick) + ", in thread block " + text::grouped(f.place.block) +
           (f.place.line > 0 ? ", on line " + std::to_string(f.place.line) : "") + ": " + f.message;
}

}  // namespace tilescope::show
