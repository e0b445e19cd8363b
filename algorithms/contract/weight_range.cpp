#include "algorithms/contract/weight_range.hpp"

#include <cmath>

#include "core/machine/score_ops.hpp"

namespace tilescope {

void hold_maxima(Block& b, Tile& m, const Tile& m_old, const Problem& p, Here here) {
    if (p.stale_max != 0) hold(b, m, m_old, static_cast<float>(p.stale_max * std::log(2.0)), here);
}

Shift::Shift(Block& b, const Problem& p, Index rows) {
    if (p.p_scale == 1) return;
    log_.emplace(b.alloc_registers("-log(c)", rows, 1, -std::log(static_cast<float>(p.p_scale))));
    shifted_.emplace(b.alloc_registers("m-log(c)", rows, 1));
}

const Tile& Shift::of(Block& b, const Tile& m, Here here) {
    if (!log_) return m;
    copy(b, *shifted_, m, here);
    add(b, *shifted_, *log_, here);
    return *shifted_;
}

void Shift::out_of(Block& b, Tile& lse, Here here) {
    if (log_) add(b, lse, *log_, here);
}

}  // namespace tilescope
