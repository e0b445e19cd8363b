// The parts of a problem that not every computation has, and not every algorithm supports.
#pragma once

#include <cstdint>
#include <initializer_list>

namespace tilescope {

enum class Feature : std::uint8_t {
    head_dims,      ///< dim and dim_v
    grouped_heads,  ///< kv_heads below heads
    scale,          ///< a factor on the logits
    mask,           ///< a query sees some keys only
    naive_softmax,  ///< without subtracting the maximum
};
/// As people call it: "a mask", "the naive softmax".
const char* name_of(Feature feature);
inline constexpr Feature all_features[] = {Feature::head_dims, Feature::grouped_heads, Feature::scale, Feature::mask,
                                           Feature::naive_softmax};

class FeatureSet {
  public:
    constexpr FeatureSet() = default;
    constexpr FeatureSet(std::initializer_list<Feature> features) {
        for (const Feature f : features) bits_ |= bit(f);
    }
    constexpr bool has(Feature f) const { return (bits_ & bit(f)) != 0; }

  private:
    static constexpr std::uint32_t bit(Feature f) { return std::uint32_t{1} << static_cast<unsigned>(f); }
    std::uint32_t bits_ = 0;
};

}  // namespace tilescope
