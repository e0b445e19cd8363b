// How far the output of a run is from the reference, while it grows on chip and once it is stored.
#include <cmath>

#include "show/run.hpp"

namespace tilescope::show {
namespace {

/// Sum of the squared differences of a rectangle of the output (rows of `stride` numbers) from a slice's reference.
/// With `sums`, one for every row, it is divided by them first.
double squares(const float* got, Index stride, const Region& at, const std::vector<double>& want, Index cols,
               const float* sums = nullptr) {
    double sum = 0;
    for (Index r = 0; r < at.rows.size; ++r)
        for (Index c = 0; c < at.cols.size; ++c) {
            // A row that has seen no key is 0, and so is its sum.
            const double by = static_cast<double>(sums && sums[r] != 0 ? sums[r] : 1.0f);
            const Index k = (at.rows.begin + r) * cols + at.cols.begin + c;
            const double d = static_cast<double>(got[r * stride + c]) / by - want[static_cast<std::size_t>(k)];
            sum += d * d;
        }
    return sum;
}

}  // namespace

/// The error of what becomes O, after every operation on it: of every tile that is stored there.
std::vector<ErrorPoint> Run::errors_of(const Placement& block) const {
    // Where tiles of the input are written over, no output grows.
    if (!algorithm().computes->accumulates) return {};
    const std::string_view output = algorithm().computes->output;
    std::vector<Index> mine;
    for (Index k = schedule_->steps_after(block.first_tick); k < schedule_->steps_after(block.last_tick); ++k)
        if (trace()[k].launch == block.launch && trace()[k].event.block == block.block) mine.push_back(k);

    std::map<TileId, Region> ends_up;  // where a tile is stored next
    std::map<Index, Region> writes;    // by step
    for (auto k = mine.rbegin(); k != mine.rend(); ++k) {
        const Event& e = trace()[*k].event;
        if (e.kind() == Kind::store && trace().tensors()[e.region.tensor].name == output) ends_up[e.a()] = e.region;
        const bool writes_numbers = works(e.kind()) && e.kind() != Kind::store;
        if (const auto found = ends_up.find(e.out); writes_numbers && found != ends_up.end())
            writes[*k] = found->second;
    }

    std::vector<ErrorPoint> points;
    std::map<TileId, Index> columns;  // on chip: the step that wrote them
    for (const Index k : mine) {
        const Step& s = trace()[k];
        if (s.kind() == Kind::release) columns.erase(s.event.out);
        if (s.kind() == Kind::release || s.event.out == no_tile) continue;
        const RecordedTile& tile = trace().tiles()[s.event.out];
        if (tile.cols == 1) columns[s.event.out] = k;
        const auto write = writes.find(k);
        if (write == writes.end()) continue;
        const Region& at = write->second;
        const float* got = trace().values(s).data();
        const std::vector<double>& want = reference_->slice(at.slice);
        double least = squares(got, tile.cols, at, want, recorded_.dim_v);
        for (const auto& [column, written] : columns)
            if (trace().tiles()[column].rows == tile.rows)
                least = std::min(
                    least, squares(got, tile.cols, at, want, recorded_.dim_v, trace().values(trace()[written]).data()));
        points.push_back({schedule_->tick_of(k), std::sqrt(least / static_cast<double>(tile.rows * tile.cols))});
    }
    return points;
}

std::vector<ErrorPoint> Run::error_so_far(const SmState& sm) const {
    if (!reference_ || !sm.block) return {};
    const auto [kept, is_new] = errors_.try_emplace({sm.block->launch, sm.block->block});
    std::vector<ErrorPoint>& points = kept->second;
    if (is_new) points = errors_of(*sm.block);
    const auto end =
        std::partition_point(points.begin(), points.end(), [&](const ErrorPoint& p) { return p.tick <= tick(); });
    return {points.begin(), end};
}

Run::StoredError Run::stored_error() const {
    StoredError e;
    e.of = recorded_.batch_heads() * recorded_.seq_q;
    if (!reference_) return e;
    TensorId output = 0;
    while (trace().tensors()[output].name != algorithm().computes->output) ++output;
    const RecordedTensor& t = trace().tensors()[output];
    const std::vector<float>& now = player_->values(output);
    double sum = 0;
    Index elements = 0;
    for (const Touched& r : player_->state().tensors[output].touched) {
        if (r.stores == 0) continue;
        const Region& at = r.region;
        const Index first = (at.slice * t.rows + at.rows.begin) * t.cols + at.cols.begin;
        sum += squares(now.data() + first, t.cols, at, reference_->slice(at.slice), t.cols);
        elements += at.rows.size * at.cols.size;
        if (at.cols.begin == 0) e.rows += at.rows.size;
    }
    if (elements > 0) e.rms = std::sqrt(sum / static_cast<double>(elements));
    return e;
}

}  // namespace tilescope::show
