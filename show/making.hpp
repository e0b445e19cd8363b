// What a setup asks for, in the making: a unit of work at a time, so that nobody has to wait for it.
#pragma once

#include "lab/flags/request.hpp"
#include "lab/mapping.hpp"
#include "show/run.hpp"
#include "show/spill.hpp"

namespace tilescope::show {

/// How two runs keep step with each other: at the same number of ticks, of bytes that cross SMs' boundaries, or of
/// modelled seconds. In time, a race or not, playing takes as long for alike times.
enum class Pace : std::uint8_t { step, bytes, time };
const char* name_of(Pace pace);
std::optional<Pace> pace_from(std::string_view name);

/// Everything that decides what runs.
struct Setup {
    std::string algorithm = "flash_v2";
    std::string rival;  ///< the algorithm raced against; empty: none
    Pace pace = Pace::step;
    lab::Options options;
    /// The file of a recording that is played instead; then the rest is what it says, for those who show flags.
    std::string recording = {};

    friend bool operator==(const Setup&, const Setup&) = default;
};

/// A tiling that does not fit, and what to show in its place.
struct Overflow {
    std::string algorithm;
    OutOfChipMemory error;
    Tiling tiling;                                 ///< that was asked for, completed
    std::optional<Tiling> fitting;                 ///< one that fits
    std::string explanation;                       ///< many lines
    std::map<std::string, Meaning> meanings = {};  ///< of the program's tiles, by name
    Tiling given = {};                             ///< that was asked for; 0: left open

    Meaning meaning_of(const std::string& tile) const {
        const auto found = meanings.find(tile);
        return found == meanings.end() ? Meaning::other : found->second;
    }
};

/// What came of a setup: one or two runs, or an overflow, or a problem; a problem may be that HBM spills over.
struct Made {
    std::optional<lab::Request> request;
    std::optional<Tiling> tiling;  ///< of the first run, completed
    std::string problem;           ///< one line, naming the flag; empty: none
    std::optional<Overflow> overflow;
    std::optional<Spill> spill;
    std::unique_ptr<Run> run, rival;
    std::optional<Setup> played;  ///< of a recording: what would run the same
};

class Making {
  public:
    Making(Setup setup, const RecordingLimits& limits);

    /// Does the next unit and returns how many are left, as far as is known: for a Job. A unit counts everything, or
    /// records a slice (see Recorder), or puts a recording in order. What is wrong with the setup becomes part of what
    /// is made. Throws Interrupted.
    Index work(Control& control);
    const Setup& setup() const { return setup_; }
    Made take() { return std::move(made_); }

  private:
    Counted counted(const Algorithm& algorithm, Control& control);
    void count_all(Control& control);
    void open_recording();
    Index record(Control& control);

    const Setup setup_;
    const RecordingLimits limits_;
    Made made_;
    std::vector<Counted> counted_;  // what is to be recorded: the run, and its rival in a race
    Index heads_ = 0;               // of each
    std::unique_ptr<Recorder> recording_;
};

}  // namespace tilescope::show
