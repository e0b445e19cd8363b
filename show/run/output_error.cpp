// How far the output of a run is from the reference, while it grows on chip and once it is stored.
#include <cmath>

#include "show/run/run.hpp"

namespace tilescope::show {
namespace {

/// Sum of the squared differences of a rectangle of the output (rows of `stride` numbers) from a slice's reference.
/// With `sums`, each row of the output is divided by its sum first.
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

/// Raises e.max_abs to the largest difference from the reference in a rectangle of the output, and e.largest to the
/// largest value of the reference there. Only elements that are finite in both count.
void take_extremes(Run::StoredError& e, const float* got, const Region& at, const std::vector<double>& want,
                   Index cols) {
    for (Index r = 0; r < at.rows.size; ++r)
        for (Index c = 0; c < at.cols.size; ++c) {
            const double is = static_cast<double>(got[r * cols + c]);
            const double expected = want[static_cast<std::size_t>((at.rows.begin + r) * cols + at.cols.begin + c)];
            if (!std::isfinite(is) || !std::isfinite(expected)) continue;
            e.max_abs = std::max(e.max_abs, std::abs(is - expected));
            e.largest = std::max(e.largest, std::abs(expected));
        }
}

}  // namespace

/// The steps that write what becomes O: every tile that is stored to O. A tile that is divided by its row sums before
/// it is stored is compared as if it were divided by the sums so far. A step that only rescales is left out: at that
/// moment the sums include more keys than the tile.
Run::BlockErrors Run::errors_of(const Placement& block) const {
    BlockErrors errors;
    // Where a program overwrites tiles of its input, no output grows.
    if (!algorithm().computes->accumulates) return errors;
    const std::string_view output = algorithm().computes->output;
    std::vector<Index>& mine = errors.steps;
    for (Index k = schedule_->steps_after(block.first_tick); k < schedule_->steps_after(block.last_tick); ++k)
        if (trace()[k].launch == block.launch && trace()[k].event.block == block.block) mine.push_back(k);

    std::map<TileId, BlockErrors::Future> future;
    for (auto k = mine.rbegin(); k != mine.rend(); ++k) {
        const Event& e = trace()[*k].event;
        if (e.kind() == Kind::store && trace().tensors()[e.region.tensor].name == output) future[e.a()] = {e.region};
        const bool writes_numbers =
            works(e.kind()) && e.kind() != Kind::store && e.operation->effect != Effect::scale_rows;
        const auto found = future.find(e.out);
        if (!writes_numbers || found == future.end()) continue;
        errors.writes[*k] = found->second;
        if (e.operation->effect == Effect::divide_rows) found->second.sums = e.a();
    }
    return errors;
}

/// Computes errors up to a tick only, because later steps may need rows of the reference that are not computed yet.
void Run::work_out(BlockErrors& errors, Index tick) const {
    auto& [steps, writes, done, written, points] = errors;
    for (; done < steps.size() && schedule_->tick_of(steps[done]) <= tick; ++done) {
        const Index k = steps[done];
        const Step& s = trace()[k];
        if (s.kind() == Kind::release || s.event.out == no_tile) continue;
        written[s.event.out] = k;
        const auto write = writes.find(k);
        if (write == writes.end()) continue;
        const auto& [at, sums] = write->second;
        const RecordedTile& tile = trace().tiles()[s.event.out];
        const auto by = written.find(sums);
        const double sum =
            squares(trace().values(s).data(), tile.cols, at, reference_->slice(at.slice, at.rows.end()),
                    recorded_.dim_v, by != written.end() ? trace().values(trace()[by->second]).data() : nullptr);
        points.push_back({schedule_->tick_of(k), std::sqrt(sum / static_cast<double>(tile.rows * tile.cols)), at});
    }
}

std::vector<ErrorPoint> Run::error_so_far(const SmState& sm) const {
    if (!reference_ || !sm.block) return {};
    const auto [kept, is_new] = errors_.try_emplace({sm.block->launch, sm.block->block});
    if (is_new) kept->second = errors_of(*sm.block);
    work_out(kept->second, tick());
    const std::vector<ErrorPoint>& points = kept->second.points;
    const auto end =
        std::partition_point(points.begin(), points.end(), [&](const ErrorPoint& p) { return p.tick <= tick(); });
    std::vector<ErrorPoint> of_this_tile;
    for (auto p = points.begin(); p != end; ++p)
        if (p->of == std::prev(end)->of) of_this_tile.push_back(*p);
    return of_this_tile;
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
    const auto& touched = player_->state().tensors[output].touched;
    for (std::size_t k = 0; k < touched.size(); ++k) {
        const Touched& r = touched[k];
        if (r.stores == 0 || r.last_store < last_stores_[output][k]) continue;
        const Region& at = r.region;
        const Index first = (at.slice * t.rows + at.rows.begin) * t.cols + at.cols.begin;
        const std::vector<double>& want = reference_->slice(at.slice, at.rows.end());
        sum += squares(now.data() + first, t.cols, at, want, t.cols);
        take_extremes(e, now.data() + first, at, want, t.cols);
        elements += at.rows.size * at.cols.size;
        if (at.cols.begin == 0) e.rows += at.rows.size;
    }
    if (elements > 0) e.rms = std::sqrt(sum / static_cast<double>(elements));
    return e;
}

}  // namespace tilescope::show
