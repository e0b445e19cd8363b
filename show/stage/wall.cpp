#include "show/stage/wall.hpp"

#include <algorithm>
#include <tuple>

#include "core/machine/sorted.hpp"

namespace tilescope::show {

double Visit::painted_share(Index tick) const {
    if (tick < painted) return 0;
    return std::min(1.0, static_cast<double>(tick - painted + 1) / static_cast<double>(to - painted + 1));
}

bool Wall::has_room_for(const Run& run) {
    constexpr Index most = Index{1} << 18;
    const Index rows = ceil_div(run.recorded().seq_q, run.experiment().tiling.br);
    const Index cols = ceil_div(run.recorded().seq_k, run.experiment().tiling.bc);
    return rows <= most && cols <= most / std::max<Index>(1, rows);
}

Wall::Wall(const Run& run, Index head)
    : run_(run),
      head_(head),
      parts_(run, head),
      rows_(run.recorded().seq_q, run.experiment().tiling.br),
      cols_(run.recorded().seq_k, run.experiment().tiling.bc),
      cells_(static_cast<std::size_t>(rows() * cols())) {
    find_tensors();
    read_visits();
    sort_visits();
    look_at_mask();
}

void Wall::look_at_mask() {
    const Problem& p = run_.recorded();
    for (Index i = 0; i < rows(); ++i)
        for (Index j = 0; j < cols(); ++j) {
            covers_.push_back(p.cover(rows_[i], cols_[j]));
            skipped_ += skipped(i, j);
        }
}

WallGroup Wall::group(Span rows, Span cols) const {
    WallGroup g{rows, cols, 0, 0, {}, {}, std::vector<std::vector<Index>>(sheets_.size())};
    for (Index i = rows.begin; i < rows.end(); ++i)
        for (Index j = cols.begin; j < cols.end(); ++j) {
            g.hidden += cover(i, j) == Cover::hidden;
            g.skipped += skipped(i, j);
            for (const std::size_t v : visits(i, j)) g.begun.push_back(visits_[v].painted);
            if (!visits(i, j).empty()) g.painted.push_back(first_coat(visits(i, j)));
            for (std::size_t s = 0; s < sheets_.size(); ++s)
                if (const Index when = stored_[s][cell(i, j)]; when >= 0) g.stored[s].push_back(when);
        }
    std::sort(g.painted.begin(), g.painted.end());
    std::sort(g.begun.begin(), g.begun.end());
    for (std::vector<Index>& ticks : g.stored) std::sort(ticks.begin(), ticks.end());
    return g;
}

const std::vector<WallGroup>& Wall::groups(Index down, Index across) const {
    if (grouped_ == Span{down, across}) return groups_;
    grouped_ = {down, across};
    groups_.clear();
    for (Index i = 0; i < rows(); i += down)
        for (Index j = 0; j < cols(); j += across)
            groups_.push_back(group({i, std::min(down, rows() - i)}, {j, std::min(across, cols() - j)}));
    return groups_;
}

void Wall::sort_visits() {
    sort_stably(visits_, [](const Visit& a, const Visit& b) {
        return std::tie(a.from, a.launch, a.block) < std::tie(b.from, b.launch, b.block);
    });
    for (std::size_t k = 0; k < visits_.size(); ++k) {
        const Visit& v = visits_[k];
        ways_[{v.launch, v.block}].push_back(k);
        ++habits_[{v.launch, v.loop}].visits;
        recorded_rows_ = std::max(recorded_rows_, v.rows.end());
        for (Index i = v.rows.begin; i < v.rows.end(); ++i)
            for (Index j = v.cols.begin; j < v.cols.end(); ++j) cells_[cell(i, j)].push_back(k);
    }
    for (Index i = 0; i < rows(); ++i)
        for (Index j = 0; j < cols(); ++j)
            if (!visits(i, j).empty())
                first_begun_.push_back(first_coat(visits(i, j))), first_done_.push_back(first_done(i, j));
    std::sort(first_begun_.begin(), first_begun_.end());
    std::sort(first_done_.begin(), first_done_.end());
}

/// The tick in which the first coat begins. A visit that begins earlier may paint later.
Index Wall::first_coat(const std::vector<std::size_t>& visits) const {
    Index first = run_.ticks();
    for (const std::size_t v : visits) first = std::min(first, visits_[v].painted);
    return first;
}

/// The tick that completes the first coat. Where several visits paint parts of the tile, the last of them does.
Index Wall::first_done(Index i, Index j) const {
    std::vector<std::size_t> by_end = visits(i, j);
    sort_stably(by_end, [&](std::size_t a, std::size_t b) { return visits_[a].to < visits_[b].to; });
    Count lacking = row(i).size * col(j).size;
    for (const std::size_t k : by_end) {
        lacking -= scores_in(visits_[k], i, j);
        if (lacking <= 0) return visits_[k].to;
    }
    return visits_[by_end.back()].to;
}

/// How many scores of a tile a visit paints.
Count Wall::scores_in(const Visit& v, Index i, Index j) const {
    return common(row(i), v.queries) * common(col(j), v.keys);
}

const std::string& Wall::recomputed(Index launch) const {
    static const std::string none;
    const auto at = recomputed_.find(launch);
    return at == recomputed_.end() ? none : at->second;
}

const std::vector<std::size_t>& Wall::way(Index launch, Index block) const {
    static const std::vector<std::size_t> none;
    const auto at = ways_.find({launch, block});
    return at == ways_.end() ? none : at->second;
}

double Wall::coats(Index i, Index j, Index tick) const {
    Count scores = 0;
    for (const std::size_t k : visits(i, j))
        if (visits_[k].painted <= tick) scores += scores_in(visits_[k], i, j);
    return static_cast<double>(scores) / static_cast<double>(row(i).size * col(j).size);
}

Index Wall::painted_tiles(Index tick) const {
    return std::upper_bound(first_done_.begin(), first_done_.end(), tick) - first_done_.begin();
}

Index Wall::tiles_begun(Index tick) const {
    const auto begun = std::upper_bound(first_begun_.begin(), first_begun_.end(), tick) - first_begun_.begin();
    return begun - painted_tiles(tick);
}

bool Wall::stored(std::size_t sheet, Index i, Index j, Index tick) const {
    const Index when = stored_[sheet][cell(i, j)];
    return when >= 0 && when <= tick;
}

const Wall& Walls::of(const Run& run, Index head, std::uint64_t version) {
    return told_.of(version, {&run, head}, [&] { return Wall(run, head); });
}

}  // namespace tilescope::show
