// How long a run takes and what the L2 catches, launch by launch: the program's outline, played on the machine.
// Modelled. docs/time.md derives it; docs/validation.md has its errors against devices.
#pragma once

#include "core/time/parts.hpp"
#include "lab/run/experiment.hpp"

namespace tilescope::lab {

/// How kernels of such an experiment compute products.
Style style_of(const Experiment& experiment);

/// Counted and timed: a report with `time`, unless the tensors do not fit in HBM. Listeners hear of the same run.
/// Throws what counting throws.
Report count_and_time(const Experiment& experiment, Control* control = nullptr,
                      std::span<Listener* const> listeners = {});

/// How many thread blocks of a launch share an SM.
struct Occupancy {
    Residency residency;
    Index warps = 0, registers = 0;         ///< of a thread block; of a thread
    bool compiled = false, spills = false;  ///< see LaunchTime
};
/// The counts, and the occupancy of every launch, before anything is played, whether the tensors fit in HBM or not.
struct Occupied {
    Report report;  ///< without time
    std::vector<Occupancy> launches;
};
Occupied count_and_occupy(const Experiment& experiment, Control* control = nullptr);

enum class RegistersFrom : std::uint8_t { compiler, rule };

/// A launch as it was played: when each thread block is on which SM, and what its work is.
struct PlayedLaunch {
    std::vector<Axis> axes;
    std::vector<BlockOfHead> order;  ///< in which they start
    std::vector<BlockWork> works;    ///< of a head's thread blocks
    Timeline timeline;               ///< without stays where there are too many thread blocks to play
    double launch_us = 0;            ///< of the launch itself, before its first thread block starts
    double sharing = 1;              ///< SMs that share L2 and DRAM at first

    const BlockWork& work(std::size_t stay) const { return works[order[stay].block]; }
};

/// The most thread blocks of a launch that are played; more are timed as a stream without waves.
inline constexpr Count most_blocks_played = 1 << 20;

struct TimingOptions {
    std::vector<PlayedLaunch>* played = nullptr;        ///< the launches are added to it
    Count most_stays = most_blocks_played;              ///< a launch of more thread blocks gets no stays in `played`
    RegistersFrom registers = RegistersFrom::compiler;  ///< those of a compiled kernel, where there is one
    bool l2 = true;                                     ///< false: nothing misses in the L2, and it is not played
};

/// The time alone, whether the tensors fit or not; infinite where no thread block fits on an SM. Throws what counting
/// throws.
RunTime time_of(const Experiment& experiment, const TimingOptions& options = {}, Control* control = nullptr);
/// The same of a run that was counted; `outline` listened to it.
RunTime time_of(const Report& counted, const Outline& outline, const TimingOptions& options = {});
/// Gives a counted report its time, or the reason why it has none; `outline` listened to it.
void set_time(Report& counted, const Outline& outline, const TimingOptions& options = {});

/// Whether the measurements that ship with TileScope were made on this very machine: errors are stated for no other.
bool was_measured(const GpuSpec& gpu);

/// "tensor cores"
std::string in_words(Unit unit);
/// What the launch waits for, and what would help, in a sentence or two.
std::string verdict(const LaunchTime& launch, Style style, const Experiment& experiment);
/// The verdict on the longest launch of a run; before it, why no kernel would run like that, if none would.
std::string verdict(const RunTime& run, const Experiment& experiment);
/// What the times rest on, in a sentence.
std::string basis(const RunTime& run, const Experiment& experiment);
/// "1 x 64 as 128 x 64": a tile cut to the problem, and the kernel's, which is timed; empty where they are the same.
std::string about_cut_tile(const Experiment& experiment);
/// The share of cold DRAM traffic that a repeated run saves because the L2 has kept what the run touches; 0 where the
/// L2 has no room for all of that.
double kept_by_l2(const Report& report);
inline constexpr double nearly_all_kept = 0.95;
/// Whether kept_by_l2() is more than half.
bool is_warm(const Report& report);
/// How a message describes DRAM traffic beside a warm time.
std::string cold_traffic();
/// "The time is warm: ..."; empty where it is not, or there is none.
std::string about_warm(const Report& report);

}  // namespace tilescope::lab
