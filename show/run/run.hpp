// One algorithm at work: what the whole run costs, and a recording of as much of it as can be looked at.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/record/player.hpp"
#include "core/time/schedule.hpp"
#include "lab/report/recording.hpp"
#include "show/run/contents.hpp"
#include "show/run/recorder.hpp"
#include "show/run/reference_ahead.hpp"

namespace tilescope::show {

/// What one SM holds and does.
struct SmState {
    Index sm = 0;
    const Placement* block = nullptr;  ///< what it works on; nullptr: nothing that is recorded
    std::uint16_t line = 0;            ///< of the pseudo-code
    Bytes sram_used = 0, registers_used = 0;
    std::vector<TileState> tiles;  ///< on chip, oldest first
    std::vector<Index> steps;      ///< of the tick shown: indices into the trace, the operation last
};

/// The machine after a tick, sorted by SM; what the panels draw.
struct Moment {
    Index tick = 0;
    std::string kernel;  ///< of the launch; empty before the first
    Index launch = -1;
    std::vector<SmState> sms;  ///< by number, those that ever work on something recorded
    Count busy = 0;            ///< how many of these SMs have a thread block
};

/// Error of the output against the double-precision reference.
struct ErrorPoint {
    Index tick;
    double rms;  ///< NaN or infinite where an element is
    Region of;   ///< where the tile lies in the output
};

class Run {
  public:
    /// Makes a run from a complete recording. The work grows with the number of events in the recording.
    Run(Counted counted, Recorder&& recording);
    /// Completes a recording, and makes a run from it.
    Run(Counted counted, Index heads, const InputsFor& inputs, const RecordingLimits& limits = {});
    /// Makes a run from a recording that was read from a file, and compares it with a run of today's program. Where the
    /// two differ, or the algorithm is not known today, all numbers come from the recording alone.
    explicit Run(lab::Recording recording);

    const lab::Experiment& experiment() const { return counted_.experiment(); }
    const Algorithm& algorithm() const { return *experiment().algorithm; }
    const lab::Report& counted() const { return counted_.report; }                        ///< of the whole run
    const std::map<std::uint16_t, LineProfile>& lines() const { return counted_.lines; }  ///< of the whole run, by line
    const std::vector<LaunchNest>& nest() const { return counted_.nest; }                 ///< its loops, by launch
    /// The recorded part: the same problem with fewer heads.
    const Problem& recorded() const { return recorded_; }
    /// Which part of the run was recorded, and why not all of the run; empty where all of it was.
    const std::string& shortened() const { return shortened_; }
    /// Whether the recording has all work of the recorded heads.
    bool has_whole_heads() const;
    /// How a recording that was opened differs from today's program; empty: in nothing.
    const std::string& remark() const { return remark_; }
    bool has_values() const { return trace().has_values(); }
    /// Whether the run was read from a file, and not recorded by this program.
    bool is_recording() const { return as_recorded_ != nullptr; }
    const std::optional<Failure>& failure() const { return failure_; }

    const Schedule& schedule() const { return *schedule_; }
    const Trace& trace() const { return schedule_->trace(); }
    Index ticks() const { return schedule_->ticks(); }

    /// What tiles hold after each step, by name.
    const Contents& contents() const { return contents_; }

    /// Goes to the machine after the first `tick` ticks.
    void seek(Index tick);
    Index tick() const { return moment_.tick; }
    const Player& player() const { return *player_; }
    const Moment& moment() const { return moment_; }

    /// Bytes of SM traffic that the recorded part moves in the first `tick` ticks.
    Bytes hbm_read(Index tick) const { return hbm_read_[static_cast<std::size_t>(tick)]; }
    Bytes hbm_sent(Index tick) const { return hbm_sent_[static_cast<std::size_t>(tick)]; }
    Bytes hbm(Index tick) const { return hbm_read(tick) + hbm_sent(tick); }
    /// The costs of the whole recording.
    const Counters& recorded_counters() const { return recorded_counters_; }
    /// SM traffic of one tensor in the whole recording.
    const Traffic& traffic_of(TensorId tensor) const { return traffic_[tensor]; }
    /// When thread blocks stay on SMs in the whole run, as modelled; empty where no time is modelled.
    const Gantt& gantt() const { return *counted_.gantt; }
    /// Modelled: the time in the whole run at which the recorded thread blocks reach a tick. Each launch's time is
    /// spread evenly over its ticks. 0 where no time is modelled.
    double seconds(Index tick) const { return seconds_[static_cast<std::size_t>(tick)]; }
    /// seconds(), stretched so that what is recorded takes as long as the whole run: the last tick is the end of the
    /// whole run. For races.
    double seconds_for_all(Index tick) const { return seconds_for_all_[static_cast<std::size_t>(tick)]; }
    /// What each pseudo-code line has cost so far, of what is recorded; by line number.
    const std::map<std::uint16_t, Counters>& line_costs() const;

