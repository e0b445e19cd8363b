#include "show/stage/parts.hpp"

#include <algorithm>
#include <span>

#include "core/machine/seen.hpp"
#include "core/text/message.hpp"
#include "core/text/numbers.hpp"
#include "show/words/value_text.hpp"

namespace tilescope::show {
namespace {

bool is_statistic(Meaning m) { return m == Meaning::statistic; }

}  // namespace

Parts::Parts(const Run& run, Index head) : run_(run), head_(head) {
    read_grid();
    if (launch_ < 0) return;
    read_steps(run_.schedule(), {this});
    of_partial_.resize(partials_.size());
    // The first part that is read becomes the sum, to which the others are added. It counts as added once it is weighed
    // or, where it has no weight, once it is read.
    for (Addition& a : additions_) {
        of_partial_[a.partial].push_back(static_cast<std::size_t>(&a - additions_.data()));
        if (a.added < 0) a.added = a.weighed >= 0 ? a.weighed : a.read;
        Span& rows = merged_.try_emplace(a.block, a.rows).first->second;
        rows = {std::min(rows.begin, a.rows.begin),
                std::max(rows.end(), a.rows.end()) - std::min(rows.begin, a.rows.begin)};
    }
}

void Parts::read_grid() {
    const auto& launches = run_.trace().launches();
    std::size_t axis = 0;
    for (std::size_t l = 0; l < launches.size() && launch_ < 0; ++l)
        for (std::size_t k = 1; k < launches[l].axes.size(); ++k)
            if (launches[l].axes[k].promise == Promise::parts) {
                launch_ = static_cast<Index>(l), axis = k;
                count_ = launches[l].axes[k].count, keys_a_part_ = launches[l].axes[k].tile_size;
            }
    for (const RecordedBlock& b : run_.trace().blocks()) {
        if (b.launch != launch_ || run_.head_of({b.launch, b.block, 0, 0, 0}) != head_) continue;
        by_block_[b.block] = partials_.size();
        partials_.push_back({.part = b.at[axis].begin / keys_a_part_, .rows = b.at[axis - 1], .block = b.block});
    }
}

void Parts::step(const Reading& r) {
    if (r.step.launch == launch_) read_part(r.step, r.number);
    if (r.step.launch > launch_) read_merge(r.step, r.number);
}

void Parts::read_part(const Step& step, Index k) {
    const Event& e = step.event;
    if (step.kind() == Kind::store && run_.trace().tensors()[e.region.tensor].role == Role::scratch)
        tensors_.insert(e.region.tensor);
    const auto at = by_block_.find(e.block);
    if (at == by_block_.end()) return;
    Partial& p = partials_[at->second];
    if (e.meaning == Meaning::score) p.empty = false;
    if (step.kind() == Kind::store) {
        const bool statistic = is_statistic(run_.trace().tensors()[e.region.tensor].meaning);
        (statistic ? p.statistic : p.output) = e.region, (statistic ? p.statistic_stored : p.output_stored) = k;
        if (!statistic) by_row_[e.region.rows.begin] = at->second;
    }
    if (step.turn >= 0 || e.out == no_tile) return;
    const Meaning meaning = run_.trace().tiles()[e.out].meaning;
    if (!is_statistic(meaning) && meaning != Meaning::output) return;
    if (std::find(p.tiles.begin(), p.tiles.end(), e.out) != p.tiles.end()) return;
    const auto first_output = std::find_if(p.tiles.begin(), p.tiles.end(),
                                           [&](TileId t) { return !is_statistic(run_.trace().tiles()[t].meaning); });
    p.tiles.insert(is_statistic(meaning) ? first_output : p.tiles.end(), e.out);
}

void Parts::read_merge(const Step& step, Index k) {
    const Event& e = step.event;
    const auto of = [&](TileId tile) {
        const auto at = reading_.find(tile);
        const Span some = at == reading_.end() ? Span{} : at->second;
        return std::span(additions_).subspan(static_cast<std::size_t>(some.begin), static_cast<std::size_t>(some.size));
    };
    if (step.kind() == Kind::load && is_partial(e.region.tensor)) {
        const RecordedTensor& t = run_.trace().tensors()[e.region.tensor];
        if (is_statistic(t.meaning) || e.region.slice != head_ / t.heads_per_slice) return;
        if (merge_ < 0) merge_ = step.launch;
        const auto first = static_cast<Index>(additions_.size());
        auto at = by_row_.upper_bound(e.region.rows.begin);
        if (at != by_row_.begin()) --at;
        for (; at != by_row_.end() && at->first < e.region.rows.end(); ++at) {
            const Partial& p = partials_[at->second];
            const Span some = intersection(p.output.rows, e.region.rows);
            const Index shift = p.rows.begin - p.output.rows.begin;  // from rows in HBM to those of the problem
            if (some.size > 0)
                additions_.push_back({.partial = at->second,
                                      .rows = {some.begin + shift, some.size},
                                      .first = e.region.rows.begin + shift,
                                      .block = e.block,
                                      .read = k});
        }
        reading_[e.out] = {first, static_cast<Index>(additions_.size()) - first};
    } else if (step.kind() == Kind::map && e.a() != no_tile) {
        if (e.operation->operates == Operates::by_row)
            for (Addition& a : of(e.out)) a.weighed = k, a.weights = written_[e.a()];
        for (Addition& a : of(e.a())) a.added = k;
    }
    if (e.out != no_tile && run_.trace().tiles()[e.out].cols == 1) written_[e.out] = k;
}

Span Parts::keys(Index part) const {
    return intersection({part * keys_a_part_, keys_a_part_}, {0, run_.recorded().seq_k});
}

Index Parts::with_keys() const {
    return count_ == 0 ? 0 : std::min(count_, ceil_div(run_.recorded().seq_k, keys_a_part_));
}

const Partial* Parts::of_block(Index launch, Index block) const {
    const auto at = by_block_.find(block);
    return launch != launch_ || at == by_block_.end() ? nullptr : &partials_[at->second];
}

const Addition* Parts::addition(const Partial& partial, Index row) const {
    for (const std::size_t k : of_partial_[place(partial)])
        if (const Span rows = additions_[k].rows; rows.begin <= row && row < rows.end()) return &additions_[k];
    return nullptr;
}

std::optional<Span> Parts::rows_merged(Index launch, Index block) const {
    const auto at = merged_.find(block);
    if (launch != merge_ || at == merged_.end()) return std::nullopt;
    return at->second;
}

bool Parts::happened(Index step, Index tick) const { return step >= 0 && step < run_.schedule().steps_after(tick); }

double Parts::added_share(const Partial& partial, Index tick) const {
    Index rows = 0;
    for (const std::size_t k : of_partial_[place(partial)])
        if (happened(additions_[k].added, tick)) rows += additions_[k].rows.size;
    return static_cast<double>(rows) / static_cast<double>(partial.rows.size);
}

std::optional<float> Parts::weight(const Partial& partial, Index row, Index tick) const {
    const Addition* a = addition(partial, row);
    if (!a || !run_.has_values() || a->weights < 0 || !happened(a->weights, tick)) return std::nullopt;
    return run_.trace().values(run_.trace()[a->weights])[static_cast<std::size_t>(row - a->first)];
}

namespace {

struct Now {
    const Run& run;

