#include "show/run/playback.hpp"

#include <algorithm>

namespace tilescope::show {

void Playback::set_length(Index length) {
    if (length == length_) return;  // this is called in every frame
    length_ = length;
    if (wanted_) return seek_in_time(*wanted_);
    if (position_ < length_) return;
    const Index before = position_;
    seek(length_), playing_ = false;
    if (length_ == 0 && before > 0) wanted_ = before;  // to return to once the user has corrected a mistake in a field
}

void Playback::set_speed(double positions_per_second) { speed_ = std::clamp(positions_per_second, slowest, fastest); }

void Playback::play() {
    if (length_ == 0) return;
    if (position_ == end()) seek(first());
    playing_ = true;
}

void Playback::pause() { playing_ = false; }

void Playback::to_start() {
    pause();
    seek(position_ > first() ? first() : 0);
}

void Playback::to_end() {
    pause();
    seek(position_ < last() ? last() : length_);
}

void Playback::step(Index by) {
    if (by > 0)
        go(position_ + by);
    else
        seek(position_ + by), playing_ = false;
}

void Playback::seek(Index position) {
    position_ = std::clamp<Index>(position, 0, length_);
    fraction_ = 1;
    wanted_.reset();
}

void Playback::seek_in_time(Index position) {
    seek(position);
    if (position > length_) wanted_ = position;
}

void Playback::go(Index position) {
    playing_ = false;
    const Index before = position_;
    seek(position);
    if (position_ > before) fraction_ = 0;
}

void Playback::advance(double seconds, const Stop& stops, const Weight& weight) {
    constexpr double shown_in = 0.35;  // seconds, of a single step
    if (!playing_) {
        fraction_ = std::min(1.0, fraction_ + seconds / shown_in);
        return;
    }
    const Index end = this->end();
    double left = seconds * speed_;  // of average moves
    Index target = position_;
    double fraction = fraction_;
    for (;;) {
        const double move = weight(target), rest = (1 - fraction) * move;
        if (left < rest) {
            fraction += left / move;
            break;
        }
        left -= rest;
        if (target == end) {
            fraction = 1;
            break;
        }
        ++target, fraction = 0;
    }
    if (target == position_) {
        fraction_ = fraction;
        if (fraction_ < 1) return;
        // The last move has been shown to its end.
        if (loop)
            seek(first());
        else
            seek(end), playing_ = false;
        return;
    }
    if (const Index stop = stops(position_, target); stop >= 0) return go(stop);
    seek(target);
    // The last move is shown, however long the frame took.
    fraction_ = fraction < 1 ? fraction : 0;
}

}  // namespace tilescope::show
