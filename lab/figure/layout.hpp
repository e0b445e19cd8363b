// Where the parts of a figure are on a page: in units of which 15 are the font of the numbers on axes.
#pragma once

#include <numbers>

#include "lab/figure/figure.hpp"

namespace tilescope::lab {

inline constexpr double degree = std::numbers::pi / 180;  ///< in radians

/// In columns and rows, below a title and a legend and above a caption. Widths of words are guesses: only who draws
/// knows the font.
struct FigureLayout {
    /// `legend`: the titles in it.
    FigureLayout(const Figure& figure, const Page& page, const std::vector<std::string>& legend);

    struct Area {
        double left, right, bottom, top;
    };
    /// Between the axes of a panel.
    Area panel(std::size_t k) const;
    /// The middle of a line of the title or the caption, above the bottom of the picture.
    double title_at(std::size_t line) const, caption_at(std::size_t line) const;
    double legend_left() const, legend_top() const;
    /// What part of its size a label may have to be within a box; axes are linear.
    double room_for(const std::string& label, std::size_t panel, const Panel& p, const Box& b) const;
    double units_per_inch() const { return 100 / scale; }

    double scale;  ///< of the font, to that of an own page
    double width, height;
    std::vector<std::string> title, caption;  ///< lines
    std::size_t legend_columns;
    double legend_font = 1;             ///< in fonts of an axis
    std::vector<std::string> y_titles;  ///< of the panels, cut into lines
    /// The text of a tick of the x axis; a name is cut into lines where it has no room beside its neighbours.
    std::string tick_text(const FigureAxis& x, const std::string& text) const;
    /// How names along the x axis are turned that have no room beside each other either way: 0, 30 or 60 degrees.
    double turn(const FigureAxis& x) const;
    bool steep(const FigureAxis& x) const { return turn(x) > 0; }
    /// Whether there is as little room for a point's label.
    bool upright(const Panel& p, const FigurePoint& point) const;
    /// Which of the ticks have room beside each other: every so manieth where they are equally far apart.
    std::vector<std::size_t> ticks_with_room(const FigureAxis& axis, bool along_x) const;
    /// Of an axis along x that is logarithmic and has no ticks of its own: how many decades its words are apart.
    int decades_apart(const FigureAxis& axis) const;

  private:
    void measure_panels(const Figure& figure);

    double cell_width() const { return (width - side_) / static_cast<double>(columns_); }
    double room_of_tick(const FigureAxis& x) const { return plot_width() / static_cast<double>(x.ticks.size()); }
    double plot_width() const { return cell_width() - left_ - right_; }
    std::size_t columns_, rows_;
    double title_height() const;
    double left_ = 0, right_ = 0, panel_height_ = 0, row_height_, legend_height_;
    double below_ = 0;  ///< a panel, for its axis
    double side_ = 0;   ///< of the panels, for the legend
};

}  // namespace tilescope::lab
