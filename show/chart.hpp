// The axes of a figure's panel as the window draws them.
#pragma once

#include "lab/figure/figure.hpp"

namespace tilescope::show {

struct ChartAxis {
    std::string title;
    double from = 0, to = 1;  ///< from < to
    bool log = false;
    std::vector<lab::FigureAxis::Tick> ticks;

    /// Where a number stands: 0 to 1 within the axis; far outside where a logarithmic one has no place for it.
    float at(double x) const;
};

struct ChartAxes {
    ChartAxis x, y;
};
/// Where the figure leaves it open, they hold all of the panel's points, and these.
ChartAxes axes_of(const lab::Panel& panel, const std::vector<std::pair<double, double>>& besides);

}  // namespace tilescope::show
