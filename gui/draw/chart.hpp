// A panel of a figure: axes, curves and words, as plots for print have them.
#pragma once

#include "gui/draw/canvas.hpp"
#include "show/stage/chart.hpp"

namespace tilescope::gui {

struct Chart {
    Box plot;  ///< within the axes
    show::ChartAxes axes;

    ImVec2 at(double x, double y) const {
        return {plot.x0 + plot.w() * axes.x.at(x), plot.y1 - plot.h() * axes.y.at(y)};
    }
};

/// Draws the panel into the area, with room for titles and ticks; returns where they are.
/// `besides`: points that the axes have to reach beside those of the panel.
Chart draw_chart(const Canvas& canvas, Box area, const lab::Panel& panel,
                 const std::vector<std::pair<double, double>>& besides);

/// A legend: one sample for each curve and box of all panels, with its title; returns its height.
float draw_legend(const Canvas& canvas, Box area, const lab::Figure& figure);

/// A point's mark.
void draw_mark(const Canvas& canvas, ImVec2 at, lab::Look look, int colour, float size);

}  // namespace tilescope::gui
