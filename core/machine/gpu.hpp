// The modelled GPU: tensors in HBM, and launches of grids of thread blocks over them.
#pragma once

#include <array>
#include <atomic>
#include <deque>
#include <functional>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "core/machine/chip_memory.hpp"
#include "core/machine/error.hpp"
#include "core/machine/gpu_spec.hpp"
#include "core/machine/storage.hpp"

namespace tilescope {

class Block;

/// What a run does besides counting. The same tile program runs in every mode.
struct Mode {
    bool data;                 ///< compute on real numbers
    bool fold;                 ///< run one of each set of promised-equal tiles and blocks, weighted; needs no data
    bool only_wanted = false;  ///< skip thread blocks that no listener wants (their costs are then missing; no data)
};
inline constexpr Mode numeric_mode{true, false};
inline constexpr Mode count_mode{false, true};
inline constexpr Mode exact_mode{false, false};

/// A way to follow a long run, and to stop it, from another thread.
struct Control {
    std::atomic<bool> stop{false};
    std::atomic<Index> blocks_done{0}, blocks_total{0};
};

enum class Role : std::uint8_t { input, output, scratch };
const char* name_of(Role role);

struct TensorInfo {
    std::string name;
    Role role;
    Dtype dtype;
    Index slices, rows, cols;
    std::shared_ptr<Storage> data;  ///< allocated by the Gpu in modes with data, unless given

    Index size() const { return slices * rows * cols; }
    Bytes bytes() const { return size() * size_of(dtype); }
};

/// A handle to one slice of a tensor in HBM. It has a shape and a name, and no way to its elements: only
/// Block::load, reload and store cross from here to the chip and back.
class Hbm {
  public:
    Index rows() const { return rows_; }
    Index cols() const { return cols_; }
    Dtype dtype() const { return dtype_; }
    Hbm slice(Index i) const {
        Hbm h = *this;
        h.slice_ = i;
        return h;
    }
    Hbm slice(Span one) const { return slice(one.begin); }

  private:
    friend class Gpu;
    friend class Block;
    Hbm(TensorId id, const TensorInfo& t)
        : name_(t.name.c_str()), slices_(t.slices), rows_(t.rows), cols_(t.cols), id_(id), dtype_(t.dtype) {}

    const char* name_;
    Index slices_, rows_, cols_, slice_ = 0;
    TensorId id_;
    Dtype dtype_;
};

/// One axis of a launch's grid: a thread block per tile.
struct Axis {
    Tiles tiles;
    bool uniform;
};
/// An axis that promises that the blocks of all full tiles cost the same. Counting runs one of them; exact modes check.
inline Axis uniform(Tiles t) { return {t, true}; }
inline Axis uniform(Index n) { return {Tiles(n, 1), true}; }
/// An axis that promises nothing: every block runs.
inline Axis each(Tiles t) { return {t, false}; }

/// A `uniform` range whose members did not cost the same: a mistake in a tile program.
struct BrokenPromise : std::logic_error {
    using std::logic_error::logic_error;
};

/// What a launch took, over all of its thread blocks.
struct LaunchInfo {
    const char* kernel;
    Count thread_blocks = 0;
    Bytes sram_peak = 0, register_peak = 0;  ///< the most that one thread block held at a time
};

/// What one thread of the simulator keeps while it runs thread blocks; merged at the end of a launch.
struct Worker {
    Worker(ChipCapacity capacity, bool data) : chip(capacity, data) {}

    ChipMemory chip;
    Counters total;
    std::vector<Traffic> traffic;      // by tensor
    std::uint64_t fingerprint = 0;     // of what moved for which tensor, and of the tiles made: see `mark`
    std::vector<Listener*> listeners;  // those that want the current block
    std::vector<float> scratch;        // for operands that have to be rounded

    /// Adds `bytes` of the kind-th thing to the fingerprint. Promises compare fingerprints, so that equal totals cannot
    /// hide bytes of another tensor or tiles of another size.
    void mark(std::uint64_t kind, Bytes bytes, Count times) {
        fingerprint += (kind + 1) * 0x9e3779b97f4a7c15u * static_cast<std::uint64_t>(bytes * times);
    }
};

class Gpu {
  public:
    /// `threads` is how many host threads run thread blocks (0: all cores); results do not depend on it.
    explicit Gpu(const GpuSpec& spec, Mode mode, int threads = 0, Control* control = nullptr);

    const GpuSpec& spec() const { return spec_; }
    Mode mode() const { return mode_; }
    Bytes capacity(Space s) const { return main_.chip.capacity().of(s); }

    /// Places a tensor in HBM. At most 65,534 tensors.
    Hbm add(TensorInfo tensor);
    /// Sends every event of later launches to `listener`, which must outlive the Gpu. Launches then run on one thread.
    void listen(Listener& listener) { listeners_.push_back(&listener); }
    /// Records a remark for the user, once: a choice the program made that explains its counts.
    void note(std::string text);

    /// Runs body(Block&, Span...) for every thread block of the grid, one Span per axis, the first axis outermost.
    /// Throws OutOfChipMemory, BrokenPromise, Interrupted. `kernel` must be a string literal.
    template <class F>
    void launch(const char* kernel, std::initializer_list<Axis> axes, F&& body);

    const std::deque<TensorInfo>& tensors() const { return tensors_; }
    const Counters& total() const { return main_.total; }
    const Traffic& traffic(TensorId t) const { return main_.traffic[t]; }
    const std::vector<LaunchInfo>& launches() const { return launches_; }
    /// The most bytes that one thread block held at a time, over all launches.
    Bytes peak(Space s) const;
    Bytes hbm_footprint() const;
    const std::vector<std::string>& notes() const { return notes_; }

  private:
    friend class Block;
    using Body = std::function<void(Block&, const Span*)>;

    void run(const char* kernel, std::span<const Axis> axes, const Body& body);
    void run_folded(std::span<const Axis> axes, const Body& body);
    void run_exact(const char* kernel, std::span<const Axis> axes, const Body& body);
    void run_block(Worker& w, Index block, Count weight, const Span* at, const Body& body);
    void merge(Worker& w);
    void check_stop() const {
        if (control_ && control_->stop.load(std::memory_order_relaxed)) throw Interrupted();
    }

    const GpuSpec spec_;
    const Mode mode_;
    int threads_;
    Control* control_;
    std::deque<TensorInfo> tensors_;  // a deque: handles keep pointers to the names
    std::vector<Listener*> listeners_;
    std::vector<std::string> notes_;
    Worker main_;
    std::vector<LaunchInfo> launches_;
};

}  // namespace tilescope

#include "core/machine/block.hpp"

template <class F>
void tilescope::Gpu::launch(const char* kernel, std::initializer_list<Axis> axes, F&& body) {
    constexpr bool one = std::is_invocable_v<F, Block&, Span>;
    constexpr bool two = std::is_invocable_v<F, Block&, Span, Span>;
    constexpr std::size_t arity = one ? 1 : two ? 2 : 3;
    if (axes.size() != arity) throw std::logic_error("launch: the body takes another number of spans than axes given");
    run(kernel, {axes.begin(), axes.size()}, [&body](Block& b, const Span* at) {
        if constexpr (one)
            body(b, at[0]);
        else if constexpr (two)
            body(b, at[0], at[1]);
        else
            body(b, at[0], at[1], at[2]);
    });
}
