#include "show/stage/crossing.hpp"

#include <algorithm>

#include "core/machine/sorted.hpp"
#include "core/text/message.hpp"
#include "show/stage/wall_text.hpp"

namespace tilescope::show {
namespace {

using Around = Held::Place;

Around place_of(const RecordedTile& t) {
    switch (t.meaning) {
        case Meaning::query:
            return Around::left;
        case Meaning::key:
            return Around::above;
        case Meaning::value:
            return Around::below;
        case Meaning::score:
            return Around::middle;
        case Meaning::statistic:
            return Around::between;
        default:
            return t.cols == 1 ? Around::between : Around::right;
    }
}

/// "₄": the number of the tile that `part` is; nothing where there is one tile, or `part` is not in exactly one.
std::string number_of(const Tiles& tiles, Span part) {
    if (part.size == 0 || tiles.count() < 2) return "";
    const Span touched = tiles.touched(part);
    return touched.size == 1 ? subscript(touched.begin + 1) : "";
}

std::string name_of_held(const Run& run, const Held& h) {
    const Event& e = run.trace()[h.now->written].event;
    const std::string& name = run.contents().after(h.now->written);
    const Problem& p = run.recorded();
    const Tiles rows(p.seq_q, run.experiment().tiling.br), cols(p.seq_k, run.experiment().tiling.bc);
    // A tile of a tensor with rows of its own (chunked's summaries) is none of Q's or K's tiles: it has no number.
    const bool of_keys = h.on_its_side();
    const bool moved = e.region.tensor != no_tensor;
    if (moved && run.trace().tensors()[e.region.tensor].rows != (of_keys ? p.seq_k : p.seq_q)) return name;
    if (of_keys) return name + number_of(cols, e.region.rows) + "ᵀ";
    if (h.place == Around::between) return name;
    const std::string i = number_of(rows, e.region.rows);
    const std::string j = h.place == Around::middle ? number_of(cols, e.region.cols) : "";
    return name + i + (i.empty() || j.empty() ? "" : ",") + j;
}

struct Slot {
    std::string buffer;
    Held held;
};

/// One slot for each name that the thread block gives to tiles: inner loops give the same names again.
std::vector<Slot> slots_of(const Run& run, const Placement& block) {
    constexpr std::ptrdiff_t enough = 4096;
    const auto& all = run.trace().tiles();
    const std::pair at{block.launch, block.block};
    const auto first = std::partition_point(all.begin(), all.end(),
                                            [&](const RecordedTile& t) { return std::pair(t.launch, t.block) < at; });
    std::vector<Slot> slots;
    for (auto t = first; t != all.end() && t - first < enough && std::pair(t->launch, t->block) == at; ++t) {
        Held held = {place_of(*t), t->space, t->meaning, t->rows, t->cols, nullptr, Part::none, t->name, t->name, {}};
        if (held.on_its_side()) std::swap(held.rows, held.cols);
        const auto known = std::find_if(slots.begin(), slots.end(), [&](const Slot& s) { return s.buffer == t->name; });
        if (known == slots.end()) {
            slots.push_back({t->name, held});
            continue;
        }
        known->held.rows = std::max(known->held.rows, held.rows);
        known->held.cols = std::max(known->held.cols, held.cols);
    }
    return slots;
}

}  // namespace

std::vector<Held> crossing_of(const Run& run, const SmState& sm) {
    if (!sm.block) return {};
    std::vector<Slot> slots = slots_of(run, *sm.block);
    const Step* step = run.operation(sm);
    for (const TileState& t : sm.tiles) {
        const RecordedTile& tile = run.trace().tiles()[t.tile];
        const auto slot =
            std::find_if(slots.begin(), slots.end(), [&](const Slot& s) { return s.buffer == tile.name; });
        if (slot == slots.end()) continue;
        Held& h = slot->held;
        h.now = &t, h.part = part_of(step, t.tile);
        h.name = name_of_held(run, h);
        h.brief = run.contents().after(t.written) + (h.on_its_side() ? "ᵀ" : "");
        if (run.contents().after(t.written) != tile.name) h.notes.push_back(text::message("crossing.in", tile.name));
        h.notes.push_back(tile_shape(tile)), h.notes.push_back(tile_size(tile));
    }
    std::vector<Held> all;
    for (Slot& s : slots) all.push_back(std::move(s.held));
    sort_stably(all, [](const Held& a, const Held& b) { return a.place < b.place; });
    return all;
}

}  // namespace tilescope::show
