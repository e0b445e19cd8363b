// What is added to the logits besides Q K^T, and what else is done to them and to their softmax: data of a problem.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/machine/units.hpp"

namespace tilescope {

/// A bias per key, or per query and key; with or without heads of its own; of each batch entry, or of each group of so
/// many in a row, or the same for all. In letters, in the order of its axes: "qk", "hqk", "bk", "ghqk".
struct BiasTerm {
    enum class Batch : std::uint8_t { shared, by_group, by_entry };
    Batch batch = Batch::shared;
    bool by_head = false, by_query = true;

    std::string axes() const;
    friend bool operator==(const BiasTerm&, const BiasTerm&) = default;
};

/// Up to two of them, which are added up: a bias per key and one per pair is Evoformer's "bk+ghqk".
struct Bias {
    std::vector<BiasTerm> terms;
    Index group = 1;  ///< consecutive batch entries that share a term by group

    explicit operator bool() const { return !terms.empty(); }
    bool has_groups() const;
    bool by_head_or_query() const;
    /// Of a term's tensor: the slice that a head reads, of batch x heads of them.
    Index slice_of(const BiasTerm& term, Index head, Index heads) const;
    /// "bk+ghqk"
    std::string name() const;
    /// nullopt for what is none.
    static std::optional<std::vector<BiasTerm>> terms_from(std::string_view name);
    friend bool operator==(const Bias&, const Bias&) = default;
};

/// The tensors' names, in order.
inline constexpr const char* bias_tensors[] = {"bias", "bias2"};
/// Of their gradients, which have the same shapes.
inline constexpr const char* bias_gradients[] = {"dbias", "dbias2"};

/// ALiBi's slope of a head (Press et al., arXiv 2108.12409): 2^(-8 (head + 1) / heads) where heads is a power of two.
/// Else the first ones have the slopes of the power below, and the others every second one of the power above.
float alibi_slope(Index head, Index heads);

/// Weights are dropped with probability p: see core/machine/kept.hpp for which. Either drawn again where they are
/// needed, or before, once for all, into a tensor of bytes in HBM.
struct Dropout {
    double p = 0;
    std::uint64_t seed = 0;
    bool stored = false;

    explicit operator bool() const { return p > 0; }
    /// floor(255 (1 - p)): a byte up to it is kept.
    int threshold() const;
    /// Of what is kept: 1 / (1 - p).
    float factor() const;
    friend bool operator==(const Dropout&, const Dropout&) = default;
};

/// The tensor of a mask that is stored.
inline constexpr const char* kept_tensor = "kept";

}  // namespace tilescope
