// A kernel against its simulated program and the double-precision reference, on the same inputs.
#pragma once

#include "device/kernel_run.hpp"
#include "device/ncu.hpp"
#include "lab/run/reference.hpp"

namespace tilescope::device {

enum class Status : std::uint8_t { ok, wrong, out_of_memory };
/// The name in files: "ok", "wrong", "out of device memory".
const char* name_of(Status status);
std::string in_words(Status status);

/// How far kernel and simulator are from the reference, on the checked heads. Of the outputs that the computation
/// defines, these are the numbers of a wrong one, or else of the one with the largest relative error.
struct Deviations {
    Index heads_checked = 0, rows_checked = 0;
    std::string output;                  ///< the output's name
    double largest_reference = 0;        ///< absolute value
    double largest_of_all = 0;           ///< of all outputs: terms that cancel in an output may be as large
    lab::OutputError kernel, simulator;  ///< against the reference
    double difference = 0;               ///< the largest between kernel and simulator; infinite where one is not finite
    double other_difference = 0;         ///< the same for the other outputs (LSE), relative to the largest or to 1
    Count not_finite_unchecked = 0;      ///< outputs of the other heads that are NaN or infinite
};

struct CaseResult {
    KernelCase tested;
    lab::Report counted;  ///< by the simulator, for the whole problem
    Status status = Status::ok;
    std::string note;  ///< why it is not ok, or what to know of it
    std::optional<Deviations> deviations;
    std::optional<KernelTimes> times;
    std::optional<Measured> measured;  ///< by Nsight Compute

    Index heads() const { return tested.problem.batch_heads(); }
    double tflops() const;  ///< simulated matrix FLOPs over the warm time
    double gbs() const;     ///< simulated HBM bytes over the warm time, 1e9 B/s
};

/// The rows that are compared: the last `rows` rows of some heads; all rows of all heads where that is not too much
/// work. As a problem of their own they see the same keys, because the causal diagonal ends in the last row. The rows
/// of a query of packed heads stay together. Outputs per key are sums over all rows and all heads that share K and V:
/// for these, whole groups of heads are compared.
struct Part {
    std::vector<Index> heads;
    Index rows = 0;
    std::vector<Index> kv_heads;  ///< those that these heads read: one each, or one for each group
};
Part part_to_check(const Computation& computation, const Problem& problem);
Problem problem_of(const Part& part, const Problem& whole);
/// Cuts a part out of a tensor of the whole: the last rows of its heads, or all keys of its heads of K and V.
std::shared_ptr<Storage> cut(const Storage& from, std::string_view name, const Part& part);

struct ValidationSettings {
    GpuSpec gpu;  ///< whose rules the simulated counts follow
    std::uint64_t seed = 0;
    lab::Distribution distribution = lab::Distribution::normal;
    Inputs inputs;  ///< the user's own; random ones where empty
    Index repeats = 20;
    int threads = 0;
    Control* control = nullptr;
};

/// Runs cases. Inputs and reference are kept from one case to the next of the same problem.
class Validator {
  public:
    explicit Validator(ValidationSettings settings) : settings_(std::move(settings)) {}

    /// Throws OutOfChipMemory, RunError, Interrupted.
    CaseResult run(const KernelCase& c);
    /// Launches the kernel once and checks nothing. Does nothing where the tensors do not fit in device memory.
    void launch(const KernelCase& c);
    /// The outputs of the kernel in the last run(), with heads unpacked. Empty where the tensors did not fit in device
    /// memory.
    const lab::Outputs& outputs() const { return outputs_; }

  private:
    /// What the cases of a problem share. The checked heads are a problem of their own.
    struct Shared {
        const Computation* computation;
        Problem problem, checked;
        Part part;  ///< the part of `problem` that `checked` is
        Inputs inputs, checked_inputs;
        std::optional<lab::Reference> reference;
    };
    Shared& shared_for(const KernelCase& c);
    /// Adds the inputs that an earlier pass saves for the algorithm.
    void add_saved(const KernelCase& c, Shared& shared) const;
    Deviations deviations(const KernelCase& c, Shared& shared, const lab::Outputs& outputs);

    ValidationSettings settings_;
    std::optional<Shared> shared_;
    lab::Outputs outputs_;
};

/// Gives each case its launches' counters. Throws RunError where the cases have more or fewer launches.
void add_counters(std::vector<CaseResult>& results, std::span<const NcuLaunch> launches);

/// Why a kernel with these deviations is wrong; "" where it is not.
///  - NaN or infinite where the reference is finite, and the simulated program is not as bad;
///  - f32: off by more than 1e-5 of the largest of all outputs, and by more than 4 times what the simulator in f32 is
///    off (logits of hundreds lose that much in f32);
///  - f16, bf16: its RMS error above 1.25 times the simulator's, and above 1e-6 of the largest of all outputs; 8 bits,
///    whose own error is much larger: above 1.01 times;
///  - other outputs off by more than 1e-4 of the simulator's.
std::string verdict(const Deviations& d, Dtype dtype);

/// Up to `most` of the heads below n: the first, the last, and others evenly between.
std::vector<Index> spread_heads(Index n, Index most);

}  // namespace tilescope::device
