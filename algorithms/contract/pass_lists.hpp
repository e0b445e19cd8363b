// Lists of passes as they are typed, and those that frameworks have, by name.
#pragma once

#include <string>
#include <string_view>

#include "algorithms/contract/passes.hpp"

namespace tilescope {

/// Parses "product:f32/scale+mask/softmax/product" or a name of `pass_lists`: / separates launches, + the passes of one
/// launch, and a colon precedes the type that it writes. Throws BadValue where the list is no graph of attention.
PassList passes_from(std::string_view text);
/// The text of a list, never a name; "" if the list is empty.
std::string name_of(const PassList& list);

/// What frameworks launch where they fuse nothing, by name: softmax(q @ k.T * scale) @ v in PyTorch, Hugging Face's
/// eager attention, PyTorch's MATH backend, and jax.nn.dot_product_attention by XLA.
struct NamedPasses {
    const char *name, *passes;
};
inline constexpr NamedPasses pass_lists[] = {
    {"typed", "product/scale/bias/mask/softmax/product"},
    {"transformers", "product/scale/bias/mask/softmax:f32/convert/product"},
    {"math",
     "convert:f32/scale:f32/product:f32/bias:f32/mask:f32/softmax:f32/seen/any/clear:f32/copy/product:f32/convert"},
    {"xla", "product:f32/softmax/product"}};

}  // namespace tilescope
