// An unfused graph as a list: what each launch does to S, or to a matrix computed from S. `standard` runs such lists.
#pragma once

#include <optional>
#include <vector>

#include "core/machine/dtype.hpp"

namespace tilescope {

enum class Pass : std::uint8_t {
    product,  ///< S = Q K^T; as the last of a list O = P V
    scale,    ///< S times the logits' scale; before the product Q and K, each times the root of the scale
    cap,      ///< the soft-cap
    bias,     ///< biases and ALiBi
    mask,
    max,      ///< m = rowmax(S), one f32 a row
    exp,      ///< exp(S - m), or exp(S) of the naive softmax
    sum,      ///< l = rowsum of the result of exp
    divide,   ///< P = exp(S - m) / l
    softmax,  ///< max, exp, sum and divide at once, on whole rows
    seen,     ///< which logits are above -inf, a byte each
    any,      ///< which rows have a logit above -inf
    clear,    ///< P becomes 0 in rows without a logit above -inf
    convert,  ///< to the launch's type: S or P; Q, K and V before the first product, O after the last
    copy      ///< P in the launch's type, for a caller that may ask for it; no later pass reads it
};
const char* name_of(Pass pass);

struct PassLaunch {
    std::vector<Pass> passes;
    std::optional<Dtype> type = {};  ///< of the result; absent: the type of Q, K, V and O. max and sum write f32
    bool has(Pass pass) const;
    friend bool operator==(const PassLaunch&, const PassLaunch&) = default;
};
/// Launches in the order in which they run. Empty: those of `standard`, product/softmax/product.
using PassList = std::vector<PassLaunch>;

}  // namespace tilescope
