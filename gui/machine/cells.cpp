#include "gui/machine/cells.hpp"

#include <algorithm>

#include "gui/draw/whole.hpp"

namespace tilescope::gui::machine {

using namespace show;
namespace {

/// Cells of the regions that are cut like one region, `like`. Along an axis in which a cell would be too small to see,
/// cells of a coarser grid take its place.
class Grid {
  public:
    Grid(const RecordedTensor& tensor, const Region& like, const Box& at, float least)
        : tensor_(tensor), like_(like), at_(at), least_(least) {
        const Box one = place_of(tensor, like, at);
        merge_x_ = one.w() < least, merge_y_ = one.h() < least;
        across_ = merge_x_ ? coarse(at.w(), most_cells) + 1 : ceil_div(tensor.cols, like.cols.size);
        down_ = merge_y_ ? coarse(at.h(), most_cells) + 1 : ceil_div(tensor.rows, like.rows.size);
        place_.assign(static_cast<std::size_t>(across_ * down_), -1);
    }

    bool takes(const Region& r) const {
        return cut_like(r.rows, like_.rows.size, tensor_.rows) && cut_like(r.cols, like_.cols.size, tensor_.cols);
    }

    Cell& cell(const Region& r, Index region) {
        const Box exact = place_of(tensor_, r, at_);
        const Index x = merge_x_ ? coarse(exact.x0 - at_.x0, across_ - 1) : r.cols.begin / like_.cols.size;
        const Index y = merge_y_ ? coarse(exact.y0 - at_.y0, down_ - 1) : r.rows.begin / like_.rows.size;
        Index& known = place_[static_cast<std::size_t>(y * across_ + x)];
        if (known < 0) {
            known = static_cast<Index>(cells.size());
            Box b = exact;
            if (merge_x_) b.x0 = at_.x0 + static_cast<float>(x) * least_, b.x1 = std::min(at_.x1, b.x0 + least_);
            if (merge_y_) b.y0 = at_.y0 + static_cast<float>(y) * least_, b.y1 = std::min(at_.y1, b.y0 + least_);
            cells.push_back({.box = b});
        }
        Cell& c = cells[static_cast<std::size_t>(known)];
        c.region = merge_x_ || merge_y_ ? -1 : region;
        return c;
    }

    std::vector<Cell> cells;

  private:
    /// Whether a span begins at a multiple of `size` and is `size` long, or shorter only because it ends at `all`.
    static bool cut_like(const Span& s, Index size, Index all) {
        return s.begin % size == 0 && (s.size == size || (s.size < size && s.end() == all));
    }
    static constexpr Index most_cells = 10000;  // in a direction
    /// How many whole cells of the coarser grid fit into `length` pixels.
    Index coarse(float length, Index at_most) const { return whole(length / least_, 0, at_most); }

    const RecordedTensor& tensor_;
    Region like_;
    Box at_;
    float least_;
    bool merge_x_ = false, merge_y_ = false;
    Index across_ = 1, down_ = 1;
    std::vector<Index> place_;  // index in `cells`, by row and column of cells; -1: none yet
};

}  // namespace

Box place_of(const RecordedTensor& t, const Region& r, const Box& at) {
    const float sx = at.w() / static_cast<float>(t.cols), sy = at.h() / static_cast<float>(t.rows);
    return {at.x0 + static_cast<float>(r.cols.begin) * sx, at.y0 + static_cast<float>(r.rows.begin) * sy,
            at.x0 + static_cast<float>(r.cols.end()) * sx, at.y0 + static_cast<float>(r.rows.end()) * sy};
}

Cells cells_of(const Run& run, TensorId id, Index slice, const Box& at, float least) {
    const RecordedTensor& tensor = run.trace().tensors()[id];
    const std::vector<Touched>& touched = run.player().state().tensors[id].touched;
    const Index before = run.tick() > 0 ? run.schedule().steps_after(run.tick() - 1) : 0;
    std::vector<Grid> grids;  // one for regions cut like the first, one for those cut like the first other region
    std::vector<Cell> irregular;
    bool overlap = false;
    for (std::size_t i = 0; i < tensor.regions.size(); ++i) {
        const Region& r = tensor.regions[i];
        if (r.slice != slice) continue;
        if (grids.empty()) grids.emplace_back(tensor, r, at, least);
        const bool first = grids[0].takes(r);
        overlap |= !first;
        if (!first && i >= touched.size()) continue;
        if (!first && grids.size() == 1) grids.emplace_back(tensor, r, at, least);
        const bool second = !first && grids[1].takes(r);
        if (!first && !second) irregular.push_back({.box = place_of(tensor, r, at), .region = static_cast<Index>(i)});
        Cell& c = first    ? grids[0].cell(r, static_cast<Index>(i))
                  : second ? grids[1].cell(r, static_cast<Index>(i))
                           : irregular.back();
        if (i >= touched.size()) continue;
        c.touches.loads = std::max(c.touches.loads, touched[i].loads);
        c.touches.stores = std::max(c.touches.stores, touched[i].stores);
        c.touches.read_now |= touched[i].last_load >= before;
        c.touches.written_now |= touched[i].last_store >= before;
    }
    Cells cells;
    cells.overlap = overlap;
    if (!grids.empty()) cells.grid = std::move(grids[0].cells);
    if (grids.size() > 1) cells.others = std::move(grids[1].cells);
    cells.others.insert(cells.others.end(), irregular.begin(), irregular.end());
    return cells;
}

}  // namespace tilescope::gui::machine
