// The parts of a problem that not every computation has, and not every algorithm supports.
#pragma once

#include <cstdint>
#include <initializer_list>

namespace tilescope {

enum class Feature : std::uint8_t {
    head_dims,      ///< dim and dim_v
    grouped_heads,  ///< kv_heads below heads
    scale,          ///< a factor on the logits
    mask,           ///< a query sees keys up to its own place only (causal), or a window around it
    naive_softmax,  ///< without subtracting the maximum
    pages,          ///< K and V lie in pages
    block_mask,     ///< a query sees some blocks of keys only
    documents,      ///< a query sees keys of its own document only
    bias,           ///< a tensor is added to the logits
    alibi,          ///< logits fall with the distance between query and key
    soft_cap,       ///< logits go through cap tanh(s / cap)
    dropout,        ///< weights are dropped at random
    score_types,    ///< S or P are stored in another type than Q, K, V and O
    passes,         ///< launches follow a list, as in unfused graphs
    eight_bits,     ///< K and V, and possibly Q, have 8 bits
    accumulator,    ///< in how many bits sums of 8-bit products are kept
    hidden_rows,    ///< the output of a query that sees no key is not 0
    weight_range,   ///< P is multiplied by a constant, or the maximum of a row is a stale one
};
class FeatureSet {
  public:
    constexpr FeatureSet() = default;
    constexpr FeatureSet(std::initializer_list<Feature> features) {
        for (const Feature f : features) bits_ |= bit(f);
    }
    constexpr FeatureSet with(Feature f) const { return FeatureSet(bits_ | bit(f)); }
    constexpr bool has(Feature f) const { return (bits_ & bit(f)) != 0; }

  private:
    explicit constexpr FeatureSet(std::uint32_t bits) : bits_(bits) {}
    static constexpr std::uint32_t bit(Feature f) { return std::uint32_t{1} << static_cast<unsigned>(f); }
    std::uint32_t bits_ = 0;
};

}  // namespace tilescope
