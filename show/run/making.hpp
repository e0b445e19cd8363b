// Makes what a setup asks for, one unit of work at a time, so that nobody has to wait for it.
#pragma once

#include "lab/flags/request.hpp"
#include "lab/model/mapping.hpp"
#include "show/run/run.hpp"
#include "show/run/spill.hpp"

namespace tilescope::show {

/// What paces a race: at any moment both runs have done equally many ticks, moved equally many bytes across the SMs'
/// boundary, or taken equal modelled time. With `time`, also outside of races, equal modelled times take equally long
/// to play.
enum class Pace : std::uint8_t { step, bytes, time };
const char* name_of(Pace pace);
std::optional<Pace> pace_from(std::string_view name);

/// Everything that decides what runs.
struct Setup {
    std::string algorithm = "flash_v2";
    std::string rival;  ///< the algorithm raced against; empty: none
    Pace pace = Pace::step;
    lab::Options options;
    /// The file of a recording that is played instead. The other members then repeat what the recording says, so that
    /// the window can show them as flags.
    std::string recording = {};

    friend bool operator==(const Setup&, const Setup&) = default;
};

/// A tiling that does not fit on chip, and what to show in its place.
struct Overflow {
    std::string algorithm;
    OutOfChipMemory error;
    Tiling tiling;                                 ///< asked for; sizes that were left open are filled in
    std::optional<Tiling> fitting;                 ///< one that fits
    std::string explanation;                       ///< many lines
    std::map<std::string, Meaning> meanings = {};  ///< of the program's tiles, by name
    Tiling given = {};                             ///< as asked for; 0: left open

    Meaning meaning_of(const std::string& tile) const {
        const auto found = meanings.find(tile);
        return found == meanings.end() ? Meaning::other : found->second;
    }
};

/// The result of a setup: one or two runs, an overflow, or a problem. The problem may be that HBM spills over.
struct Made {
    std::optional<lab::Request> request;
    std::optional<Tiling> tiling;  ///< of the first run, completed
    std::string problem;           ///< one line, naming the flag; empty: none
    std::optional<Overflow> overflow;
    std::optional<Spill> spill;
    std::unique_ptr<Run> run, rival;
    std::optional<Setup> played;  ///< for a recording: the setup that would run the same
};

class Making {
  public:
    Making(Setup setup, const RecordingLimits& limits);

    /// Does the next unit of a Job and returns how many are left, as far as is known. A unit counts everything, records
    /// a slice (see Recorder), or makes a Run of a complete recording. An error in the setup becomes part of the
    /// result. Throws Interrupted.
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
    Index heads_ = 0;               // query heads to record, of each run
    std::unique_ptr<Recorder> recording_;
};

}  // namespace tilescope::show
