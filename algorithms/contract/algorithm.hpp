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
#include "algorithms/contract/scores.hpp"
#include "core/machine/gpu.hpp"
#include "core/machine/ops.hpp"

namespace tilescope {

/// One line of an algorithm's pseudo-code.
struct CodeLine {
    std::uint16_t number;
    const char* code;
    const char* why;                 ///< one sentence: what happens here and why
    std::optional<Feature> of = {};  ///< nothing happens here without it: among the last lines
};

/// The declared tensors, by name.
class Tensors {
  public:
    /// A name, and where the program says it.
    struct Name {
        std::string_view name;
        Here here;
        template <std::convertible_to<std::string_view> Text>
        Name(const Text& text, Here at = Here::now()) : name(text), here(at) {}
    };

    void add(const char* name, Hbm tensor) { tensors_.emplace_back(name, tensor); }
    /// Misuse where none is declared by that name.
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
    const char* why;
};

/// algorithms/contract/kernel_description.hpp
struct KernelDescription;
/// Of an algorithm of which no kernel is known.
extern const KernelDescription no_kernel;

struct Algorithm {
    const char* name = "";   ///< its folder's name
    const char* title = "";  ///< its name as papers print it; empty: they print none
    const Computation* computes = nullptr;
    FeatureSet supports = {};
    int rung = 0;                         ///< position in its computation's ladder
    const char* idea = "";                ///< what it adds to the rung before, in a line
    const char* paper = "";               ///< source: paper, algorithm, lines
    std::span<const CodeLine> code = {};  ///< in order of line number
    /// What it reads, writes and needs as scratch; of its computation alone where it says nothing.
    std::function<std::vector<TensorDecl>(const Problem&, const Tiling&)> tensors = {};
    std::function<void(Gpu&, const Tensors&, const Problem&, const Tiling&)> run = {};
    Prediction (*predict)(const Problem&, const Tiling&,
                          const GpuSpec&) = nullptr;  ///< closed form, where there is one
    std::optional<Idealised> (*idealised)(const Problem&) = nullptr;
    Knobs knobs = tile_knobs;        ///< what a mapping chooses
    bool packs = false;              ///< its row blocks may have several heads' rows: see packed()
    const char* forward = nullptr;   ///< of a backward pass: the algorithm whose outputs it begins with
    const char* formerly = nullptr;  ///< its name in earlier versions, which people have typed and saved
    const KernelDescription* kernel = &no_kernel;
    const char* file = nullptr;  ///< of one that was added: where it came from
};

/// Every algorithm, by computation and rung, and after them those that were added. A reference to one stays valid.
const std::deque<Algorithm>& algorithms();
/// Adds one that has no folder here: from now on it is found by its name. Its texts and lines of code must outlive the
/// program. One that was added by the same name before is replaced. UsageError, which names `file`, where it is not
/// complete, or bears the name of one that has a folder. Not while anything runs.
const Algorithm& add_algorithm(Algorithm algorithm, const char* file);
/// By its name, or by its former one. nullptr when there is none.
const Algorithm* find_algorithm(std::string_view name);

/// Its pseudo-code as far as a problem has use for it.
std::span<const CodeLine> code_for(const Algorithm& algorithm, const Problem& problem);
/// A line of its pseudo-code without the indentation; empty where there is none of that number.
std::string code_of(const Algorithm& algorithm, std::uint16_t line);

/// What a problem asks for that an algorithm does not have, and the algorithms of the same computation that have it.
struct Refusal {
    Feature feature;
    std::vector<const Algorithm*> instead;
};
/// The one place that decides what an algorithm does not do; nullopt: it does all that the problem asks for.
std::optional<Refusal> refuses(const Algorithm& algorithm, const Problem& problem);

}  // namespace tilescope
