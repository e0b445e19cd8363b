// One run: a machine, a workload, a mapping and an algorithm in, a report out.
#pragma once

#include <map>

#include "algorithms/contract/algorithm.hpp"
#include "lab/inputs.hpp"

namespace tilescope::lab {

/// Declares the algorithm's tensors on the GPU (with the given inputs, where the mode has data) and runs its program.
void run_program(Gpu& gpu, const Algorithm& algorithm, const Problem& problem, const Tiling& tiling,
                 const Inputs& inputs);

struct Experiment {
    const Algorithm* algorithm = nullptr;
    Problem problem;
    Tiling tiling;
    GpuSpec gpu;
};

struct TensorReport {
    std::string name;
    Role role;
    Meaning meaning;
    bool extra;   ///< not one of those that every algorithm of its kind has
    Bytes bytes;  ///< in HBM
    Traffic traffic;
};

/// How far a run's output is from the double-precision reference.
struct OutputError {
    double max_abs = 0, rms = 0;  ///< over the elements that are finite in both
    Count elements = 0;
    Count not_finite = 0;      ///< elements that are NaN or infinite where the reference is finite
    Count finite_instead = 0;  ///< elements that are finite where the reference is not
};

/// Outputs of a run, and what is wrong with them, by name.
using Outputs = std::map<std::string, std::shared_ptr<const Storage>>;
using OutputErrors = std::map<std::string, OutputError>;

struct Report {
    Experiment experiment;
    bool numeric = false;
    Counters counters;
    std::vector<TensorReport> tensors;
    std::vector<LaunchInfo> launches;
    Bytes sram_peak = 0, register_peak = 0;  ///< of one thread block, over all launches
    Bytes hbm_footprint = 0;                 ///< inputs, outputs and scratch
    Bytes hbm_extra = 0;                     ///< what the computation's own inputs and output do not account for
    std::vector<std::string> notes;
    Outputs outputs;      ///< numeric mode only
    OutputErrors errors;  ///< of those that the computation defines, once they were compared

    /// The output that users came for, and its error; nullptr where there is none.
    std::shared_ptr<const Storage> output() const;
    const OutputError* error() const;

    /// Matrix, exponential and other FLOPs per byte between HBM and the SMs.
    double arithmetic_intensity() const;
};

/// How a launch's thread blocks fill the machine, from its peaks and the limits of an SM. Modelled.
struct Occupancy {
    Index blocks_per_sm = 0;
    double waves = 0;
};
Occupancy occupancy(const LaunchInfo& launch, const GpuSpec& gpu);

/// Folded counts; no data. Listeners hear of the same run.
Report count(const Experiment& experiment, Control* control = nullptr, std::span<Listener* const> listeners = {});
/// Real numbers, without the comparison with the reference (see lab/reference.hpp).
Report execute(const Experiment& experiment, const Inputs& inputs, int threads = 0, Control* control = nullptr);

/// Host memory that `execute` needs for tensors, in bytes.
Bytes host_memory(const Experiment& experiment);
/// A rough guess, in seconds, of how long `execute` and the reference take.
double seconds_to_execute(const Report& counted, int threads = 0);

}  // namespace tilescope::lab
