// The launches of a list of passes, with what each reads and writes.
#pragma once

#include <vector>

#include "algorithms/contract/algorithm.hpp"

namespace tilescope::standard {

enum class Does : std::uint8_t {
    input,     ///< makes another Q, K or V of one
    scores,    ///< S = Q K^T, and what changes its elements at once
    elements,  ///< one matrix of another, element by element
    rows,      ///< a number for each row of a matrix, and perhaps another matrix
    softmax,   ///< P of S, by whole rows
    output,    ///< O = P V
    result     ///< O in another type
};

/// Names of tensors; nullptr where there is none.
struct Step {
    Does does;
    const char* launch;
    std::vector<Pass> passes;
    const char* from;         ///< Q of scores, P of output
    const char* with;         ///< K of scores, V of output; m, l or any where rows have one
    const char* to;           ///< a matrix, or O
    const char* row_numbers;  ///< what `rows` writes for each of them
    Dtype type;               ///< of `to`

    bool has(Pass pass) const;
};

/// Of the problem's list, or of standard's own: without passes that have nothing to do, and with a soft-cap, biases and
/// a mask that the list does not name where their turn comes, in the launch before.
std::vector<Step> steps_of(const Problem& problem);
/// What the steps write but for O.
std::vector<TensorDecl> scratch_of(const Problem& problem);
/// The factor on Q and on K ahead of the product, and on the product itself: 1 where a pass of its own has it.
struct Factors {
    float inputs = 1, product = 1;
};
Factors factors_of(const Problem& problem);

/// What a step does to elements of tile (i, j) that is on chip, one pass after the other. `numbers` are its rows' m, l
/// or marks.
void change(Block& b, Tile& x, const Step& step, const Tile* numbers, const Tensors& t, const Problem& p, Span head,
            Span i, Span j);
/// A step that is neither a product nor a whole softmax.
void run_pass(Gpu& gpu, const Tensors& t, const Problem& p, Tiles rows, Tiles keys, const Step& step);

}  // namespace tilescope::standard
