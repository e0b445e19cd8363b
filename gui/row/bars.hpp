// A row of values as bars, with what is said of them: a level, a ceiling, their sum.
#pragma once

#include <vector>

#include "gui/draw/canvas.hpp"
#include "show/stage/row.hpp"

namespace tilescope::gui::row {

/// A value of a key.
struct Bar {
    show::RowKey::State state = show::RowKey::State::unread;
    float value = 0, was = 0;  ///< was: the value before this visit scaled it
    bool now = false;
};
std::vector<Bar> scores_of(const show::RowMoment& moment);
std::vector<Bar> weights_of(const show::RowMoment& moment);

/// Maps values from `low` to `high` to the box from its bottom to its top.
struct Scale {
    Box box;
    float low = 0, high = 0;

    /// Has room for all bars, for 0 and for `least`.
    Scale(const Box& box, const std::vector<Bar>& bars, float least);
    void with(float value);
    float y(float value) const;
};
/// Also has room for the running maximum, or the ceiling, where there is one.
Scale scale_of_scores(const Box& box, const show::RowMoment& moment);

void draw_bars(const Canvas& canvas, const Scale& scale, const std::vector<Bar>& bars);
/// The running maximum.
void draw_level(const Canvas& canvas, const Scale& scale, const show::RowMoment& moment);
/// The line above which exponentials overflow.
void draw_ceiling(const Canvas& canvas, const Scale& scale);
/// The sum as a bar: the old value as a dashed outline, what scaling left of it, and what was added.
void draw_sum(const Canvas& canvas, const Box& box, const show::RowMoment& moment);

}  // namespace tilescope::gui::row
