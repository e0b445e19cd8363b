// Hardware counters: what Nsight Compute measured of a kernel's launches.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/machine/units.hpp"

namespace tilescope::device {

/// Metrics that are compared with the model's numbers or explain differences from them.
struct NcuMetric {
    static constexpr const char *sm_read = "l1tex__m_xbar2l1tex_read_bytes.sum",
                                *sm_write_sectors = "lts__t_sectors_srcunit_tex_op_write.sum",
                                *sm_reduce_sectors = "lts__t_sectors_srcunit_tex_op_red.sum",
                                *dram_read = "dram__bytes_read.sum", *dram_write = "dram__bytes_write.sum",
                                *dram = "dram__bytes.sum", *dram_rate = "dram__bytes.sum.per_second",
                                *xu = "smsp__inst_executed_pipe_xu.sum",
                                *ffma = "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum",
                                *tensor = "sm__inst_executed_pipe_tensor.sum",
                                *shared_wavefronts = "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum",
                                *shared_conflicts = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum",
                                *cycles = "sm__cycles_elapsed.max", *time = "gpu__time_duration.sum",
                                *limit_shared = "launch__occupancy_limit_shared_mem",
                                *limit_registers = "launch__occupancy_limit_registers",
                                *limit_warps = "launch__occupancy_limit_warps",
                                *limit_blocks = "launch__occupancy_limit_blocks",
                                *waves = "launch__waves_per_multiprocessor", *sms = "launch__sm_count",
                                *clock = "smsp__cycles_elapsed.avg.per_second",
                                *spills = "Local Memory Spilling Requests";
    /// Not asked for: DRAM bytes, computed where a profile has only a rate and the time.
    static constexpr const char* dram_by_rate = "dram__bytes.sum.per_second x gpu__time_duration.sum";
};

/// Every metric that ncu is asked for, unless the GPU lacks it; parse_ncu() reads a few more.
std::span<const char* const> ncu_metrics();

/// ncu with the flags that parse_ncu() needs, in front of the program.
std::vector<std::string> ncu_words(std::span<const std::string> metrics);
/// The command that counts all ncu_metrics() and writes `file`; its last words are the list of metrics and a program.
std::vector<std::string> ncu_command(const std::string& file);

/// One profiled launch: metrics by name, in bytes, nanoseconds, hertz and counts.
struct NcuLaunch {
    std::string kernel;
    std::map<std::string, double, std::less<>> metrics = {};
    std::string compute_capability = "";                    ///< of its GPU; empty: not in the file
    std::string grid = "";                                  ///< "(64, 1, 1)": thread blocks; empty: not in the file
    std::set<std::string, std::less<>> not_available = {};  ///< metrics that are there without a number
};

/// Reads what ncu writes as CSV, other lines mixed in: the raw page, a line a launch, or the details page, a line a
/// metric; with any unit and language of numbers; as UTF-8 or UTF-16; saved again by a spreadsheet or not. What is
/// n/a is left out. Where DRAM's rate and the time are known, dram_by_rate is their product. Throws UsageError, whose
/// text follows the file's name, where a unit is unknown, a value cannot be one of a counter, it is unclear what a
/// comma means, or no column names kernels.
std::vector<NcuLaunch> parse_ncu(std::string_view text);

/// What went wrong, in a line, if anything did: the first error that ncu printed, explained where it is a known one.
std::string ncu_problem(std::string_view text);

/// The metrics that ncu complains about as unknown.
std::vector<std::string> unknown_metrics(std::string_view text);

/// All launches of an algorithm together; nothing where the GPU has no such metric.
struct Measured {
    std::optional<double> read_bytes, write_bytes;            ///< L2 to SM, SM to L2
    std::optional<double> reduce_bytes;                       ///< SM to L2, which adds them up
    std::optional<double> dram_read_bytes, dram_write_bytes;  ///< L2 misses, write-backs
    std::optional<double> dram_bytes;                         ///< both together
    std::optional<double> xu_ops, ffma_flops, tensor_instructions;
    std::optional<double> shared_wavefronts, shared_conflicts;
    std::optional<double> microseconds;
    std::optional<double> megahertz;  ///< of the SMs, on average
    /// These are of the launch that took longest.
    std::optional<double> blocks_by_shared, blocks_by_registers, blocks_by_others, waves, sms;
    std::optional<double> spills;  ///< requests of warps to local memory

    std::optional<double> blocks_per_sm() const;
};
Measured combine(std::span<const NcuLaunch> launches);
/// The sum of a metric over all launches; nullopt where there are none, or one lacks the metric.
std::optional<double> sum_of(const char* metric, std::span<const NcuLaunch> launches);

}  // namespace tilescope::device
