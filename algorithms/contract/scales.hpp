// Values of 8 bits have few exponents, so they are stored divided by a scale, by which products are multiplied again
// (FlashAttention-3, arXiv 2407.08608, section 3.3, with a scale for each block of Q, K and V; its code has one for
// each head of K and V: hopper/flash_api.cpp).
#pragma once

#include <optional>
#include <string_view>

#include "algorithms/contract/problem.hpp"

namespace tilescope {

class Tensors;

/// Names of the tensors of scales; `of`: "Q", "K" or "V".
const char* scales_tensor(std::string_view of);
/// Rows of Q (of packed heads, too), K or V that share a scale; rows of a whole slice, where those of a head do.
Index rows_of_a_scale(const Problem& problem, std::string_view of);

/// The scales of a head's Q, K and V, as a thread block needs them. Those of a tensor or of a head are loaded at once,
/// on the line of the pseudo-code that is given; those of blocks as take_queries(), take_keys() and take_values() ask
/// for them, on the same line. Where values have no scale, nothing is loaded, and the line is not visited.
///
/// A scale of Q is a factor of rows of Q K^T, and a single scale of a tile's K or V a factor of its product: these are
/// free. Where a tile of K has several, S is multiplied by them; where one of V has several, P is, by each over the
/// greatest of them, which leaves the numbers of P where its type has most of them.
class Scales {
  public:
    enum class For : std::uint8_t { scores, values, both };
    Scales(Block& b, const Problem& p, const Tensors& t, Span head, std::uint16_t line, For what = For::both,
           Here here = Here::now());

    void take_queries(Block& b, Span i, Here here = Here::now());
    void take_keys(Block& b, Span j, Here here = Here::now());
    void take_values(Block& b, Span j, Here here = Here::now());

    /// How Q K^T (alpha: the factor on the logits) and P V are computed of what is stored: in Q's type, where types
    /// differ. Valid until more is taken.
    Product of_scores(Block& b, float alpha, Here here = Here::now());
    Product of_values() const;
    /// After Q K^T, before anything else is done to S; and before P V, after row sums of P.
    void scale_scores(Block& b, Tile& s, Here here = Here::now()) const;
    void scale_weights(Block& b, Tile& p, Here here = Here::now()) const;

  private:
    /// Scales of some rows of Q, K or V, and which row has which.
    struct Taken {
        std::optional<Tile> scales;
        Stairs stairs = {};
        bool several() const { return scales && scales->size() > 1; }
    };
    void load(Block& b, Taken& to, const char* of, Span rows, Here here);
    void join(Block& b, Here here);
    Product product(float alpha, const Taken& by) const;

    const Problem& p_;
    const Tensors& t_;
    const Span head_;
    const std::uint16_t line_;
    Taken queries_, keys_, values_;
    std::optional<Tile> joined_;    // scales of Q times a single one of K
    std::optional<Tile> greatest_;  // of V's, where there are several
};

}  // namespace tilescope
