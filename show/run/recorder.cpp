#include "show/run/recorder.hpp"

#include "core/machine/gpu.hpp"
#include "core/machine/mistakes.hpp"
#include "core/machine/out_of_chip_memory.hpp"
#include "core/text/message.hpp"
#include "lab/report/recording.hpp"

namespace tilescope::show {
using namespace lab;
using text::message;
namespace {

/// The recorded problem, of the first heads: some heads of one batch entry, or all heads of the first entries.
Problem first_heads(const Problem& p, Index heads) {
    const Index shown = whole_groups(p, heads);
    if (shown == p.batch_heads()) return p;
    Problem first = p;
    first.batch = ceil_div(shown, p.heads);
    first.bias.group = std::min(p.bias.group, first.batch);
    first.heads = std::min(shown, p.heads);
    first.kv_heads = std::max<Index>(1, first.heads / (p.heads / p.kv_heads));
    return first;
}

std::vector<Index> up_to(Index n) {
    std::vector<Index> all(static_cast<std::size_t>(n));
    for (Index i = 0; i < n; ++i) all[static_cast<std::size_t>(i)] = i;
    return all;
}

/// Runs a program; returns its failure, if there is one.
template <class F>
std::optional<Failure> failure_of(F&& run) {
    try {
        run();
    } catch (const BrokenPromise& e) {
        return Failure{e.what(), e.place};
    } catch (const Race& e) {
        return Failure{e.what(), e.place};
    } catch (const OutOfChipMemory& e) {
        return Failure{e.what(), e.place};
    }
    return std::nullopt;
}

}  // namespace

Recorder::Recorder(const Counted& counted, Index heads, InputsFor inputs, const RecordingLimits& limits)
    : experiment_(counted.experiment()),
      numbers_(inputs && whole_groups(experiment_.problem, heads) <= heads_with_numbers(counted, limits)),
      inputs_for_(std::move(inputs)),
      limits_(limits),
      problem_(first_heads(experiment_.problem, heads)) {
    const Index all = experiment_.problem.batch_heads(), shown = problem_.batch_heads();
    expected_events_ = std::min(limits.events, ceil_div(counted.events, all) * shown);
    expected_value_bytes_ = std::min(2 * limits.value_bytes, value_bytes(counted, shown));
    if (shown == all) return;
    const std::string first = std::to_string(shown), of = std::to_string(all), packed = std::to_string(problem_.packed);
    if (problem_.packed == 1)
        shortened_ = shown == 1 ? message("recorder.head", of) : message("recorder.heads", first, of);
    else
        shortened_ =
            text::sentences({shown == 1 ? message("recorder.kv_head", of) : message("recorder.kv_heads", first, of),
                             message("recorder.packs", packed)});
}

bool Recorder::work(Control* control) {
    switch (stage_) {
        case Stage::begin:
            if (!numbers_) {
                record_blocks(1);
                return false;
            }
            tensors_ = inputs_ = inputs_for_(problem_);
            // HBM is kept from slice to slice, so thread blocks of earlier slices need not run again.
            start(Stage::numbers, {.data = true, .fold = false, .only_wanted = true},
                  {.max_events = limits_.events,
                   .max_value_bytes = 4 * limits_.value_bytes,
                   .expected_events = expected_events_,
                   .expected_value_bytes = expected_value_bytes_},
                  Slices::End::between_blocks);
            return false;
        case Stage::numbers:
            return record_numbers(control);
        case Stage::shapes:
            return record_shapes(control);
        default:
            return true;
    }
}

bool Recorder::record_at_once(const GpuSpec& on, Control* control) {
    mode_ = numbers_ ? numeric_mode : exact_mode;
    if (numbers_) inputs_ = inputs_for_(problem_);
    Gpu gpu(on, mode_, 1, control);
    trace_.emplace(
        gpu,
        within_memory({.values = numbers_, .max_events = limits_.events, .max_value_bytes = 4 * limits_.value_bytes}));
    gpu.listen(*trace_);
    try {
        failure_ = failure_of([&] { run_program(gpu, *experiment_.algorithm, problem_, experiment_.tiling, inputs_); });
    } catch (const RunError&) {
        inputs_.clear();
        trace_.reset();
        return false;
    }
    return complete();
}

Index Recorder::left() const {
    if (stage_ == Stage::complete) return 0;
    return 1 + std::max<Index>(0, expected_events_ - size()) / unit.events;
}

void Recorder::start(Stage stage, Mode mode, TraceOptions options, Slices::End end) {
    stage_ = stage;
    mode_ = mode;
    options_ = std::move(options);
    end_ = end;
    slices_.reset();
    trace_.reset();
}

/// Records one more slice; true when it was the last one.
bool Recorder::slice(Control* control) {
    Gpu gpu(experiment_.gpu, mode_, 1, control);
    if (trace_) {
        trace_->follow(gpu);
    } else {
        trace_.emplace(gpu, within_memory(options_));
        // Without numbers nothing is computed, so FLOPs do not limit a slice.
        const Count flops = mode_.data ? unit.flops : std::numeric_limits<Count>::max();
        slices_.emplace(*trace_, Slices::Size{unit.events, flops}, end_);
    }
    gpu.listen(*slices_);
    const bool last =
        slices_->carry_on([&] { run_program(gpu, *experiment_.algorithm, problem_, experiment_.tiling, tensors_); });
    if (mode_.data)
        for (const TensorInfo& t : gpu.tensors()) tensors_[t.name] = t.data;
    return last;
}

/// Records every thread block with real numbers, or only shapes if the numbers exceed the limits.
bool Recorder::record_numbers(Control* control) {
    try {
        return slice(control) && complete();
    } catch (const RunError&) {
        inputs_.clear();
        tensors_.clear();
        record_blocks(1);
        return false;
    }
}

/// Begins to record the first `blocks` thread blocks of every launch, without numbers.
void Recorder::record_blocks(Index blocks) {
    blocks_ = blocks;
    start(Stage::shapes, {.data = false, .fold = false, .only_wanted = true},
          {.values = false, .blocks = up_to(blocks), .max_events = limits_.events, .expected_events = expected_events_},
          Slices::End::anywhere);
}

bool Recorder::record_shapes(Control* control) {
    try {
        if (!slice(control)) return false;
        cut_ = false;
    } catch (const RunError&) {
        cut_ = true;
    }
    const Index next = blocks_to_try();
    if (next == blocks_) return complete();
    record_blocks(next);
    return false;
}

/// How many thread blocks of each launch to record, judged by the last try: as many as fit the limits, or a part of the
/// first one if even that is too long. Returns blocks_ if the last try will do.
Index Recorder::blocks_to_try() {
    if (most_ > 0) {
        if (!cut_ || blocks_ == 1) return blocks_;
        // Later blocks may be longer than the first. The number is halved, and again while it is above what the last
        // try got to in the first launch.
        const bool first_launch = trace_->launches().size() == 1;
        const Index got_to = first_launch ? static_cast<Index>(trace_->blocks().size()) - 1 : blocks_;
        Index next = blocks_ / 2;
        while (next > std::max<Index>(1, got_to)) next /= 2;
        return next;
    }
    most_ = 1;
    for (const LaunchInfo& l : count({experiment_.algorithm, problem_, experiment_.tiling, experiment_.gpu}).launches)
        most_ = std::max<Index>(most_, l.thread_blocks);
    if (cut_) return 1;
    const Index sms = experiment_.gpu.sms;
    const Index blocks = std::clamp<Index>(limits_.events / std::max<Index>(1, size()), 1, most_);
    // Whole waves, if there is more than one: otherwise SMs would seem idle that are not.
    return blocks > sms && blocks < most_ ? blocks - blocks % sms : blocks;
}

bool Recorder::complete() {
    stage_ = Stage::complete;
    slices_.reset();
    tensors_.clear();
    if (mode_.data) return true;
    const std::string why = cut_              ? message("recorder.too_long", std::to_string(limits_.events))
                            : blocks_ < most_ ? message("recorder.first_blocks", std::to_string(blocks_))
                                              : message("recorder.shapes_only");
    shortened_ = text::sentences({shortened_, why});
    return true;
}

}  // namespace tilescope::show
