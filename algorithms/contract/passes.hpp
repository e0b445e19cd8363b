// An unfused graph as a list: what each of its launches does to S, or to what became of S. `standard` runs such lists.
#pragma once

#include <optional>
#include <vector>

#include "core/machine/dtype.hpp"

namespace tilescope {

enum class Pass : std::uint8_t {
    product,  ///< S = Q K^T; as the last of a list O = P V
    scale,    ///< by the scale of the logits; before the product: Q and K, each by the root of it
    cap,      ///< the soft-cap
    bias,     ///< biases and ALiBi
    mask,
    max,      ///< m = rowmax(S), one f32 a row
    exp,      ///< exp(S - m), or exp(S) of the naive softmax
    sum,      ///< l = rowsum of what exp gave
    divide,   ///< P = exp(S - m) / l
    softmax,  ///< max, exp, sum and divide at once, on whole rows
    seen,     ///< which logits are above -inf, a byte each
    any,      ///< which rows have a logit above -inf
    clear,    ///< P becomes 0 in rows that have none
    convert,  ///< to the type of the launch: S or P; ahead of the first product Q, K and V, after the last O
    copy      ///< to the type of the launch, for a caller who may ask for it; no later pass reads it
};
const char* name_of(Pass pass);

struct PassLaunch {
    std::vector<Pass> passes;
    std::optional<Dtype> type = {};  ///< of what it writes; absent: as Q, K, V and O. max and sum write f32
    bool has(Pass pass) const;
    friend bool operator==(const PassLaunch&, const PassLaunch&) = default;
};
/// In the order in which they run. Empty: those of `standard`, product/softmax/product.
using PassList = std::vector<PassLaunch>;

}  // namespace tilescope
