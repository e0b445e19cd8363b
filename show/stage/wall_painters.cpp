// Which SMs paint a wall, what its thread blocks hold on chip, and how far heads are.
#include <algorithm>

#include "show/run/heads.hpp"
#include "show/stage/wall.hpp"

namespace tilescope::show {

Index head_of_sm(const Run& run, Index sm) {
    const Placement* last = nullptr;
    for (const Placement& p : run.schedule().placements())
        if (p.sm == sm && (!last || p.first_tick < run.tick())) last = &p;
    return last ? run.head_of(*last) : 0;
}

std::vector<Painter> painters(const Run& run, const Wall& wall) {
    std::vector<Painter> all;
    for (const SmState& s : run.moment().sms) {
        if (!s.block || run.head_of(*s.block) != wall.head()) continue;
        const std::vector<std::size_t>& way = wall.way(s.block->launch, s.block->block);
        if (way.empty()) continue;
        const auto begun = std::partition_point(way.begin(), way.end(),
                                                [&](std::size_t v) { return wall.visits()[v].from <= run.tick(); });
        const std::size_t at = begun == way.begin() ? 0 : static_cast<std::size_t>(begun - way.begin()) - 1;
        const Visit& v = wall.visits()[way[at]];
        const Visit* next = at + 1 < way.size() ? &wall.visits()[way[at + 1]] : nullptr;
        const bool over = v.to < run.tick();
        all.push_back({s.sm, &v, next, over && !next, (over || v.from > run.tick()) && next});
    }
    return all;
}

const Painter* looked_at(const std::vector<Painter>& painters, Index focus) {
    const Painter* at_work = nullptr;
    for (const Painter& p : painters) {
        if (p.sm == focus) return &p;
        if (!p.done && !p.between && !at_work) at_work = &p;
    }
    return at_work;
}

std::vector<bool> held(const Run& run, const Wall& wall, const std::vector<Painter>& painters, const WallEdge& edge) {
    std::vector<bool> tiles(static_cast<std::size_t>(edge.tiles.count()), false);
    const RecordedTensor& tensor = run.trace().tensors()[edge.tensor];
    const Index slice = slice_of(run.recorded(), tensor, wall.head());
    for (const SmState& sm : run.moment().sms) {
        if (!sm.block || slice_of(run.recorded(), tensor, run.head_of(*sm.block)) != slice) continue;
        // m, l and O of one part of the keys are partial results: the wall's tiles of these rows do not count as held
        // yet.
        const bool makes = edge.side == WallEdge::Side::right || edge.side == WallEdge::Side::between;
        if (makes && sm.block->launch == wall.parts().launch()) continue;
        for (const TileState& t : sm.tiles) {
            const RecordedTile& tile = run.trace().tiles()[t.tile];
            const bool has_edge = std::any_of(wall.edges().begin(), wall.edges().end(),
                                              [&](const WallEdge& e) { return e.name == tile.name; });
            // All gradients have the same meaning, so only their names tell them apart.
            const bool known = has_edge || edge.meaning == Meaning::gradient;
            if (tile.meaning != edge.meaning || (known && tile.name != edge.name)) continue;
            const Event& written = run.trace()[t.written].event;
            // A tile from another tensor with this meaning has rows of its own (chunked's partial outputs).
            if (written.kind() == Kind::load && written.region.tensor != edge.tensor) continue;
            Span rows = edge.along(written.region.rows);
            // A tile without a region was only just made: it belongs to the rows, or keys, that its painter is at.
            if (rows.size == 0 && (edge.by_row() || edge.meaning == Meaning::gradient))
                for (const Painter& p : painters)
                    if (p.sm == sm.sm) rows = edge.by_row() ? p.visit->queries : p.visit->keys;
            if (const auto merged = wall.parts().rows_merged(sm.block->launch, sm.block->block);
                merged && edge.side == WallEdge::Side::right)
                rows = *merged;
            const Span some = edge.tiles.touched(rows);
            for (Index k = some.begin; k < some.end(); ++k) tiles[static_cast<std::size_t>(k)] = true;
        }
    }
    return tiles;
}

std::vector<Index> heads_sharing(const Run& run, Index head) {
    const Index group = run.recorded().heads / run.recorded().kv_heads, first = head / group * group;
    std::vector<Index> heads;
    for (Index h = first; h < std::min(first + group, run.recorded().batch_heads()); ++h) heads.push_back(h);
    return heads;
}

std::vector<HeadState> heads_of(const Run& run) {
    std::vector<HeadState> heads(static_cast<std::size_t>(run.recorded().batch_heads()));
    for (const Placement& p : run.schedule().placements()) {
        const auto head = static_cast<std::size_t>(run.head_of(p));
        if (head >= heads.size()) continue;
        HeadState& h = heads[head];
        ++h.all;
        if (p.last_tick <= run.tick()) ++h.done;
        if (p.first_tick < run.tick() && run.tick() < p.last_tick) ++h.busy;
    }
    return heads;
}

}  // namespace tilescope::show
