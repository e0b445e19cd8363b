// Data of a problem that change its logits or its softmax: biases, ALiBi and dropout.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/machine/units.hpp"

namespace tilescope {

/// A bias per key (k), or per query and key (qk); per head (h), or the same for all heads; per batch entry (b), per
/// group of consecutive batch entries (g, in place of b), or the same for all. Its name has the letters of its axes, in
/// order: "qk", "hqk", "bk", "ghqk".
struct BiasTerm {
    enum class Batch : std::uint8_t { shared, by_group, by_entry };
    Batch batch = Batch::shared;
    bool by_head = false, by_query = true;

    std::string axes() const;
    friend bool operator==(const BiasTerm&, const BiasTerm&) = default;
};

/// The sum of up to two terms. Evoformer's "bk+ghqk" has one per key and one per query and key.
struct Bias {
    std::vector<BiasTerm> terms;
    Index group = 1;  ///< consecutive batch entries that share a term by group

    explicit operator bool() const { return !terms.empty(); }
    bool has_groups() const;
    bool by_head_or_query() const;
    /// The slice of a term's tensor that a head reads; `head` counts over batch x heads.
    Index slice_of(const BiasTerm& term, Index head, Index heads) const;
    /// "bk+ghqk"
    std::string name() const;
    /// The terms of a bias's name; nullopt where it names no bias.
    static std::optional<std::vector<BiasTerm>> terms_from(std::string_view name);
    friend bool operator==(const Bias&, const Bias&) = default;
};

/// The names of the tensors of a bias's terms, in the order of the terms.
inline constexpr const char* bias_tensors[] = {"bias", "bias2"};
/// The names of their gradients, which have the same shapes.
inline constexpr const char* bias_gradients[] = {"dbias", "dbias2"};

/// ALiBi's slope of a head (Press et al., arXiv 2108.12409): 2^(-8 (head + 1) / heads) where heads is a power of two.
/// Else, with n the power below `heads`, the first n heads have the slopes of n heads, the others every second of 2 n.
float alibi_slope(Index head, Index heads);

/// Weights are dropped with probability p; core/machine/kept.hpp says which. The mask is drawn again wherever it is
/// needed. Where `stored`, it is drawn once before, into a tensor of bytes in HBM.
struct Dropout {
    double p = 0;
    std::uint64_t seed = 0;
    bool stored = false;

    explicit operator bool() const { return p > 0; }
    /// floor(255 (1 - p)): a weight is kept if its byte is at most this.
    int threshold() const;
    /// 1 / (1 - p): kept weights are multiplied by this.
    float factor() const;
    friend bool operator==(const Dropout&, const Dropout&) = default;
};

/// The tensor of a stored dropout mask.
inline constexpr const char* kept_tensor = "kept";

}  // namespace tilescope
