// Where we are in time, and how it moves on. Knows positions, not what they mean.
#pragma once

#include <functional>
#include <optional>

#include "core/machine/units.hpp"

namespace tilescope::show {

/// What playing goes through where that is not everything. Of a run that is not so long, all.
struct Stretch {
    Index first = 0, last = -1;  ///< -1: the end

    friend bool operator==(const Stretch&, const Stretch&) = default;
};

class Playback {
  public:
    /// The first position in (from, to] at which playing has to stop; nothing if there is none.
    using Stop = std::function<Index(Index from, Index to)>;  // -1: none

    static constexpr double slowest = 0.5, fastest = 2000;  ///< positions a second

    /// Another recording: positions 0 to length. Keeps the position as far as it exists, and comes back to it after
    /// nothing (length 0).
    void set_length(Index length);
    Index length() const { return length_; }

    Index position() const { return position_; }
    /// How much of the last move is to be seen: 0 when it begins, 1 when it is over.
    double fraction() const { return still ? 1 : fraction_; }
    bool still = false;  ///< what moves lead to is there at once, for who asks for less motion
    bool playing() const { return playing_; }
    bool loop = false;
    double speed() const { return speed_; }  ///< positions a second, on average
    void set_speed(double positions_per_second);

    /// What is played; whoever goes beyond it by himself plays on to the end.
    void set_stretch(Stretch s) { stretch_ = s; }
    const Stretch& stretch() const { return stretch_; }
    Index first() const { return stretch_.first < length_ ? stretch_.first : 0; }
    Index last() const { return stretch_.last > first() && stretch_.last < length_ ? stretch_.last : length_; }

    /// Starts, from the beginning if at the end; pauses.
    void play();
    void pause();
    void toggle() { playing_ ? pause() : play(); }
    /// One position on or back, paused. A step forwards is shown as a move, one back at once.
    void step(Index by);
    /// To the beginning or the end of what is played; once more, or from outside, of everything. Paused.
    void to_start();
    void to_end();
    /// Straight to a position, with nothing moving.
    void seek(Index position);
    /// The same; one that does not exist is gone to when there is another length.
    void seek_in_time(Index position);
    /// Straight to a position, the last move of which is shown; paused.
    void go(Index position);

    /// How long the move to a position takes, where the average one takes 1.
    using Weight = std::function<double(Index position)>;

    /// Lets time pass. Stops, paused, at the first position that stops() names and at the end.
    void advance(
        double seconds, const Stop& stops, const Weight& weight = [](Index) { return 1.0; });

  private:
    Index end() const { return position_ <= last() ? last() : length_; }

    Index length_ = 0, position_ = 0;
    Stretch stretch_;
    double fraction_ = 1, speed_ = 4;
    bool playing_ = false;
    std::optional<Index> wanted_;  // beyond the end
};

}  // namespace tilescope::show
