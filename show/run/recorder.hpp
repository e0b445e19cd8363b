// Records as much of a counted run as the limits allow, a unit of work at a time.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "core/machine/place.hpp"
#include "core/record/slices.hpp"
#include "core/record/trace.hpp"
#include "show/run/counted.hpp"

namespace tilescope::show {

/// How a run fails: by a mistake of its program, or because a tile does not fit on chip.
struct Failure {
    std::string message;
    Place place;
    Index tick = 0;  ///< the last tick of the failing thread block before the failure
};

/// Makes the inputs of the recorded problem, which has the recorded heads only.
using InputsFor = std::function<Inputs(const Problem& recorded)>;

class Recorder {
  public:
    /// How much a unit records, in some milliseconds. With numbers, a unit goes on to the end of its thread block.
    static constexpr Slices::Size unit{.events = 5000, .flops = 20'000'000};

    /// Sets up a recording of the first `heads` heads of a counted run: with numbers or, where that is too much, of the
    /// shapes alone, and of as many thread blocks as fit. Records nothing yet.
    Recorder(const Counted& counted, Index heads, InputsFor inputs, const RecordingLimits& limits);
    Recorder(const Recorder&) = delete;
    Recorder& operator=(const Recorder&) = delete;

    /// Does one unit; true when the recording is complete. Throws Interrupted.
    bool work(Control* control);
    /// Records everything in one run on `gpu`, up to the operation that fails; this run checks promises and finds
    /// races. False, with nothing recorded, if the recording outgrows the limits. Throws Interrupted.
    bool record_at_once(const GpuSpec& gpu, Control* control);
    const std::optional<Failure>& failure() const { return failure_; }
    /// The estimated number of units left; 0 when the recording is complete.
    Index left() const;

    /// The recorded part: the same problem with fewer heads.
    const Problem& problem() const { return problem_; }
    /// Which part of the run was recorded, and why not all of the run; empty where all of it was.
    const std::string& shortened() const { return shortened_; }
    /// The inputs of the recorded part; none where there are no values.
    const Inputs& inputs() const { return inputs_; }
    Index size() const { return trace_ ? trace_->size() : 0; }  ///< events so far
    /// The recording. Call this once it is complete.
    Trace take() && { return std::move(*trace_); }

  private:
    enum class Stage : std::uint8_t { begin, numbers, shapes, complete };

    void start(Stage stage, Mode mode, TraceOptions options, Slices::End end);
    void record_blocks(Index blocks);
    bool slice(Control* control);
    bool record_numbers(Control* control);
    bool record_shapes(Control* control);
    Index blocks_to_try();
    bool complete();

    const lab::Experiment experiment_;
    const bool numbers_;  // whether numbers may be recorded
    const InputsFor inputs_for_;
    const RecordingLimits limits_;
    Problem problem_;
    Inputs inputs_;
    std::string shortened_;
    Index expected_events_ = 0;       // in the recorded part, at most the limit: room is reserved for them
    Bytes expected_value_bytes_ = 0;  // likewise, at most twice the limit
    std::optional<Failure> failure_;

    Stage stage_ = Stage::begin;
    Mode mode_{};
    TraceOptions options_;
    Slices::End end_{};
    std::optional<Trace> trace_;
    std::optional<Slices> slices_;
    Inputs tensors_;  // all tensors, kept from one slice with numbers to the next
    // For shapes. blocks_: how many thread blocks of each launch are recorded. most_: the most that a launch has; 0:
    // not known yet. cut_: whether the recording was too long.
    Index blocks_ = 0, most_ = 0;
    bool cut_ = false;
};

}  // namespace tilescope::show
