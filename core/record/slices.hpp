// A recording made a slice at a time, so that nobody has to wait for all of it.
#pragma once

#include <functional>

#include "core/machine/event.hpp"

namespace tilescope {

/// Stands between a Gpu and a listener, over several runs of one program (Mode::only_wanted). Each run passes on what
/// the runs before did not, until the slice is full. In the end the listener has heard everything, once.
class Slices : public Listener {
  public:
    /// When a slice is full.
    struct Size {
        Index events;
        Count flops;
    };
    /// Where a slice may end. `anywhere`: between two events; the next run passes on the rest of the block's events.
    /// `between_blocks`: for runs on real numbers, because each run begins with the tensors that the one before left.
    enum class End : std::uint8_t { anywhere, between_blocks };

    Slices(Listener& to, Size size, End end) : to_(to), size_(size), end_(end) {}

    /// `run` runs the program once more, on a Gpu that sends its events to this object. Returns true when all has been
    /// passed on. Does not catch exceptions of `run`.
    bool carry_on(const std::function<void()>& run);

    Needs needs() const override { return to_.needs(); }
    bool wants(Index launch, Index block) override;
    Index next_wanted(Index launch, Index from) override;
    void begin(const LaunchMark& mark) override;
    void end(const LaunchMark& mark) override;
    void begin(const BlockMark& mark) override;
    void end(const BlockMark& mark) override;
    void begin(const LoopMark& mark) override;
    void turn(const TurnMark& mark) override;
    void end(const LoopMark& mark) override;
    void visit(const LineMark& mark) override;
    void on(const Event& event, TileData data) override;

  private:
    struct Full {};  // thrown in the midst of a thread block

    bool full() const { return events_ >= size_.events || flops_ >= size_.flops; }
    bool is_new();

    Listener& to_;
    const Size size_;
    const End end_;
    Index launches_begun_ = 0;
    Index launch_ = 0, block_ = 0;  // where the next slice begins ...
    Index heard_ = 0;               // ... after so many marks and events of that block
    Index told_ = 0;                // marks and events of the current block, in this run
    Index events_ = 0;              // of this slice
    Count flops_ = 0;
};

}  // namespace tilescope
