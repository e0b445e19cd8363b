// Where the parts of a figure are on a page. A length of 15 units is the size of the font of the numbers on axes.
#pragma once

#include <numbers>

#include "lab/figure/figure.hpp"

namespace tilescope::lab {

inline constexpr double degree = std::numbers::pi / 180;  ///< in radians

/// Panels in columns and rows, below title and legend and above the caption. Widths of words are guesses, because only
/// the program that draws knows the font.
struct FigureLayout {
    /// `legend`: the titles in the legend.
    FigureLayout(const Figure& figure, const Page& page, const std::vector<std::string>& legend);

    struct Area {
        double left, right, bottom, top;
    };
    /// The area between the axes of panel k.
    Area panel(std::size_t k) const;
    /// The height of the middle of a line of the title or the caption, from the bottom of the picture.
    double title_at(std::size_t line) const, caption_at(std::size_t line) const;
    double legend_left() const, legend_top() const;
    /// The factor, at most 1, that makes a label small enough for its box; for linear axes.
    double room_for(const std::string& label, std::size_t panel, const Panel& p, const Box& b) const;
    double units_per_inch() const { return 100 / scale; }

    double scale;  ///< the page's font size over the default one
    double width, height;
    std::vector<std::string> title, caption;  ///< cut into lines
    std::size_t legend_columns;
    double legend_font = 1;             ///< relative to the font of an axis
    std::vector<std::string> y_titles;  ///< of the panels, cut into lines
    /// `text`, of a tick of the x axis, as it is drawn. A name is cut into lines where it lacks room for a single line.
    std::string tick_text(const FigureAxis& x, const std::string& text) const;
    /// How far names along the x axis are turned: 30 or 60 degrees where even names cut into lines lack room, else 0.
    double turn(const FigureAxis& x) const;
    bool steep(const FigureAxis& x) const { return turn(x) > 0; }
    /// Whether the label of a point is turned upright, because it lacks room.
    bool upright(const Panel& p, const FigurePoint& point) const;
    /// The ticks that have room beside each other: every n-th one where all are equally far apart.
    std::vector<std::size_t> ticks_with_room(const FigureAxis& axis, bool along_x) const;
    /// For a logarithmic x axis without ticks of its own: how many decades lie between two labels.
    int decades_apart(const FigureAxis& axis) const;

  private:
    void measure_panels(const Figure& figure);

    double cell_width() const { return (width - side_) / static_cast<double>(columns_); }
    double room_of_tick(const FigureAxis& x) const { return plot_width() / static_cast<double>(x.ticks.size()); }
    double plot_width() const { return cell_width() - left_ - right_; }
    std::size_t columns_, rows_;
    double title_height() const;
    double left_ = 0, right_ = 0, panel_height_ = 0, row_height_, legend_height_;
    double below_ = 0;  ///< room below a panel, for its axis
    double side_ = 0;   ///< room beside the panels, for the legend
};

}  // namespace tilescope::lab
