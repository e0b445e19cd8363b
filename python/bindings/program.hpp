// A tile program in Python while it runs: its handles to the machine, which end when their C++ objects do.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "algorithms/contract/algorithm.hpp"
#include "python/bindings/errors.hpp"

namespace tilescope::python {

class OnSm;

/// "what, at source line 12 of my_kernel.py": the line that is being executed, or `here`.
std::string with_place(const std::string& what);
std::string with_place(const std::string& what, Here here);

/// One run of a program.
struct ProgramRun {
    Gpu* gpu = nullptr;           ///< nullptr once it is over
    const char* file = "";        ///< of the program
    Index first = 0, last = 0;    ///< the program's lines in it; 0: it calls at() itself
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
    /// Misuse where no tensor of that name is declared.
    InHbm at(const std::string& name) const;
    /// All tensors. ProgramError where `asking` is another run.
    const Tensors& of(const ProgramRun& asking) const;
};

/// A tile on chip. It is freed with this object, or when its thread block ends.
class OnChip {
  public:
    OnChip(OnSm& block, Tile tile);
    ~OnChip();
    OnChip(const OnChip&) = delete;
    OnChip& operator=(const OnChip&) = delete;

    /// The tile. ProgramError where it is of another thread block, or gone.
    Tile& of(const OnSm& block);
    const Tile& look() const;

  private:
    friend class OnSm;
    std::optional<Tile> tile_;
    OnSm* block_;
    std::size_t place_;  // index into OnSm::tiles_
};

/// A thread block, until it ends.
class OnSm {
  public:
    OnSm(Block& block, std::shared_ptr<ProgramRun> run) : block_(&block), run_(std::move(run)) { run_->block = this; }
    ~OnSm() { end(); }
    OnSm(const OnSm&) = delete;
    OnSm& operator=(const OnSm&) = delete;

    /// Frees every tile that is left.
    void end();
    /// An iteration of a loop begins: its first operation enters a line anew.
    void turn() { line_ = 0; }
    Index index() const;
    void at(Index line);

    const ProgramRun& run() const { return *run_; }
    /// The handle of a tensor of this run. ProgramError for one of another run.
    const Hbm& hbm(const InHbm& tensor) const;

    /// Executes an operation, f(Block&, Here), on the line of the program that asks for it. Misuse of the machine
    /// becomes a ProgramError with that line.
    template <class F>
    auto verb(F&& f) {
        Block& block = open();
        const Here here = enter(block);
        try {
            return f(block, here);
        } catch (const Placed&) {
            throw;
        } catch (const std::logic_error& e) {
            throw ProgramError(with_place(e.what(), here));
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