    bool is(Index step) const {
        const Index tick = run.tick();
        return step >= 0 && tick > 0 && step >= run.schedule().steps_after(tick - 1) &&
               step < run.schedule().steps_after(tick);
    }
    /// The number of a row in a tile of one column; empty for a wider tile.
    std::string value(Index step, Index row, Index cols) const {
        const TileData values = run.trace().values(run.trace()[step]);
        return cols == 1 && row < static_cast<Index>(values.size()) ? value_text(values[static_cast<std::size_t>(row)])
                                                                    : std::string();
    }
};

/// The cells of the thread block that works on the part; none where it is not at work.
std::vector<PartCell> on_chip(const Run& run, Index launch, const Partial& p, Index row) {
    std::vector<PartCell> cells;
    const Now now{run};
    for (const SmState& sm : run.moment().sms) {
        if (!sm.block || sm.block->launch != launch || sm.block->block != p.block) continue;
        for (const TileId tile : p.tiles)
            for (const TileState& t : sm.tiles) {
                if (t.tile != tile) continue;
                const RecordedTile& of = run.trace().tiles()[tile];
                cells.push_back({.name = run.contents().after(t.written),
                                 .meaning = of.meaning,
                                 .value = now.value(t.written, row - p.rows.begin, of.cols),
                                 .on_chip = true,
                                 .now = now.is(t.written)});
            }
    }
    return cells;
}

}  // namespace

std::vector<PartCell> part_cells(const Run& run, const Parts& parts, const Partial& p, Index row) {
    std::vector<PartCell> cells = on_chip(run, parts.launch(), p, row);
    if (!cells.empty() || !parts.happened(p.output_stored, run.tick())) return cells;
    const Now now{run};
    const auto& tensors = run.trace().tensors();
    const Addition* a = parts.addition(p, row);
    // Once the weight exists, it is shown instead of LSE_s, from which it was made.
    if (const auto weight = parts.weight(p, row, run.tick()))
        cells.push_back({.name = run.contents().after(a->weights),
                         .meaning = Meaning::statistic,
                         .value = value_text(*weight),
                         .on_chip = true,
                         .now = now.is(a->weights)});
    else if (parts.happened(p.statistic_stored, run.tick()))
        cells.push_back({.name = tensors[p.statistic.tensor].name,
                         .meaning = tensors[p.statistic.tensor].meaning,
                         .value = now.value(p.statistic_stored, row - p.rows.begin, p.statistic.cols.size)});
    const double added = parts.added_share(p, run.tick());
    cells.push_back({.name = tensors[p.output.tensor].name,
                     .meaning = tensors[p.output.tensor].meaning,
                     .value = added == 0   ? ""
                              : added == 1 ? text::message("parts.added")
                                           : text::percent(added),
                     .now = a && (now.is(a->read) || now.is(a->weighed) || now.is(a->added)),
                     .added = added});
    return cells;
}

}  // namespace tilescope::show
