#include "lab/study/tile_plane.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "core/machine/sorted.hpp"
#include "lab/model/launch_kernels.hpp"
#include "lab/model/mapping.hpp"
#include "lab/model/timing.hpp"

namespace tilescope::lab {

const Residency& PlaneCell::residency() const {
    return std::min_element(
               launches.begin(), launches.end(),
               [](const Occupancy& a, const Occupancy& b) { return a.residency.blocks < b.residency.blocks; })
        ->residency;
}

bool PlaneCell::spills() const {
    return std::any_of(launches.begin(), launches.end(), [](const Occupancy& o) { return o.spills; });
}

bool PlaneCell::has_time() const { return fits && report->fits_hbm() && residency().blocks > 0; }
std::string PlaneCell::why_infeasible() const { return lab::why_infeasible(spills()); }

std::vector<Index> plane_sizes(Index rows) {
    constexpr Index most = 512, steps = 32;
    const Index end = std::min(rows, most);
    // A power of two, so that the sizes include those of kernels' tiles, multiples of 16.
    const auto unit = static_cast<Index>(std::bit_ceil(static_cast<std::uint64_t>(ceil_div(end, steps))));
    std::vector<Index> sizes;
    for (Index n = unit; n < end + unit; n += unit) sizes.push_back(std::min(n, end));
    return sizes;
}

TilePlane::TilePlane(Experiment e)
    : e_(std::move(e)), brs_(plane_sizes(e_.problem.seq_q)), bcs_(plane_sizes(e_.problem.seq_k)) {
    for (const Index br : brs_)
        for (const Index bc : bcs_) {
            cells_.emplace_back();
            cells_.back().tiling = with_parts(br, bc);
        }
}

Tiling TilePlane::with_parts(Index br, Index bc) const {
    Tiling t = e_.tiling;
    t.br = br, t.bc = bc, t.warpgroups = 0;  // warpgroups follow from Br
    return completed(t, *e_.algorithm, e_.problem, e_.gpu);
}

/// How many tilings of each row, counted from the narrowest, fit on that machine.
std::vector<std::size_t> TilePlane::border(const GpuSpec& gpu, Control& control) const {
    std::vector<std::size_t> fitting;
    for (const Index br : brs_) {
        check_stop(&control);
        const auto end = std::partition_point(bcs_.begin(), bcs_.end(), [&](Index bc) {
            return lab::fits(*e_.algorithm, e_.problem, with_parts(br, bc), gpu);
        });
        fitting.push_back(static_cast<std::size_t>(end - bcs_.begin()));
    }
    return fitting;
}

void TilePlane::count_all(Control& control) {
    Limits limits{border(with_room(e_.gpu, false, true), control), border(with_room(e_.gpu, true, false), control)};
    std::vector<PlaneCell> cells = read([](const auto& all) { return all; });
    for (std::size_t k = 0; k < cells.size(); ++k) {
        check_stop(&control);
        PlaneCell& c = cells[k];
        const std::size_t row = k / bcs_.size(), col = k % bcs_.size();
        c.lacks_room = col >= limits.sram[row] ? Space::sram : Space::registers;
        if (col >= std::min(limits.sram[row], limits.registers[row])) continue;
        Experiment e = e_;
        e.tiling = c.tiling;
        Occupied o = count_and_occupy(e, &control);
        c.fits = true, c.report = std::move(o.report), c.launches = std::move(o.launches);
        if (c.has_time()) order_.push_back(k);
    }
    const Lock lock(mutex_);
    cells_ = std::move(cells), limits_ = std::move(limits);
    ++version_;
}

void TilePlane::time(std::size_t cell, Known as, Control& control) {
    Experiment e = e_;
    e.tiling = read([&](const auto& cells) { return cells[cell].tiling; });
    RunTime time = time_of(e, {.l2 = as == Known::exact}, &control);
    const Lock lock(mutex_);
    PlaneCell& c = cells_[cell];
    if (as == Known::exact && c.known == Known::estimated) {
        const double off = c.report->time->us() / time.us() - 1;
        error_.mean += (std::abs(off) - error_.mean) / static_cast<double>(++error_.cells);
        if (std::abs(off) > std::abs(error_.worst)) error_.worst = off;
    }
    c.report->time = std::move(time), c.known = as;
    ++version_;
}

/// The next cell that is known less well than `as`: the cell that the user looks at, or the first in order.
std::optional<std::size_t> TilePlane::next(Known as) {
    const Lock lock(mutex_);
    const auto open = [&](std::size_t k) { return cells_[k].known < as; };
    const auto found = std::find_if(order_.begin(), order_.end(), open);
    if (found == order_.end()) return std::nullopt;
    if (looked_at_ && cells_[*looked_at_].has_time() && open(*looked_at_)) return looked_at_;
    return *found;
}

Index TilePlane::work(Control& control) {
    if (version() == 0) {
        count_all(control);
    } else if (const auto cell = next(Known::estimated)) {
        time(*cell, Known::estimated, control);
        if (++timed_ == order_.size()) fastest_first();
    } else if (const auto untimed = next(Known::exact)) {
        time(*untimed, Known::exact, control);
        ++timed_;
    }
    return static_cast<Index>(2 * order_.size() - timed_);
}

void TilePlane::fastest_first() {
    const auto us = [&](std::size_t k) { return cells_[k].report->time->us(); };
    sort_stably(order_, [&](std::size_t a, std::size_t b) { return us(a) < us(b); });
}

void TilePlane::look_at(std::size_t cell) {
    const Lock lock(mutex_);
    looked_at_ = cell;
}

std::uint64_t TilePlane::version() const {
    const Lock lock(mutex_);
    return version_;
}

TilePlane::Limits TilePlane::limits() const {
    const Lock lock(mutex_);
    return limits_;
}

TilePlane::EstimateError TilePlane::estimate_error() const {
    const Lock lock(mutex_);
    return error_;
}

}  // namespace tilescope::lab
