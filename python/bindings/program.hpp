// A tile program in Python while it runs: its handles to the machine, which can be used as long as their C++ objects
// live.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "algorithms/contract/algorithm.hpp"
#include "python/bindings/errors.hpp"

namespace tilescope::python {

class OnSm;

/// "`what`, at source line 12 of my_kernel.py": the Python line that is being executed, or `here`.
std::string with_place(const std::string& what);
std::string with_place(const std::string& what, Here here);

/// One run of a program.
struct ProgramRun {
    Gpu* gpu = nullptr;           ///< nullptr once the run is over
    const char* file = "";        ///< the program's file
    Index first = 0, last = 0;    ///< the program's lines in `file`; 0: the program calls at() itself
    const OnSm* block = nullptr;  ///< the thread block that is executed; nullptr between blocks
    const Tensors* declared = nullptr;

    Gpu& open(const char* what) const;
};

/// A handle to a tensor, for one run.
struct InHbm {
    Hbm tensor;
    std::string name;
    std::shared_ptr<const ProgramRun> run;
};

/// The tensors of a run, by name.
struct ByName {
    std::shared_ptr<const ProgramRun> run;
    /// Throws Misuse where no tensor of that name is declared.
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

    /// The tile. ProgramError where it belongs to another thread block, or is freed.
    Tile& of(const OnSm& block);
    const Tile& look() const;

  private:
    friend class OnSm;
    std::optional<Tile> tile_;
    OnSm* block_;
    std::size_t place_;  // index into OnSm::tiles_
};

/// A handle to a thread block, until the block ends.
class OnSm {
  public:
    OnSm(Block& block, std::shared_ptr<ProgramRun> run) : block_(&block), run_(std::move(run)) { run_->block = this; }
    ~OnSm() { end(); }
    OnSm(const OnSm&) = delete;
    OnSm& operator=(const OnSm&) = delete;

    /// Frees every tile that is left.
    void end();
    /// To be called where an iteration of a loop begins: its first operation then enters a line anew.
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

/// Runs `program`, a function (gpu, t, p, tile) on lines `first` to `last` of `file`. Thread blocks run on one thread.
void run_python(const py::object& program, const char* file, Index first, Index last, Gpu& gpu, const Tensors& t,
                const Problem& p, const Tiling& tile);

}  // namespace tilescope::python
