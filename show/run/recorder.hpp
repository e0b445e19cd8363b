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

/// How a run ends that fails: by a mistake of its program, or with a tile that does not fit.
struct Failure {
    std::string message;
    Place place;
    Index tick = 0;  ///< the last tick of that thread block before the failure
};

/// Makes the inputs of the recorded problem, which has the recorded heads only.
using InputsFor = std::function<Inputs(const Problem& recorded)>;

class Recorder {
  public:
    /// How much a unit records; with numbers it goes on to the end of the thread block. It takes some milliseconds.
    static constexpr Slices::Size unit{.events = 5000, .flops = 20'000'000};

    /// Will record the first `heads` heads of a counted run, with numbers or, where that is too much, the shapes alone,
    /// of as many thread blocks as fit. Nothing is recorded yet.
    Recorder(const Counted& counted, Index heads, InputsFor inputs, const RecordingLimits& limits);
    Recorder(const Recorder&) = delete;
    Recorder& operator=(const Recorder&) = delete;

    /// Does one unit; true when the recording is complete. Throws Interrupted.
    bool work(Control* control);
    /// Records everything in one run on `gpu`, up to where it fails; this run checks promises and finds races. False,
    /// with nothing recorded, if the recording outgrows the limits. Throws Interrupted.
    bool record_at_once(const GpuSpec& gpu, Control* control);
    const std::optional<Failure>& failure() const { return failure_; }
    /// How many more units it takes, estimated. 0 when the recording is complete.
    Index left() const;

    /// The recorded part: the same problem with fewer heads.
    const Problem& problem() const { return problem_; }
    /// What part of the run was recorded and why not all; empty when it is all of it.
    const std::string& shortened() const { return shortened_; }
    /// The inputs of the recorded part; none where there are no values.
    const Inputs& inputs() const { return inputs_; }
    Index size() const { return trace_ ? trace_->size() : 0; }  ///< so far
    /// Once it is complete.
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
    Index expected_events_ = 0;       // of the recorded part, within the limits: reserved, so that nothing moves ...
    Bytes expected_value_bytes_ = 0;  // ... and no more room than is needed
    std::optional<Failure> failure_;

    Stage stage_ = Stage::begin;
    Mode mode_{};
    TraceOptions options_;
    Slices::End end_{};
    std::optional<Trace> trace_;
    std::optional<Slices> slices_;
    Inputs tensors_;  // all tensors, kept from one slice with numbers to the next
    // For shapes: how many thread blocks of each launch are recorded, the most that a launch has (0: not known yet),
    // and whether the recording was too long.
    Index blocks_ = 0, most_ = 0;
    bool cut_ = false;
};

}  // namespace tilescope::show
