// The launches of a list of passes, and the tensors that each reads and writes.
#pragma once

#include <vector>

#include "algorithms/contract/algorithm.hpp"

namespace tilescope::standard {

enum class Does : std::uint8_t {
    input,     ///< converts or scales Q, K or V
    scores,    ///< S = Q K^T, and the element passes of the same launch
    elements,  ///< a matrix from another one, element by element
    rows,      ///< a number for each row of a matrix, and perhaps another matrix
    softmax,   ///< P from S, by whole rows
    output,    ///< O = P V
    result     ///< O in another type
};

/// A launch. Strings are names of tensors; nullptr where there is none.
struct Step {
    Does does;
    const char* launch;
    std::vector<Pass> passes;
    const char* from;         ///< what the launch reads: Q for scores, P for output
    const char* with;         ///< K for scores, V for output; m, l or any where an element pass reads a number per row
    const char* to;           ///< a matrix, or O
    const char* row_numbers;  ///< what `rows` writes: a number for each row
    Dtype type;               ///< of `to`

    bool has(Pass pass) const;
};

/// The steps of the problem's list of passes, or of standard's own list. Passes with nothing to do are left out. A
/// soft-cap, biases and a mask that the list does not name are done in their order, in the launch of the pass before.
std::vector<Step> steps_of(const Problem& problem);
/// What the steps write, except O.
std::vector<TensorDecl> scratch_of(const Problem& problem);
/// The factors on Q and K before the product, and on the product. A factor that a pass of its own applies is 1 here.
struct Factors {
    float inputs = 1, product = 1;
};
Factors factors_of(const Problem& problem);

/// Applies the element passes of a step to tile (i, j), which is on chip. `numbers` are m, l or marks of its rows.
void change(Block& b, Tile& x, const Step& step, const Tile* numbers, const Tensors& t, const Problem& p, Span head,
            Span i, Span j);
/// Runs a step that is neither a product nor a whole softmax.
void run_pass(Gpu& gpu, const Tensors& t, const Problem& p, Tiles rows, Tiles keys, const Step& step);

}  // namespace tilescope::standard
