// What is being looked at: the flags that decide a run, the run itself, and a second one beside it in a race.
#pragma once

#include "lab/flags/request.hpp"
#include "lab/mapping.hpp"
#include "show/run.hpp"

namespace tilescope::show {

/// How two runs keep step with each other: at the same number of ticks, of bytes between HBM and the SMs, or of
/// modelled seconds.
enum class Pace : std::uint8_t { step, bytes, time };
const char* name_of(Pace pace);
std::optional<Pace> pace_from(std::string_view name);

/// Everything that decides what runs.
struct Setup {
    std::string algorithm = "flash_v2";
    std::string rival;  ///< the algorithm raced against; empty: none
    Pace pace = Pace::step;
    Options options;
    /// The file of a recording that is played instead; then the rest is what it says, for those who show flags.
    std::string recording = {};

    friend bool operator==(const Setup&, const Setup&) = default;
};

/// A tiling that does not fit, and what to show in its place.
struct Overflow {
    std::string algorithm;
    OutOfChipMemory error;
    Tiling tiling;                                 ///< that was asked for
    std::optional<Tiling> fitting;                 ///< one that fits
    std::string explanation;                       ///< many lines
    std::map<std::string, Meaning> meanings = {};  ///< of the program's tiles, by name

    Meaning meaning_of(const std::string& tile) const {
        const auto found = meanings.find(tile);
        return found == meanings.end() ? Meaning::other : found->second;
    }
};

class Session {
  public:
    explicit Session(RecordingLimits limits = {}) : limits_(limits) {}

    /// Runs what `setup` asks for, if it is not what is there already. A setup that is wrong leaves the session with
    /// problem() and no run; one that does not fit on chip with overflow() and no run. Never throws for what a user can
    /// ask for.
    void ask(const Setup& setup);
    /// Changes one flag, by its name without dashes, as on the command line; an empty value takes it back. A value that
    /// cannot be one is a problem(), and leaves setup() as it was.
    void set(const std::string& flag, const std::string& value);

    const Setup& setup() const { return setup_; }
    const Algorithm& algorithm() const;                                         ///< asked for, or recorded
    const Request* request() const { return request_ ? &*request_ : nullptr; }  ///< resolved; nullptr if wrong
    const std::optional<Tiling>& tiling() const { return tiling_; }             ///< of the first run, completed
    const std::string& problem() const { return problem_; }  ///< one line, naming the flag; empty: none
    const std::optional<Overflow>& overflow() const { return overflow_; }

    Run* run() { return run_.get(); }  ///< nullptr where there is a problem or an overflow
    const Run* run() const { return run_.get(); }
    Run* rival() { return rival_.get(); }  ///< nullptr unless racing
    const Run* rival() const { return rival_.get(); }

    /// Positions are what playback counts: ticks of the run or, in a race, moments at which one of the two moves on.
    Index length() const { return static_cast<Index>(moments_.size()) - 1; }
    /// The ticks of the run and of its rival at a position.
    std::pair<Index, Index> ticks_at(Index position) const { return moments_[static_cast<std::size_t>(position)]; }
    /// The first position at which the run has carried out `tick` ticks.
    Index position_of(Index tick) const;
    /// Takes both runs to a position.
    void show(Index position);

    /// Counts of the same problem on the same GPU by another algorithm, with its own automatic tiles where tiles are
    /// automatic; nullptr where it does not fit or the problem is not of its family. Kept until the setup changes.
    const Report* counted(const std::string& algorithm);
    /// Changes whenever there is another run to show.
    std::uint64_t version() const { return version_; }

  private:
    void forget();
    bool plays(const Setup& setup) const;
    void open_recording();
    void run_again();
    std::unique_ptr<Run> make_run(const Algorithm& algorithm, Index heads);
    void line_up();

    RecordingLimits limits_;
    Setup setup_;
    bool asked_ = false;
    std::optional<Request> request_;
    std::optional<Tiling> tiling_;
    std::string problem_;
    std::optional<Overflow> overflow_;
    std::unique_ptr<Run> run_, rival_;
    std::vector<std::pair<Index, Index>> moments_{{0, 0}};
    std::map<std::string, std::optional<Report>> counted_;
    std::uint64_t version_ = 0;
};

}  // namespace tilescope::show
