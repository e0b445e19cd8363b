// What is being looked at: the flags that decide a run, the run itself, and in a race a second run beside it.
#pragma once

#include "show/run/job.hpp"
#include "show/run/making.hpp"

namespace tilescope::show {

class Session {
  public:
    explicit Session(RecordingLimits limits = {});
    ~Session();
    Session(Session&&) noexcept;

    /// Begins to make what `setup` asks for, unless the last call asked for the same. A result that takes no longer
    /// than a frame is there when ask() returns. Otherwise it is in the making, and the old result stays until pump()
    /// or finish() replaces it. A wrong setup leaves problem() and no run; tiles that do not fit on chip leave
    /// overflow() and no run. Never throws for what a user can ask for.
    void ask(const Setup& setup);
    /// Changes one flag, by its name without dashes, as on the command line; an empty value resets it. An invalid value
    /// becomes problem() at once, and leaves setup() as it was.
    void set(const std::string& flag, const std::string& value);

    /// Call this every frame. Where no thread does the work, does at most `units` units of the work (see Making), each
    /// of some milliseconds. True when nothing is in the making.
    bool pump(Index units = 4);
    /// Does the work, or waits for the thread that does it, until what was asked for is there.
    void finish();
    /// Gives up what is in the making. setup() is again the setup that is shown, if there is one.
    void cancel();
    bool busy() const { return making_ != nullptr; }  ///< something is in the making
    Job::Progress progress() const;                   ///< of what is in the making, in units

    const Setup& setup() const { return setup_; }  ///< the setup asked for last
    const Algorithm& algorithm() const;            ///< the algorithm of this setup

    // The members down to rival() return the result; while something is in the making, the result before it.

    const lab::Request* request() const { return made_.request ? &*made_.request : nullptr; }  ///< nullptr if wrong
    const std::optional<Tiling>& tiling() const { return made_.tiling; }  ///< of the first run, completed
    const std::string& problem() const { return made_.problem; }          ///< one line, naming the flag; empty: none
    const std::optional<Overflow>& overflow() const { return made_.overflow; }
    const std::optional<Spill>& spill() const { return made_.spill; }  ///< of HBM; problem() says it in words

    Run* run() { return made_.run.get(); }  ///< nullptr where there is a problem or an overflow
    const Run* run() const { return made_.run.get(); }
    Run* rival() { return made_.rival.get(); }  ///< nullptr unless racing
    const Run* rival() const { return made_.rival.get(); }

    /// Positions are what playback counts: ticks of the run or, in a race, moments at which one of the two moves on.
    Index length() const { return static_cast<Index>(moments_.size()) - 1; }
    /// The ticks of the run and of its rival at a position.
    std::pair<Index, Index> ticks_at(Index position) const { return moments_[static_cast<std::size_t>(position)]; }
    /// The first position at which the run has carried out `tick` ticks.
    Index position_of(Index tick) const;
    /// The modelled time at which one of the two runs reaches a tick; in a race, as if its recording were the whole
    /// run.
    double seconds(const Run& run, Index tick) const { return rival() ? run.seconds_for_all(tick) : run.seconds(tick); }
    /// The first position at which the run, or with `of_rival` its rival, has reached this modelled time.
    Index position_at(double seconds, bool of_rival) const;
    /// How long the move to a position takes, where the average move takes 1; always 1, unless the pace is time.
    double weight(Index position) const;
    /// Takes both runs to a position.
    void show(Index position);

    /// Counts the same problem on the same GPU with another algorithm. Where tiles are automatic, this algorithm's own
    /// are chosen (those of released kernels in place of the best). nullptr where its tiles do not fit on chip, or it
    /// computes something else. The result is kept until the setup changes.
    const lab::Report* counted(const std::string& algorithm);
    /// Changes whenever there is another run to show.
    std::uint64_t version() const { return version_; }

  private:
    struct InTheMaking;

    bool plays(const Setup& setup) const;
    void swap_in();
    void show_made(Made made);
    void line_up();

    RecordingLimits limits_;
    Setup setup_;
    bool asked_ = false;
    std::optional<Setup> shown_;  // the setup that made_ is the result of
    Made made_;
    std::unique_ptr<InTheMaking> making_;
    std::vector<std::pair<Index, Index>> moments_{{0, 0}};
    std::map<std::string, std::optional<lab::Report>> counted_;
    std::uint64_t version_ = 0;
};

}  // namespace tilescope::show
