// One run: a machine, a workload, a mapping and an algorithm in, a report out.
#pragma once

#include <map>

#include "algorithms/contract/algorithm.hpp"
#include "core/machine/launch_info.hpp"
#include "core/time/dispatch.hpp"
#include "lab/run/run_time.hpp"
#include "lab/workload/inputs.hpp"

namespace tilescope::lab {

/// Declares the algorithm's tensors on the GPU (with the given inputs, where the mode has data) and runs its program.
/// Inputs of a packed problem may be in the order that users have. Inputs that lie in pages on the GPU are put there.
void run_program(Gpu& gpu, const Algorithm& algorithm, const Problem& problem, const Tiling& tiling,
                 const Inputs& inputs);

struct Experiment {
    const Algorithm* algorithm = nullptr;
    Problem problem;
    Tiling tiling;
    GpuSpec gpu;
    Placing placing = {};
    bool shares_tiles = false;  ///< with all experiments that it is compared with: `shared` of published_tiles()
};

struct TensorReport {
    std::string name;
    Role role;
    Meaning meaning;
    bool extra;   ///< not a tensor of every algorithm for the computation; or kept by a forward pass besides O
    Bytes bytes;  ///< in HBM
    Traffic traffic;
};

/// How far a run's output is from the double-precision reference.
struct OutputError {
    double max_abs = 0, rms = 0;  ///< over the elements that are compared: those that are finite in both
    double largest = 0;           ///< absolute value of the reference, over the same elements
    Count elements = 0, compared = 0;
    Count not_finite = 0;       ///< elements that are NaN or infinite where the reference is finite
    Count finite_instead = 0;   ///< elements that are finite where the reference is not
    Count minus_infinite = 0;   ///< elements that are -inf in both
    bool finite_inputs = true;  ///< whether Q, K, V and dO have neither a NaN nor an infinity

    /// Elements that are NaN or infinite in both, without those that are -inf in both.
    Count neither() const { return elements - compared - not_finite - finite_instead - minus_infinite; }
    /// Elements of the output that are NaN or infinite, whatever the reference is there.
    Count all_not_finite() const { return elements - compared - finite_instead; }
    /// Whether max_abs and rms mean something: some elements were compared, and none is finite in only one of the two.
    bool tells() const { return compared > 0 && not_finite == 0 && finite_instead == 0; }
};

/// The outputs of a run, and their errors, by name.
using Outputs = std::map<std::string, std::shared_ptr<const Storage>>;
using OutputErrors = std::map<std::string, OutputError>;

/// Matrix, exponential and other FLOPs per byte of SM traffic; 0 where there is none.
double arithmetic_intensity(const Counters& counters);

struct Report {
    Experiment experiment;
    bool numeric = false;
    Counters counters;
    std::vector<TensorReport> tensors;
    std::vector<LaunchInfo> launches;
    Bytes sram_peak = 0, register_peak = 0;  ///< of one thread block, over all launches
    Bytes hbm_footprint = 0;                 ///< inputs, outputs and scratch
    Bytes hbm_extra = 0;                     ///< beyond the computation's own inputs and output
    std::vector<std::string> notes;
    Outputs outputs;                     ///< numeric mode only; in the order that users have, packed or not
    OutputErrors errors;                 ///< of the outputs that the computation defines, once they were compared
    std::optional<RunTime> time;         ///< once it was modelled, if the run fits in HBM and on an SM
    bool unmodelled = false;             ///< whether that is so although it fits
    std::string no_time;                 ///< why there is no time, where the run does not fit
    const Algorithm* forward = nullptr;  ///< the forward pass whose counts, tensors and time are included

    /// The computation's main output (O or Y), and its error; nullptr where there is none.
    std::shared_ptr<const Storage> output() const;
    const OutputError* error() const;

    double arithmetic_intensity() const { return lab::arithmetic_intensity(counters); }
    /// FLOPs that the problem needs, the same for all algorithms: products of queries and keys that see each other.
    double useful_flops() const;
    /// useful_flops() per second of the modelled time.
    std::optional<double> useful_flops_per_s() const;
    /// FLOPs per byte of DRAM traffic, where that is modelled.
    std::optional<double> dram_intensity() const;
    /// Inputs read once and outputs written once: what every algorithm has to move.
    Bytes compulsory_read() const, compulsory_written() const;
    /// Modelled: the DRAM traffic, and the share of the bytes read by SMs that hits in the L2.
    std::optional<DramTraffic> dram() const;
    std::optional<double> l2_hit_rate() const;
    /// What the algorithm's paper counts for the run; nullopt where it counts nothing, or a forward pass is included.
    std::optional<Idealised> idealised() const;
    /// Whether all tensors have room in the GPU's memory.
    bool fits_hbm() const { return hbm_footprint <= experiment.gpu.hbm_bytes; }
    /// Whether an SM has room for the warps of a thread block. Known once a time was asked for, if all fits in HBM.
    bool fits_sm() const { return no_time.empty() || unmodelled || !fits_hbm(); }
};

/// Counts a run: folded, without data. The listeners receive the events of the same run.
Report count(const Experiment& experiment, Control* control = nullptr, std::span<Listener* const> listeners = {});
/// Runs on real numbers. Does not compare the outputs with the reference (lab/run/reference.hpp).
Report execute(const Experiment& experiment, const Inputs& inputs, int threads = 0, Control* control = nullptr);
/// Executes a run that was counted before, and keeps the counted run's time.
Report with_outputs(const Report& counted, const Inputs& inputs, int threads = 0, Control* control = nullptr);

/// Bytes that the tensors need: of the GPU's memory, and of the host's where the run is executed.
Bytes memory_of(const Experiment& experiment);
/// "standard's tensors take 275 GB, ...": why the tensors do not fit in HBM, and what would; empty where they fit.
std::string beyond_hbm(const Experiment& experiment);
/// Throws RunError where the GPU has no room for the tensors.
void check_hbm(const Experiment& experiment);
/// A rough guess, in seconds, of how long `execute` and the reference take.
double seconds_to_execute(const Report& counted, int threads = 0);

}  // namespace tilescope::lab
