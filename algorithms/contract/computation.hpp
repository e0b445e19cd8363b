// What is computed, as a value: its tensors, its mathematics in double precision, and which parts of a problem mean
// something to it. algorithms/attention/computation.cpp and its neighbours have them.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "algorithms/contract/problem.hpp"

namespace tilescope {

class Storage;

/// Of what a tensor has a slice: of every head of every batch entry, of every head of K and V, of every batch entry; or
/// it has one slice in all.
enum class Sliced : std::uint8_t { by_head, by_kv_head, by_batch, whole };

/// A tensor in HBM that an algorithm reads, writes or needs as scratch: slices x rows x cols.
struct TensorDecl {
    const char* name;
    Role role;
    Meaning meaning;
    Sliced sliced;
    Index slices, rows, cols;
    Dtype dtype;
    bool in_pages = false;  ///< as Problem::pages has them
    bool saved = false;     ///< an input that follows from the others: Computation::saved has it
    bool zeroed = false;    ///< no input, and all 0 before the run: whoever allocates it has seen to that
    /// Where heads find their slices, if not so many in a row have one and there is one for each: head /
    /// heads_per_slice counts slices, and begins again with every slice that a round of heads has; each round has
    /// others.
    Index heads_per_slice = 0, round = 0;
    Meaning gradient_of = Meaning::other;  ///< of a gradient: what the numbers are that it belongs to
};
TensorDecl declare(const Problem& problem, const char* name, Role role, Meaning meaning, Sliced sliced, Index rows,
                   Index cols, Dtype dtype);
/// The same of a gradient of numbers that are `of`.
TensorDecl declare_gradient(const Problem& problem, const char* name, Role role, Meaning of, Sliced sliced, Index rows,
                            Index cols, Dtype dtype);

/// Values of the tensors that exist before a run, by name. Shared: many runs may read them, none writes them.
using Inputs = std::map<std::string, std::shared_ptr<Storage>, std::less<>>;

/// Rows of outputs in double precision, row-major, by name.
using ReferenceRows = std::map<std::string, std::vector<double>, std::less<>>;

/// What the mathematics needs for a pair of a query and a key that it sees, whatever a program computes besides.
struct Needs {
    Index over_dim = 0, over_dim_v = 0, other_flops = 0;  ///< multiply-adds for each of d and of d_v numbers, FLOPs
};

struct Computation {
    const char* name;     ///< "attention"
    const char* title;    ///< over a list of its algorithms: "Attention"
    const char* slice;    ///< what one slice of a tensor is called: "head"
    const char* output;   ///< the tensor that users come for: "O"
    bool accumulates;     ///< the output grows on chip, step by step
    FeatureSet features;  ///< the parts of Problem that mean something here
    Needs needs;
    const char* file_flag;  ///< the flag of the first input's file: "--q"
    /// Inputs and output: what every algorithm of it has; and a mask for dropout, where that is stored.
    std::vector<TensorDecl> (*tensors)(const Problem&);
    /// Rows [rows.begin, rows.end()) of one batch x head slice of every output that the mathematics has.
    ReferenceRows (*reference)(const Problem&, const Inputs&, Index slice, Span rows);
    /// Rows [keys.begin, keys.end()) of one batch x K/V head slice of every output that has a row for each key.
    ReferenceRows (*reference_of_keys)(const Problem&, const Inputs&, Index slice, Span keys) = nullptr;
    /// Rows [rows.begin, rows.end()) of a slice of the gradient of the bias of that number.
    ReferenceRows (*reference_of_bias)(const Problem&, const Inputs&, std::size_t bias, Index slice,
                                       Span rows) = nullptr;
    /// Rows of inputs that follow from the others, as those of outputs: what an earlier pass saved.
    ReferenceRows (*saved)(const Problem&, const Inputs&, Index slice, Span rows) = nullptr;
};

namespace computation {
/// O = softmax(scale Q K^T) V; with it LSE, the log-sum-exp of each row of logits, m, their maximum, and l, the sum of
/// exp(logit - m). Rows that see no key have O = 0, l = 0, m = LSE = -inf.
extern const Computation attention;
/// dQ, dK and dV: gradients of the sum of dO * O, of which the attention above saved O and LSE, and, for those who ask,
/// P, m and l. dK and dV are those of a head of K and V: sums over the query heads that share it; dbias is one of a
/// bias: a sum over what shares an element of it. Rows that see no key, and keys that no row sees, have gradients of 0.
extern const Computation attention_backward;
/// Y = softmax of the rows of X.
extern const Computation softmax;
}  // namespace computation

/// What most loops over tiles of queries and keys can do.
inline constexpr FeatureSet attention_features{Feature::head_dims, Feature::grouped_heads, Feature::scale,
                                               Feature::mask,      Feature::block_mask,    Feature::documents};

/// The same where scores are finished by finish_scores().
inline constexpr FeatureSet score_features =
    attention_features.with(Feature::bias).with(Feature::alibi).with(Feature::soft_cap);

/// The table of a problem whose K and V lie in pages: [batch, pages of a sequence, 1].
inline constexpr const char* page_table = "table";

/// All, in the order in which they are listed.
const std::vector<const Computation*>& computations();

}  // namespace tilescope
