// The contract between an algorithm's folder and everything that runs it. docs/add-an-algorithm.md is its guide.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "algorithms/contract/problem.hpp"
#include "core/machine/ops.hpp"

namespace tilescope {

/// What kind of function an algorithm computes; decides its reference.
enum class Family : std::uint8_t {
    softmax,    ///< Y = softmax of the rows of X
    attention,  ///< O = softmax(scale Q K^T) V
};
const char* name_of(Family family);

/// One line of an algorithm's pseudo-code.
struct CodeLine {
    std::uint16_t number;
    const char* code;
    const char* why;  ///< one sentence: what happens here and why
};

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
};
TensorDecl declare(const Problem& problem, const char* name, Role role, Meaning meaning, Sliced sliced, Index rows,
                   Index cols, Dtype dtype);

/// The declared tensors, by name.
class Tensors {
  public:
    void add(const char* name, Hbm tensor) { tensors_.emplace_back(name, tensor); }
    Hbm operator[](std::string_view name) const;

  private:
    std::vector<std::pair<std::string_view, Hbm>> tensors_;
};

/// What closed forms say a run moves and computes.
struct Prediction {
    Bytes hbm_read = 0, hbm_write = 0;
    Count matmul_flops = 0, exps = 0, other_flops = 0;

    /// The same counts for n heads.
    Prediction times(Count n) const {
        return {n * hbm_read, n * hbm_write, n * matmul_flops, n * exps, n * other_flops};
    }
};

/// A paper's count that idealises what is executed here, and why the two differ.
struct Idealised {
    const char* name;
    Prediction count;
    const char* why;
};

struct Algorithm {
    const char* name;  ///< its folder's name
    Family family;
    int rung;                        ///< position in its family's ladder
    const char* idea;                ///< what it adds to the rung before, in a line
    const char* paper;               ///< source: paper, algorithm, lines
    std::span<const CodeLine> code;  ///< in order of line number
    std::vector<TensorDecl> (*tensors)(const Problem&, const Tiling&);
    void (*run)(Gpu&, const Tensors&, const Problem&, const Tiling&);
    Prediction (*predict)(const Problem&, const Tiling&, const GpuSpec&);
    std::optional<Idealised> (*idealised)(const Problem&) = nullptr;
    const char* formerly = nullptr;  ///< its name in earlier versions, which people have typed and saved
};

/// Every algorithm, by family and rung. Generated from the folders' names.
const std::vector<Algorithm>& algorithms();
/// By its name, or by its former one. nullptr when there is none.
const Algorithm* find_algorithm(std::string_view name);

/// The declarations that all attention algorithms share: Q, K, V in, O out.
std::vector<TensorDecl> attention_tensors(const Problem& problem);
/// X in, Y out.
std::vector<TensorDecl> softmax_tensors(const Problem& problem);

}  // namespace tilescope
