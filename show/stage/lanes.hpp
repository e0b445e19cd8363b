// Lanes over time, as data to be drawn: who does what and when, what each wait waits for and what ended it, what lies
// in the slots of each ring, and whose turn it is. Everything is a function of the cycle, so that a view steps
// backwards.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/time/lanes.hpp"
#include "lab/model/laned.hpp"

namespace tilescope::show {

enum class LaneDoing : std::uint8_t {
    product,  ///< on the tensor cores
    load,     ///< over the bus
    work,     ///< on CUDA cores
    wait,
    busy,    ///< neither works nor waits: what it waited for is noticed, a turn is taken, a tile is stored
    hand_on  ///< takes no time: another lane's turn begins, or a slot is free
};

inline constexpr std::uint32_t no_segment = no_phase;

/// A phase of the play. Cycles count from the beginning of the view.
struct LaneSegment {
    LaneDoing doing;
    std::uint32_t lane;  ///< whose
    std::string what;    ///< a tile's or an operation's name
    Index number;        ///< which of these the lane does, from 0: the number of a tile of keys where tiles are such
    Index turn;          ///< of the loop over key tiles, from 0; the number of tiles, where that is above 1: after it
    double from, to;
    double alone;                         ///< of a product or work: cycles that it takes when nothing else goes on
    double sent;                          ///< of a load: when its last byte has left the bus
    Awaited awaited;                      ///< of a wait; while a lane is busy, what it waited for just before
    std::uint32_t ended_by = no_segment;  ///< of a wait: the segment that ended it
    std::optional<Unit> on = {};          ///< of work: the unit that takes longest
    bool once = false;                    ///< the lane does no other of these: it belongs to no tile of keys

    double cycles() const { return to - from; }
    bool at(double cycle) const { return from <= cycle && cycle < to; }
};

struct LaneRow {
    enum class Kind : std::uint8_t { loads, bus, tensor_cores, warpgroup };
    Kind kind;
    std::uint32_t lane;                   ///< of loads and of a warpgroup
    std::vector<std::uint32_t> segments;  ///< numbers in LaneView::segments(), by time
};

enum class SlotState : std::uint8_t { empty, loading, full, in_use };

/// A tile's stay in a slot of a ring.
struct SlotStay {
    std::string what;
    Index number;
    double from, there, until;  ///< its load begins, all bytes are there, the last reader is done
    std::vector<std::uint32_t> readers;

    /// Whether a product that reads the tile is at work.
    bool in_use(std::span<const LaneSegment> segments, double cycle) const;
};
struct LaneSlot {
    std::string ring;
    Index slot;
    std::vector<SlotStay> stays;

    /// The stay that is or was last; nullptr before the first one.
    const SlotStay* stay_at(double cycle) const;
};

/// How much of the time units are at work: 0 to 1.
struct LaneShares {
    double tensor_cores = 0, exp = 0, cuda_cores = 0, both = 0, bus = 0;
};
/// What a warpgroup or a producer does in a step, in cycles.
struct LaneTimes {
    std::uint32_t lane;
    double products = 0, work = 0, busy = 0;
    double waits[8] = {};  ///< by Awaited
    double of(Awaited a) const { return waits[static_cast<std::size_t>(a)]; }
};
/// A part of a warpgroup's step: what it takes on average, and alone.
struct LanePart {
    LaneDoing doing;
    std::string what;
    double cycles, alone;
};

class LaneView {
  public:
    /// Begins at the moment when the first warpgroup's first product of step `from_step` begins, and shows `steps`
    /// steps. Means are those of `averaged` steps from there on. The play's last step lasts until all lanes are done.
    /// `play` needs its phases.
    LaneView(std::span<const LaneProgram> lanes, const LanePlay& play, Index from_step, Index steps, Index averaged);

    double cycles() const { return cycles_; }  ///< that are shown, from 0 on
    void show_cycles(double cycles) { cycles_ = cycles; }
    double step() const { return step_; }  ///< cycles of a step, on average
    const std::vector<LaneSegment>& segments() const { return segments_; }
    /// In a fixed order: loads, the bus, the tensor cores, warpgroups.
    const std::vector<LaneRow>& rows() const { return rows_; }
    const std::vector<LaneSlot>& slots() const { return slots_; }
    const std::vector<std::uint32_t>& groups() const { return groups_; }  ///< lanes that are warpgroups
    /// The number of a lane among the warpgroups, from 0; -1: it is none.
    int group_of(std::uint32_t lane) const;
    const std::string& name_of(std::uint32_t lane) const { return names_[lane]; }  ///< "producer", "WG2"

    SlotState state_at(const LaneSlot& slot, double cycle) const;
    /// What the lane does itself; nullptr: between two acts.
    const LaneSegment* own_at(std::uint32_t lane, double cycle) const;
    /// Whether all that the lane does is done before this cycle.
    bool is_done(std::uint32_t lane, double cycle) const;
    /// The product that is at work; nullptr: none.
    const LaneSegment* product_at(double cycle) const;

    struct Turn {
        double at;
        std::uint32_t lane;
    };
    /// A token that warpgroups hand on: who has it may ask for products.
    struct Baton {
        std::string product;      ///< the first one that it is for
        std::vector<Turn> turns;  ///< when they begin
        const Turn* at(double cycle) const;
    };
    const std::vector<Baton>& batons() const { return batons_; }  ///< none without turns

    LaneShares shares() const;
    std::vector<LaneTimes> times() const;
    std::vector<LanePart> parts() const;

  private:
    void add_segments(std::span<const LaneProgram> lanes, const LanePlay& play);
    void number_segments();
    void find_slots(std::span<const LaneProgram> lanes, const LanePlay& play);
    void find_batons(std::span<const LaneProgram> lanes, const LanePlay& play);
    void find_rows();
    void name_lanes(std::span<const LaneProgram> lanes);
    const LaneSegment* found_at(const LaneRow& row, double cycle) const;

    double cycles_ = 0, step_ = 0, averaged_ = 0;  // averaged_: cycles
    std::vector<LaneSegment> segments_;
    std::vector<LaneRow> rows_;
    std::vector<LaneSlot> slots_;
    std::vector<std::uint32_t> groups_;
    std::vector<std::string> names_;
    std::vector<Baton> batons_;
};

/// The lanes of an experiment in the steady state, whatever its number of key tiles.
LaneView lane_view(const lab::Experiment& experiment, Index steps = 1);

/// Lets all views show as many cycles as the longest of them.
void on_one_axis(std::span<LaneView> views);

}  // namespace tilescope::show
