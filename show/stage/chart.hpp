// The axes of a figure's panel as the window draws them.
#pragma once

#include "lab/figure/figure.hpp"

namespace tilescope::show {

struct ChartAxis {
    std::string title;
    double from = 0, to = 1;  ///< from < to
    bool log = false;
    std::vector<lab::FigureAxis::Tick> ticks;

    /// Position of `x` along the axis: 0 at `from`, 1 at `to`; far outside where a logarithmic axis has no place for x.
    float at(double x) const;
};

struct ChartAxes {
    ChartAxis x, y;
};
/// Limits that the figure leaves open are chosen so that all points of the panel, and the points `besides`, lie within
/// them.
ChartAxes axes_of(const lab::Panel& panel, const std::vector<std::pair<double, double>>& besides);

}  // namespace tilescope::show
