// The contract between an algorithm's folder and everything that runs it. docs/add-an-algorithm.md is its guide.
#pragma once

#include <concepts>
#include <deque>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "algorithms/contract/computation.hpp"
#include "algorithms/contract/knobs.hpp"
#include "core/machine/gpu.hpp"
#include "core/machine/ops.hpp"

namespace tilescope {

/// One line of an algorithm's pseudo-code. `why` says in a sentence what happens on the line and why. Where `why` is
/// nullptr, the sentence stands in en.txt in the algorithm's folder.
struct CodeLine {
    std::uint16_t number;
    const char* code;
    const char* why = nullptr;
    std::optional<Feature> of = {};  ///< the line runs only where a problem uses this feature; such lines stand last
};

/// The declared tensors, by name.
class Tensors {
  public:
    /// The name of a tensor, and where the program asks for it.
    struct Name {
        std::string_view name;
        Here here;
        template <std::convertible_to<std::string_view> Text>
        Name(const Text& text, Here at = Here::now()) : name(text), here(at) {}
    };

    void add(const char* name, Hbm tensor) { tensors_.emplace_back(name, tensor); }
    /// Throws Misuse where no tensor of that name is declared.
    Hbm operator[](Name name) const;

  private:
    std::vector<std::pair<std::string_view, Hbm>> tensors_;
};

/// What closed forms say a run moves and computes.
struct Prediction {
    Bytes hbm_read = 0, hbm_write = 0;
    Count matmul_flops = 0, exps = 0, other_flops = 0;
    Bytes hbm_reduce = 0;

    Bytes hbm() const { return hbm_read + hbm_write + hbm_reduce; }
    /// The same counts for n heads.
    Prediction times(Count n) const {
        return {n * hbm_read, n * hbm_write, n * matmul_flops, n * exps, n * other_flops, n * hbm_reduce};
    }
    friend Prediction operator+(const Prediction& a, const Prediction& b) {
        return {a.hbm_read + b.hbm_read, a.hbm_write + b.hbm_write,     a.matmul_flops + b.matmul_flops,
                a.exps + b.exps,         a.other_flops + b.other_flops, a.hbm_reduce + b.hbm_reduce};
    }
};

/// A paper's count that idealises what is executed here, and why the two differ.
struct Idealised {
    const char* name;
    Prediction count;
    std::string why;
};

/// What is published of an algorithm.
struct Paper {
    const char* title = "";                                           ///< the algorithm's name, where it has one
    const char* source = "";                                          ///< paper, algorithm, lines
    std::optional<Idealised> (*idealised)(const Problem&) = nullptr;  ///< the paper's count
};

/// Where an algorithm stands among the others, and where it came from.
struct Lineage {
    int rung = 0;                    ///< position in its computation's ladder
    const char* forward = nullptr;   ///< of a backward pass: the forward algorithm whose outputs it reads
    const char* formerly = nullptr;  ///< its name in earlier versions, which people have typed and saved
    const char* file = nullptr;      ///< the file that an added algorithm came from; nullptr for others
};

/// Defined in algorithms/contract/kernel_description.hpp.
struct KernelDescription;
/// The description of an algorithm that has no known kernel.
extern const KernelDescription no_kernel;

struct Algorithm {
    const char* name = "";  ///< its folder's name
    Lineage lineage = {};
    const Computation* computes = nullptr;
    FeatureSet supports = {};
    const char* idea = "";  ///< only of an added algorithm; others say it in en.txt: see idea_of()
    Paper paper = {};
    std::span<const CodeLine> code = {};  ///< in order of line number
    /// The tensors that the algorithm reads, writes or needs as scratch. Empty: the tensors of its computation.
    std::function<std::vector<TensorDecl>(const Problem&, const Tiling&)> tensors = {};
    std::function<void(Gpu&, const Tensors&, const Problem&, const Tiling&)> run = {};
    Prediction (*predict)(const Problem&, const Tiling&, const GpuSpec&) = nullptr;  ///< closed form, if any
    Knobs knobs = tile_knobs;  ///< the numbers of a Tiling that users can choose
    bool packs = false;        ///< a row block may hold rows of several heads: see packed()
    const KernelDescription* kernel = &no_kernel;
};

/// All algorithms, by computation and rung, then the added ones. A reference to an algorithm stays valid.
const std::deque<Algorithm>& algorithms();
/// Finds an algorithm by its name or former name. nullptr when there is none.
const Algorithm* find_algorithm(std::string_view name);

}  // namespace tilescope
