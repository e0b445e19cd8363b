// The position in time, and how it moves on. Positions are mere numbers here: the caller says what they stand for.
#pragma once

#include <functional>
#include <optional>

#include "core/machine/units.hpp"

namespace tilescope::show {

/// The positions that are played, where not all are. A bound beyond the end of a run is ignored.
struct Stretch {
    Index first = 0, last = -1;  ///< -1: the end

    friend bool operator==(const Stretch&, const Stretch&) = default;
};

class Playback {
  public:
    /// The first position in (from, to] at which playing has to stop; -1 where there is none.
    using Stop = std::function<Index(Index from, Index to)>;

    static constexpr double slowest = 0.5, fastest = 2000;  ///< positions a second

    /// Changes to a recording with positions 0 to `length`. Keeps the position, or goes to the last one where it does
    /// not exist. A length of 0 means nothing to play; the next length brings the position back.
    void set_length(Index length);
    Index length() const { return length_; }

    Index position() const { return position_; }
    /// How much of the last move is shown: 0 when it begins, 1 when it is over.
    double fraction() const { return still ? 1 : fraction_; }
    bool still = false;  ///< moves are not animated, for users who ask for less motion
    bool playing() const { return playing_; }
    bool loop = false;
    double speed() const { return speed_; }  ///< positions a second, on average
    void set_speed(double positions_per_second);

    /// Sets what is played. From a position beyond the stretch, playing goes on to the end of the run.
    void set_stretch(Stretch s) { stretch_ = s; }
    const Stretch& stretch() const { return stretch_; }
    Index first() const { return stretch_.first < length_ ? stretch_.first : 0; }
    Index last() const { return stretch_.last > first() && stretch_.last < length_ ? stretch_.last : length_; }

    /// play() starts playing; from the end it begins again at the first position. pause() pauses.
    void play();
    void pause();
    void toggle() { playing_ ? pause() : play(); }
    /// Pauses, and goes `by` positions on, or back where `by` is negative. A step on is animated, a step back is not.
    void step(Index by);
    /// Pauses, and goes to the first (last) position of the stretch. From there, or from before (after) it, goes to the
    /// first (last) position of the run.
    void to_start();
    void to_end();
    /// Straight to a position, without animation.
    void seek(Index position);
    /// As seek(). Where the position lies beyond the end, every later set_length() tries to go there again.
    void seek_in_time(Index position);
    /// Straight to a position, paused. Where it lies ahead, the last move to it is animated.
    void go(Index position);

    /// How long the move to a position takes, where the average move takes 1.
    using Weight = std::function<double(Index position)>;

    /// Lets `seconds` pass. Pauses at the first position that `stops` returns, and at the end, unless `loop` is set.
    void advance(
        double seconds, const Stop& stops, const Weight& weight = [](Index) { return 1.0; });

  private:
    Index end() const { return position_ <= last() ? last() : length_; }

    Index length_ = 0, position_ = 0;
    Stretch stretch_;
    double fraction_ = 1, speed_ = 4;
    bool playing_ = false;
    std::optional<Index> wanted_;  // a position beyond the end, to go to once it exists
};

}  // namespace tilescope::show