    /// The step of this SM in the tick shown that moves or computes something; nullptr where the SM does neither.
    const Step* operation(const SmState& sm) const;
    /// Contents of a tile before the step that wrote it last; empty where that step made the tile, or without values.
    TileData values_before(const TileState& tile) const;
    /// The error, tick by tick up to now, of the output tile on chip that the thread block on `sm` works on. A tile
    /// that will be divided by row sums later is first divided by what the sums are at that tick. Empty without values
    /// or without such a tile.
    std::vector<ErrorPoint> error_so_far(const SmState& sm) const;
    /// RMS error of the recorded output rows that were stored for the last time, and how many rows these are. Rows that
    /// will be stored again are left out.
    struct StoredError {
        double rms = 0;
        Index rows = 0, of = 0;
        double max_abs = 0, largest = 0;  ///< the largest difference; the largest absolute value of the reference
    };
    StoredError stored_error() const;
    /// Call this every frame: computes some of the reference ahead, unless a thread does. True when nothing is left.
    bool work_ahead() { return !reference_ || reference_->job().pump(1); }

    /// The first tick after `tick`, or the last one before it, with a step on `sm` that wanted(const Step&) accepts.
    template <class F>
    std::optional<Index> next_tick(Index tick, Index sm, F&& wanted) const;
    template <class F>
    std::optional<Index> previous_tick(Index tick, Index sm, F&& wanted) const;
    /// The head that a thread block works on, from 0: its place on its grid's axis of heads.
    Index head_of(const Placement& block) const;
    /// The heads that a thread block works for, from head_of(block) on: several where the block works for all heads
    /// that share a head of K and V.
    Span heads_of(const Placement& block) const;
    /// Whether a step belongs to a thread block on this SM; a launch belongs to every SM.
    bool on_sm(const Step& step, Index sm) const;

  private:
    void schedule(Trace recording, Index sms);
    void look_ahead();
    void note_recorded_part();
    Index last_tick_of(const Place& place) const;
    void tell_failure();
    class Totals;
    void add_up();
    void spread_time();
    double recorded_until(std::size_t launch) const;
    /// The errors of a thread block's output, computed up to the latest tick that was asked for.
    struct BlockErrors {
        struct Future {
            Region region;          ///< where a tile is stored next
            TileId sums = no_tile;  ///< the row sums that divide the tile before it is stored
        };
        std::vector<Index> steps;         ///< of the block
        std::map<Index, Future> writes;   ///< of these steps, those that write what becomes output
        std::size_t done = 0;             ///< how many of the steps have been looked at
        std::map<TileId, Index> written;  ///< by tile: the step that wrote it last
        std::vector<ErrorPoint> points;
    };
    BlockErrors errors_of(const Placement& block) const;
    void work_out(BlockErrors& errors, Index tick) const;

    Counted counted_;
    Problem recorded_;
    Inputs inputs_;  // of the recorded problem
    std::string shortened_, remark_;
    std::optional<Failure> failure_;
    std::shared_ptr<const lab::AlgorithmAsRecorded> as_recorded_;  // of a recording: owns the experiment's algorithm
    std::optional<Schedule> schedule_;
    std::unique_ptr<Player> player_;
    Moment moment_;
    Counters recorded_counters_;
    std::vector<Bytes> hbm_read_, hbm_sent_;         // by tick
    std::vector<Traffic> traffic_;                   // by tensor
    std::vector<std::vector<Index>> last_stores_;    // by tensor, then by region: the step
    std::vector<double> seconds_, seconds_for_all_;  // by tick
    std::vector<Index> heads_;                       // by placement
    std::vector<Index> made_;                        // by tile: the step that made it
    Contents contents_;
    struct LineCosts {
        Index step = 0;
        std::map<std::uint16_t, Counters> by_line;
    };
    std::vector<LineCosts> line_keyframes_;
    mutable LineCosts line_costs_;
    std::unique_ptr<ReferenceAhead> reference_;                      // of a recording with values
    mutable std::map<std::pair<Index, Index>, BlockErrors> errors_;  // by launch and block
};

template <class F>
std::optional<Index> Run::next_tick(Index tick, Index sm, F&& wanted) const {
    const auto step =
        trace().find_forward(schedule_->steps_after(tick), [&](const Step& s) { return wanted(s) && on_sm(s, sm); });
    if (!step) return std::nullopt;
    return schedule_->tick_of(*step);
}

template <class F>
std::optional<Index> Run::previous_tick(Index tick, Index sm, F&& wanted) const {
    if (tick == 0) return std::nullopt;
    const auto step = trace().find_backward(schedule_->steps_after(tick - 1),
                                            [&](const Step& s) { return wanted(s) && on_sm(s, sm); });
    if (!step) return std::nullopt;
    return schedule_->tick_of(*step);
}

}  // namespace tilescope::show
