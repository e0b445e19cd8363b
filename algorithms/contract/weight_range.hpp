// In which range P is: it is at most 1 beside the true maximum of its row. A constant factor makes more of what a
// narrow type holds; a stale maximum, which is not raised for a little, makes P greater than 1.
#pragma once

#include <optional>

#include "algorithms/contract/problem.hpp"

namespace tilescope {

/// Leaves row maxima as they were, where they have hardly grown (FlashAttention-4's conditional rescaling: flash_attn/
/// cute/softmax.py). Nothing, where the problem has no stale maximum.
void hold_maxima(Block& b, Tile& m, const Tile& m_old, const Problem& p, Here here = Here::now());

/// What is subtracted from S so that its exponential is P times p_scale: m - log(p_scale) (FlashAttention-3's
/// Max_offset: hopper/softmax.h). Without such a factor, m itself, and nothing is computed.
class Shift {
  public:
    Shift(Block& b, const Problem& p, Index rows);
    const Tile& of(Block& b, const Tile& m, Here here = Here::now());
    /// Takes log(p_scale), which comes in by the sum of P, out of the LSE again.
    void out_of(Block& b, Tile& lse, Here here = Here::now());

  private:
    std::optional<Tile> log_;  ///< -log(p_scale), in each row
    std::optional<Tile> shifted_;
};

}  // namespace tilescope
