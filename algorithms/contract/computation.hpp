// A computation as a value: its tensors, its mathematics in double precision, and the parts of a problem that it uses.
// algorithms/attention/computation.cpp and its neighbours define them.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "algorithms/contract/problem.hpp"

namespace tilescope {

class Storage;

/// The slices of a tensor: one for each head of every batch entry, for each head of K and V, or for each batch entry;
/// `whole`: one for all, or as TensorDecl::round says.
enum class Sliced : std::uint8_t { by_head, by_kv_head, by_batch, whole };

/// A tensor in HBM that an algorithm reads, writes or needs as scratch: slices x rows x cols.
struct TensorDecl {
    const char* name;
    Role role;
    Meaning meaning;
    Sliced sliced;
    Index slices, rows, cols;
    Dtype dtype;
    bool in_pages = false;           ///< stored in pages: see Problem::pages
    bool saved = false;              ///< an input that Computation::saved computes from the others
    const char* scale_of = nullptr;  ///< of scales: the name of the tensor whose values of 8 bits they scale
    bool zeroed = false;             ///< no input, but 0 before the run: whoever allocates it clears it
    /// Which slice a head reads, where slices are not spread evenly over the heads. Every `round` consecutive heads
    /// have s slices of their own, s = slices x round / (batch x heads); the h-th head of a round reads number (h /
    /// heads_per_slice) mod s of them. round = 0: evenly.
    Index heads_per_slice = 0, round = 0;
    Meaning gradient_of = Meaning::other;  ///< of a gradient: the meaning of the tensor that it is the gradient of
};
TensorDecl declare(const Problem& problem, const char* name, Role role, Meaning meaning, Sliced sliced, Index rows,
                   Index cols, Dtype dtype);
/// Declares the gradient of a tensor whose meaning is `of`.
TensorDecl declare_gradient(const Problem& problem, const char* name, Role role, Meaning of, Sliced sliced, Index rows,
                            Index cols, Dtype dtype);

/// Values of the tensors that exist before a run, by name. Shared: many runs may read them, none writes them.
using Inputs = std::map<std::string, std::shared_ptr<Storage>, std::less<>>;

/// Rows of outputs in double precision, row-major, by name.
using ReferenceRows = std::map<std::string, std::vector<double>, std::less<>>;

/// What the mathematics computes for each pair of a query and a key that it sees. A program may compute more.
struct Needs {
    Index over_dim = 0, over_dim_v = 0, other_flops = 0;  ///< multiply-adds: over_dim d + over_dim_v d_v; other FLOPs
};

struct Computation {
    const char* name;     ///< "attention"
    const char* title;    ///< the message over a list of its algorithms
    const char* slice;    ///< what one slice of a tensor is called: "head"
    const char* output;   ///< the main output: "O"
    bool accumulates;     ///< the output grows on chip, step by step
    FeatureSet features;  ///< the parts of Problem that mean something here
    Needs needs;
    const char* file_flag;  ///< the flag of the first input's file: "--q"
    /// Inputs and outputs that all its algorithms have, and the dropout mask where that is stored.
    std::vector<TensorDecl> (*tensors)(const Problem&);
    /// Rows [rows.begin, rows.end()) of one batch x head slice of every output that the mathematics defines.
    ReferenceRows (*reference)(const Problem&, const Inputs&, Index slice, Span rows);
    /// Rows [keys.begin, keys.end()) of one batch x K/V head slice of every output that has a row for each key.
    ReferenceRows (*reference_of_keys)(const Problem&, const Inputs&, Index slice, Span keys) = nullptr;
    /// Rows [rows.begin, rows.end()) of a slice of the gradient of bias number `bias`.
    ReferenceRows (*reference_of_bias)(const Problem&, const Inputs&, std::size_t bias, Index slice,
                                       Span rows) = nullptr;
    /// Rows of the inputs that an earlier pass saved, computed from the other inputs; arguments as of `reference`.
    ReferenceRows (*saved)(const Problem&, const Inputs&, Index slice, Span rows) = nullptr;
};

namespace computation {
/// O = softmax(scale Q K^T) V; with it LSE, the log-sum-exp of each row of logits, m, their maximum, and l, the sum of
/// exp(logit - m). Rows that see no key have O = 0, l = 0, m = LSE = -inf, or Mask::hidden_rows().
extern const Computation attention;
/// dQ, dK and dV: gradients of the sum of dO * O. The attention above saved O and LSE and, where an algorithm asks for
/// them, P, m and l. dK and dV of a K/V head are sums over the query heads that share it; dbias sums over all scores
/// that share an element of the bias. Rows that see no key, and keys that no row sees, have gradients of 0.
extern const Computation attention_backward;
/// Y = softmax of the rows of X.
extern const Computation softmax;
}  // namespace computation

/// The features that most loops over tiles of queries and keys support.
inline constexpr FeatureSet attention_features{Feature::head_dims, Feature::grouped_heads, Feature::scale,
                                               Feature::mask,      Feature::block_mask,    Feature::documents};
/// The features that programs with a call of finish_scores() support; and those of all forward programs.
inline constexpr FeatureSet score_features =
    attention_features.with(Feature::bias).with(Feature::alibi).with(Feature::soft_cap);
inline constexpr FeatureSet forward_features = score_features.with(Feature::eight_bits).with(Feature::hidden_rows);

/// The tensor of page numbers where K and V lie in pages: [batch, pages of a sequence, 1].
inline constexpr const char* page_table = "table";

/// All computations, in the order in which they are listed.
const std::vector<const Computation*>& computations();

}  // namespace tilescope
