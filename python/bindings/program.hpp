// A tile program in Python while it runs: what it holds of the machine, which ends when C++'s does.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "algorithms/contract/algorithm.hpp"
#include "python/bindings/errors.hpp"

namespace tilescope::python {

class OnSm;

/// "what, at source line 12 of my_kernel.py": the line that is being executed.
std::string with_place(const std::string& what);

/// One run of a program.
struct ProgramRun {
    Gpu* gpu = nullptr;           ///< nullptr once it is over
    const char* file = "";        ///< of the program
    Index first = 0, last = 0;    ///< its lines there; none where it says at() itself
    const OnSm* block = nullptr;  ///< the thread block that runs
    const Tensors* declared = nullptr;

    Gpu& open(const char* what) const;
};

/// A handle to a tensor, of one run.
struct InHbm {
    Hbm tensor;
    std::string name;
    std::shared_ptr<const ProgramRun> run;
};

/// The tensors of a run, by name.
struct ByName {
    std::shared_ptr<const ProgramRun> run;
    /// Misuse where none is declared by that name.
    InHbm at(const std::string& name) const;
    /// All of them, for that run. ProgramError for another one.
    const Tensors& of(const ProgramRun& asking) const;
};

/// A tile on chip, given back with its object, or with its thread block.
class OnChip {
  public:
    OnChip(OnSm& block, Tile tile);
    ~OnChip();
    OnChip(const OnChip&) = delete;
    OnChip& operator=(const OnChip&) = delete;

    /// The tile, for that thread block. ProgramError where it is another's, or gone.
    Tile& of(const OnSm& block);
    const Tile& look() const;

  private:
    friend class OnSm;
    std::optional<Tile> tile_;
    OnSm* block_;
    std::size_t place_;  // among those of the block
};

/// A thread block, until it ends.
class OnSm {
  public:
    OnSm(Block& block, std::shared_ptr<ProgramRun> run) : block_(&block), run_(std::move(run)) { run_->block = this; }
    ~OnSm() { end(); }
    OnSm(const OnSm&) = delete;
    OnSm& operator=(const OnSm&) = delete;

    /// Gives back every tile that is left.
    void end();
    /// A turn of a loop begins: its first operation enters a line anew.
    void turn() { line_ = 0; }
    Index index() const;
    void at(Index line);

    const ProgramRun& run() const { return *run_; }
    /// The handle, for this run. ProgramError for one of another.
    const Hbm& hbm(const InHbm& tensor) const;

    /// f(Block&, Here): an operation, on the line of the program that asks for it. What the program may not do is a
    /// ProgramError with that line.
    template <class F>
    auto verb(F&& f) {
        Block& block = open();
        const Here here = enter(block);
        try {
            return f(block, here);
        } catch (const Placed&) {
            throw;
        } catch (const std::logic_error& e) {
            throw ProgramError(e.what() + (", at " + source_of(here)));
        }
    }

  private:
    friend class OnChip;
    Block& open() const;
    Here enter(Block& block);

    Block* block_;
    std::shared_ptr<ProgramRun> run_;
    std::vector<OnChip*> tiles_;
    std::uint32_t line_ = 0;
};

/// Runs `program`, a function (gpu, t, p, tile) on these lines of its file, on one thread.
void run_python(const py::object& program, const char* file, Index first, Index last, Gpu& gpu, const Tensors& t,
                const Problem& p, const Tiling& tile);

}  // namespace tilescope::python
