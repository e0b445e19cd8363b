// Values of 8 bits have few exponents, so they are stored divided by a scale, by which products are multiplied again
// (FlashAttention-3, arXiv 2407.08608, section 3.3; its code has one for each head of K and V: hopper/flash_api.cpp).
#pragma once

#include <optional>

#include "algorithms/contract/problem.hpp"

namespace tilescope {

class Tensors;

/// Names of the tensors of scales; `of`: "Q", "K" or "V".
const char* scales_tensor(std::string_view of);

/// Loads, on this line of the pseudo-code, the scale of a head's S (that of K, times that of Q where Q has one) or of
/// its V: a tile of one element. Where there is none, the line is not visited.
std::optional<Tile> scale_of_scores(Block& b, const Problem& p, const Tensors& t, Span head, std::uint16_t line,
                                    Here here = Here::now());
std::optional<Tile> scale_of_values(Block& b, const Problem& p, const Tensors& t, Span head, std::uint16_t line,
                                    Here here = Here::now());
struct Scales {
    std::optional<Tile> of_scores, of_values;
};
Scales load_scales(Block& b, const Problem& p, const Tensors& t, Span head, std::uint16_t line,
                   Here here = Here::now());

/// How Q K^T (alpha: the factor on the logits) or P V is computed of stored values: in Q's type, where types differ.
Product of_stored(const Problem& p, const std::optional<Tile>& scale, float alpha = 1);

}  // namespace tilescope
