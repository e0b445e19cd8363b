#include "lab/figure/tile_visits.hpp"

#include <algorithm>

namespace tilescope::lab {
namespace {

bool by_row(Meaning m) { return m == Meaning::query || m == Meaning::output; }

}  // namespace

TileVisits::TileVisits(const Report& counted)
    : report_(counted),
      rows_(counted.experiment.problem.seq_q, counted.experiment.tiling.br),
      cols_(counted.experiment.problem.seq_k, counted.experiment.tiling.bc),
      cells_(static_cast<std::size_t>(rows() * cols())) {
    for (std::size_t k = 0; k < travellers.size(); ++k)
        trips_[k].resize(static_cast<std::size_t>(by_row(travellers[k]) ? rows() : cols()));
}

void TileVisits::begin(const LaunchMark& mark) {
    per_head_ = 1;
    for (std::size_t k = 1; k < mark.axes.size(); ++k) per_head_ *= mark.axes[k].tiles.count();
    turns_.emplace_back(static_cast<std::size_t>(per_head_), 0);
}

void TileVisits::begin(const BlockMark& mark) { now_ = {turns_.size() - 1, mark.block, 0}; }

void TileVisits::on(const Event& e, TileData) {
    turns_[now_.launch][static_cast<std::size_t>(now_.block)] = now_.turn;
    if (e.meaning == Meaning::score && works(e.kind())) see(e.region);
    if (e.moves_data() && e.cost.hbm() > 0) travel(e.region, e.kind() == Kind::store);
}

void TileVisits::see(const Region& r) {
    const Span down = rows_.touched(r.rows), across = cols_.touched(r.cols);
    for (Index i = down.begin; i < down.end(); ++i)
        for (Index j = across.begin; j < across.end(); ++j) {
            auto& moments = cells_[static_cast<std::size_t>(i * cols() + j)];
            const bool again =
                !moments.empty() && moments.back().launch == now_.launch && moments.back().block == now_.block;
            again ? void(moments.back() = now_) : moments.push_back(now_);
        }
}

void TileVisits::travel(const Region& r, bool written) {
    const TensorReport& tensor = report_.tensors[r.tensor];
    const auto at = std::find(travellers.begin(), travellers.end(), tensor.meaning);
    if (tensor.extra || at == travellers.end()) return;
    auto& trips = trips_[static_cast<std::size_t>(at - travellers.begin())];
    const Tiles& tiles = by_row(*at) ? rows_ : cols_;
    const Problem& p = report_.experiment.problem;
    const bool of_values = *at == Meaning::value || *at == Meaning::output;
    const double width = static_cast<double>(r.cols.size) / static_cast<double>(of_values ? p.dim_v : p.dim);
    const Span some = tiles.touched(r.rows);
    for (Index k = some.begin; k < some.end(); ++k) {
        const double part = width * static_cast<double>(common(tiles[k], r.rows)) / static_cast<double>(tiles[k].size);
        Trips& t = trips[static_cast<std::size_t>(k)];
        (written ? t.written : t.read) += part;
    }
}

const std::vector<Trips>& TileVisits::trips(Meaning meaning) const {
    return trips_[static_cast<std::size_t>(std::find(travellers.begin(), travellers.end(), meaning) -
                                           travellers.begin())];
}

}  // namespace tilescope::lab
