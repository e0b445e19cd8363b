#include "show/words/steps.hpp"

#include <algorithm>

#include "algorithms/contract/pseudo_code.hpp"
#include "core/machine/sorted.hpp"
#include "core/text/message.hpp"
#include "core/text/numbers.hpp"
#include "core/text/words.hpp"
#include "show/run/heads.hpp"
#include "show/words/formula.hpp"
#include "show/words/narration.hpp"
#include "show/words/sm_text.hpp"

namespace tilescope::show {
using namespace lab;
using text::message;
namespace {

/// The last step of this SM in a tick, which gives its line; nullptr where the SM does nothing.
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

/// A position on an axis of the grid, or in a loop.
struct Turn {
    std::string index;
    Index turn, of;
    Index number;  ///< of the tile among all tiles, also where a loop skips the first tiles
    Index tiles;   ///< how many tiles there are; with a mask a loop may visit fewer

    /// "i = 3 of 16", "head 1 of 8", "j = 4 of 8 (turn 4 of 5)".
    std::string text() const {
        const std::string at = std::to_string(turn + 1), last = std::to_string(of);
        if (index.empty()) return message("steps.tile_of", at, last);
        if (index.size() > 1 || of >= tiles)
            return message(index.size() == 1 ? "steps.index_of" : "steps.axis_of", index, at, last);
        return message("steps.turn_of", index, std::to_string(number + 1), std::to_string(tiles), at, last);
    }
};

/// All tiles of keys, or of queries, among which a loop's tile is: it has their size, or is the last one.
Tiles tiles_around(const Run& run, Span tile) {
    const Tiling& all = run.experiment().tiling;
    const Problem& p = run.recorded();
    const bool of_keys = tile.size == all.bc || (tile.size != all.br && tile.end() == p.seq_k);
    return of_keys ? Tiles{p.seq_k, all.bc} : Tiles{p.seq_q, all.br};
}

/// The positions of the SM's thread block: axes of the grid, then loops from the outermost inwards.
std::vector<Turn> turns_of(const Run& run, const SmState& sm) {
    if (!sm.block) return {};
    const auto& axes = run.trace().launches()[static_cast<std::size_t>(sm.block->launch)].axes;
    const RecordedBlock& block = run.trace().block(sm.block->launch, sm.block->block);
    std::vector<Turn> all, inner;
    for (std::size_t k = 0; k < axes.size(); ++k) {
        const bool heads = axes[k].name == "head";
        const Index at = block.at[k].begin / axes[k].tile_size;
        all.push_back({heads ? head_word(run.recorded()) : axes[k].name, at,
                       heads ? run.experiment().problem.batch_heads() : axes[k].count, at, axes[k].count});
    }
    const auto& turns = run.trace().turns();
    for (Index t = sm.steps.empty() ? -1 : run.trace()[sm.steps.back()].turn; t >= 0;) {
        const RecordedTurn& turn = turns[static_cast<std::size_t>(t)];
        const Tiles tiles = tiles_around(run, turn.tile);
        inner.push_back({run.trace().loops()[static_cast<std::size_t>(turn.loop)].name, turn.index, turn.of,
                         turn.tile.begin / tiles.tile_size(), tiles.count()});
        t = turn.around;
    }
    all.insert(all.end(), inner.rbegin(), inner.rend());
    return all;
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
    std::vector<std::string> all;
    for (const Turn& t : turns_of(run, sm)) all.push_back(t.text());
    return text::join(all, ", ");
}

std::string short_position(const Run& run, const SmState& sm) {
    std::vector<Turn> tiles = turns_of(run, sm);
    std::erase_if(tiles, [](const Turn& t) { return t.index.size() != 1; });
    sort_stably(tiles, [](const Turn& a, const Turn& b) { return a.index < b.index; });
    std::vector<std::string> numbers;
    for (const Turn& t : tiles) numbers.push_back(std::to_string(t.number + 1));
    return text::join(numbers, ",");
}

std::string longest_position(const Run& run) {
    const Problem& p = run.recorded();
    const Tiling& t = run.experiment().tiling;
    return std::to_string(ceil_div(p.seq_q, t.br)) + "," + std::to_string(ceil_div(p.seq_k, t.bc));
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
    const std::string read = text::bytes(c.hbm_read), written = text::bytes(c.hbm_write),
                      flops = text::count(static_cast<double>(c.flops()));
    return c.hbm_reduce > 0 ? message("steps.traffic_with_sums", read, written, text::bytes(c.hbm_reduce), flops)
                            : message("steps.traffic", read, written, flops);
}

const TileState* tile_written(const Run& run, const SmState& sm) {
    const Step* s = run.operation(sm);
    if (!s) return nullptr;
    const auto found = std::find_if(sm.tiles.begin(), sm.tiles.end(), [&](auto& t) { return t.tile == s->tile(); });
    return found != sm.tiles.end() ? &*found : nullptr;
}

std::string failure_text(const Run& run) {
    const Failure& f = *run.failure();
    if (f.place.line == 0) return message("steps.fails", f.tick, f.place.block, f.message);
    return message("steps.fails_on_line", f.tick, f.place.block, std::to_string(f.place.line), f.message);
}

}  // namespace tilescope::show
