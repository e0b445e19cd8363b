// An unfused graph as a list: what each of its launches does to S, or to what became of S. `standard` runs such lists.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/machine/dtype.hpp"

namespace tilescope {

enum class Pass : std::uint8_t {
    product,  ///< S = Q K^T; as the last of a list O = P V
    scale,    ///< by the factor on the logits; before the product Q and K, by its root each
    cap,      ///< the soft-cap
    bias,     ///< biases and ALiBi
    mask,
    max,      ///< m = rowmax(S), one f32 a row
    exp,      ///< exp(S - m), or exp(S) of the naive softmax
    sum,      ///< l = rowsum of that
    divide,   ///< P = exp(S - m) / l
    softmax,  ///< the four before, of whole rows
    seen,     ///< which logits are above -inf, a byte each
    any,      ///< which rows have one
    clear,    ///< P becomes 0 in rows that have none
    convert,  ///< to the type; before the first product Q, K and V, after the last O
    copy      ///< to the type: what a caller may ask for, and nobody here reads
};
const char* name_of(Pass pass);

struct PassLaunch {
    std::vector<Pass> passes;
    std::optional<Dtype> type = {};  ///< of what it writes, unless as Q, K, V and O; max and sum write f32
    bool has(Pass pass) const;
    friend bool operator==(const PassLaunch&, const PassLaunch&) = default;
};
/// In the order in which they run. Empty: those of `standard`, product/softmax/product.
using PassList = std::vector<PassLaunch>;

/// Of "product:f32/scale+mask/softmax/product": launches with a slash between them, what one does with a plus, and
/// behind a colon the type that it writes; or of one of `pass_lists`. BadValue where that is no graph of attention.
PassList passes_from(std::string_view text);
/// The same text, of no name; "" of an empty list.
std::string name_of(const PassList& list);

/// What frameworks launch where they fuse nothing, by name.
struct NamedPasses {
    const char *name, *passes, *whose;
};
inline constexpr NamedPasses pass_lists[] = {
    {"typed", "product/scale/bias/mask/softmax/product", "softmax(q @ k.T * scale) @ v in PyTorch"},
    {"transformers", "product/scale/bias/mask/softmax:f32/convert/product", "Hugging Face's eager attention"},
    {"math",
     "convert:f32/scale:f32/product:f32/bias:f32/mask:f32/softmax:f32/seen/any/clear:f32/copy/product:f32/convert",
     "PyTorch's MATH backend"},
    {"xla", "product:f32/softmax/product", "jax.nn.dot_product_attention by XLA"}};

}  // namespace tilescope
