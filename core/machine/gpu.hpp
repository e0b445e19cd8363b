// The modelled GPU: tensors in HBM, and launches of grids of thread blocks over them.
#pragma once

#include <deque>
#include <initializer_list>
#include <memory>
#include <span>
#include <stdexcept>
#include <type_traits>
#include <vector>

#include "core/machine/block.hpp"

namespace tilescope {

struct Control;
struct Counters;
struct GpuSpec;
struct LaunchInfo;
struct Listener;
struct Mode;
struct TensorInfo;
struct Traffic;

class Gpu {
  public:
    /// `threads` is how many host threads run thread blocks (0: all cores); results do not depend on it.
    explicit Gpu(const GpuSpec& spec, Mode mode, int threads = 0, Control* control = nullptr);
    ~Gpu();

    const GpuSpec& spec() const;
    Mode mode() const;
    Bytes capacity(Space s) const;

    /// Places a tensor in HBM. A Gpu has at most 65,535 tensors, and all that lie in pages have the same page size.
    Hbm add(TensorInfo tensor);
    /// Sends every event of later launches to `listener`, which must outlive the Gpu. Launches then run on one thread.
    /// Throws std::logic_error where the mode cannot give what the listener needs.
    void listen(Listener& listener);
    /// Records a remark for the user: a choice of the program that explains its counts. Keeps equal remarks once.
    void note(std::string text);

    /// Runs body(Block&, Span...) for every thread block of the grid, one Span per axis, the first axis outermost.
    /// Throws OutOfChipMemory, BrokenPromise, Race, Interrupted. `kernel` must be a string literal.
    template <class F>
    void launch(const char* kernel, std::initializer_list<Axis> axes, F&& body, Here here = Here::now());

    const std::deque<TensorInfo>& tensors() const;
    const Counters& total() const;
    const Traffic& traffic(TensorId t) const;
    const std::vector<LaunchInfo>& launches() const;
    Here last() const;          ///< the operation that was carried out last, also where a program failed; line 0: none
    Bytes peak(Space s) const;  ///< the most that one thread block held at a time, over all launches
    Bytes hbm_footprint() const;
    std::vector<std::string> notes() const;  ///< the last ones say which tiles had numbers beyond the end of their type

  private:
    friend class Block;
    struct Launch;
    struct State;
    using Body = std::function<void(Block&, const Span*)>;

    [[noreturn]] static void refuse_body();
    void run(const char* kernel, std::span<const Axis> axes, const Body& body, Here here);
    Axis believed(const Axis& axis) const;
    void run_folded(const Launch& launch);
    void run_exact(const Launch& launch);
    Index next_block(const Launch& launch, Index from) const;
    void run_block(Worker& w, const Launch& launch, Index block, const Span* at, const Block::Grading& grading,
                   Count weight);
    void merge(Worker& w);
    void settle(const Launch& launch);

    std::unique_ptr<State> state_;
};

template <class F>
void Gpu::launch(const char* kernel, std::initializer_list<Axis> axes, F&& body, Here here) {
    constexpr bool one = std::is_invocable_v<F, Block&, Span>;
    constexpr bool two = std::is_invocable_v<F, Block&, Span, Span>;
    constexpr std::size_t arity = one ? 1 : two ? 2 : 3;
    if (axes.size() != arity) refuse_body();
    run(
        kernel, {axes.begin(), axes.size()},
        [&body](Block& b, const Span* at) {
            if constexpr (one)
                body(b, at[0]);
            else if constexpr (two)
                body(b, at[0], at[1]);
            else
                body(b, at[0], at[1], at[2]);
        },
        here);
}

}  // namespace tilescope
