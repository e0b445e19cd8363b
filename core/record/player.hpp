// The modelled GPU at any moment of a recording: forwards, backwards, anywhere.
#pragma once

#include <string_view>

#include "core/record/trace.hpp"

namespace tilescope {

/// A tile that is on chip.
struct TileState {
    TileId tile;    ///< index into Trace::tiles(), which knows its name, shape, launch and block
    Index written;  ///< the step that wrote it last

    friend bool operator==(const TileState&, const TileState&) = default;
};

/// A region of a tensor that was loaded or stored.
struct Touched {
    Region region;
    Count loads = 0, stores = 0;
    Index last_load = -1, last_store = -1;  ///< steps; -1: never

    Index last() const { return std::max(last_load, last_store); }
    friend bool operator==(const Touched&, const Touched&) = default;
};

struct TensorState {
    Traffic traffic;
    std::vector<Touched> touched;  ///< in order of their first use, as in RecordedTensor::regions
    Index last_store = -1;         ///< the step that stored into the tensor last; -1: none

    friend bool operator==(const TensorState&, const TensorState&) = default;
};

/// The machine after the first `position` steps. Only numbers, so that copies are cheap; the contents of tiles and
/// tensors follow from it (Player::values). Thread blocks were recorded one after the other: what is on chip belongs to
/// the current one.
struct MachineState {
    Index position = 0;
    Index launch = -1;                        ///< -1: none has begun
    std::string_view kernel;                  ///< of this launch
    Index block = -1;                         ///< of the last event, linear in the launch's grid; -1: none has begun
    std::uint16_t line = 0;                   ///< of the pseudo-code; 0: outside of it
    std::uint32_t source_line = 0;            ///< of the tile program; 0: not known
    Counters total;                           ///< of all recorded steps so far
    Bytes sram_used = 0, registers_used = 0;  ///< by the current block
    std::vector<TileState> tiles;             ///< on chip, oldest first
    std::vector<TensorState> tensors;         ///< by TensorId

    friend bool operator==(const MachineState&, const MachineState&) = default;
};

/// Moves through a finished recording, which has to outlive it. A seek copies the nearest earlier keyframe and replays
/// from there: at most as many steps as that keyframe has entries, or 64 where it has fewer.
class Player {
  public:
    explicit Player(const Trace& trace);
    explicit Player(const Trace&&) = delete;

    const Trace& trace() const { return *trace_; }
    Index size() const { return trace_->size(); }
    Index position() const { return state_.position; }
    const MachineState& state() const { return state_; }
    /// The step that led to this state; nullptr at position 0.
    const Step* last_step() const { return position() > 0 ? &(*trace_)[position() - 1] : nullptr; }

    /// Goes to the state after the first `step` steps; below 0 is 0, beyond size() is size().
    void seek(Index step);
    /// Goes to just after the next step that wanted(const Step&) accepts, or for previous() the nearest earlier one,
    /// except the last step itself. Where there is no such step, stays and returns false.
    template <class F>
    bool next(F&& wanted);
    template <class F>
    bool previous(F&& wanted);

    /// Row-major contents of a tile of state(); empty in a recording without values.
    TileData values(const TileState& tile) const { return trace_->values((*trace_)[tile.written]); }
    /// Contents of a tensor in HBM at this moment, [slices, rows, cols] in C order; empty in a recording without
    /// values. Valid until the next call for the same tensor. In a recording of chosen thread blocks, only their stores
    /// show.
    const std::vector<float>& values(TensorId tensor) const;

  private:
    struct Contents {
        Index last_store = -2;  // -2: no contents computed yet
        std::vector<float> values;
    };

    void advance();
    void touch(const Step& step);
    void keep_keyframe();
    void find_changes();
    void replay(TensorId tensor, std::vector<float>& values) const;

    const Trace* trace_;
    MachineState state_;
    std::vector<MachineState> keyframes_;  // by position, from 0 on; grows as seeks reach further
    Index next_keyframe_ = 0;
    mutable std::vector<Contents> contents_;   // by tensor
    std::vector<std::vector<Index>> changes_;  // by tensor, for those that are added to: steps that store or add, by
                                               // launch and number of the thread block
};

/// Conditions for next() and previous(), besides the members of Step.
inline bool enters_line(const Step& s) { return s.enters_line; }
inline auto visits(std::uint16_t line) {
    return [line](const Step& s) { return s.enters_line && s.event.line == line; };
}
inline auto is(Kind kind) {
    return [kind](const Step& s) { return s.kind() == kind; };
}

template <class F>
bool Player::next(F&& wanted) {
    const std::optional<Index> step = trace_->find_forward(position(), wanted);
    if (step) seek(*step + 1);
    return step.has_value();
}

template <class F>
bool Player::previous(F&& wanted) {
    const std::optional<Index> step = trace_->find_backward(position() - 1, wanted);
    if (step) seek(*step + 1);
    return step.has_value();
}

}  // namespace tilescope
