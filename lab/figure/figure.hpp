// A figure as data: what is drawn, in the units of its axes, without how it looks. It becomes a gnuplot script, a
// table, or a drawing in the window.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/text/message.hpp"

namespace tilescope::lab {

/// How numbers of an axis are written.
enum class Scale : std::uint8_t { plain, bytes, seconds, flops_per_s, percent };

struct FigureAxis {
    std::string title;
    Scale scale = Scale::plain;
    bool log = false;
    std::optional<double> from = std::nullopt, to = std::nullopt;
    struct Tick {
        double at;
        std::string text;
    };
    std::vector<Tick> ticks = {};  ///< empty: the program that draws chooses the ticks
    std::string unit = "";         ///< "µs", where the title has the unit and the texts of ticks leave it out

    std::string words() const { return unit.empty() ? title : text::message("figure.axis_with_unit", title, unit); }
};

enum class Look : std::uint8_t {
    measured_line,  ///< with a point for every number
    line,           ///< without points
    border,         ///< a thin line
    dashes,         ///< an exact limit
    dots,           ///< a shape, whose slope alone has a meaning
    points,
    open_points,
    rings,    ///< circles around points of another series
    crosses,  ///< cross out points of runs that cannot be
    words,    ///< only the labels of the points
    way,      ///< a thin line that begins with a dot
    arrows,   ///< an arrow from each first point to each second one
};

struct FigurePoint {
    double x, y;
    std::string label = "";
    double slope = 0;  ///< of the label, in units of the axes (in decades on logarithmic axes)
};

/// Where words stand. `from` and `under`: they begin at their point, above or below a line. `upto`: they end at it.
enum class Side : std::uint8_t { above, below, centre, from, under, upto };

/// Points that belong together.
struct Series {
    std::string title;  ///< in the legend; empty: the legend leaves out the series
    Look look = Look::measured_line;
    int colour = 0;  ///< index in the palette; -1: the colour of text
    std::vector<FigurePoint> points = {};
    Side side = Side::above;  ///< where the labels of the points stand
    bool small = false;       ///< draws small points, where there are many
};

struct Box {
    double left, right, bottom, top;
    int colour = 0;           ///< index in the palette; below 0: the colour follows from `shade`
    double shade = 0;         ///< a value on the axis Panel::shades, which gives the colour
    bool hatched = false;     ///< hatched, with a pattern for every colour, instead of filled
    std::string series = "";  ///< its title in the legend, which the first box of a colour gives
    std::string label = "";   ///< in the middle of the box
    bool open = false;        ///< only the border is drawn
    std::string bar = "";     ///< the bar that the box is a part of, by the text of its tick
};

struct Panel {
    std::string title;
    FigureAxis x, y;
    std::vector<Series> series = {};
    std::vector<Box> boxes = {};
    std::optional<FigureAxis> shades = std::nullopt;  ///< the scale of Box::shade, beside the panel, without a title
    bool map = false;                                 ///< both axes have the same scale, and are not drawn
    std::string caption = "";                         ///< about this panel alone
    double rows = 0;  ///< of a chart of rows: how many lines high it is, whose boxes have words; 0: no such chart
};

struct Figure {
    std::string name, title;
    std::vector<Panel> panels;
    std::string of_all;   ///< caption of the whole figure: what is counted, modelled or measured; see caption_of()
    std::string command;  ///< the command that draws the figure again, and the version
};

/// The captions of the panels that have one, then that of the whole figure.
std::string caption_of(const Figure& figure);

/// Every point and box as a row: panel, series, x, y and so on, in the units of the axes.
std::string as_csv(const Figure& figure);
/// Every point and box, and the captions, as docs/outputs.md describes them.
std::string as_json(const Figure& figure);

enum class Theme : std::uint8_t { light, dark, print };
inline constexpr Theme themes[] = {Theme::light, Theme::dark, Theme::print};
const char* name_of(Theme theme);

/// The format of the picture that the script writes.
enum class Terminal : std::uint8_t { svg, pdf, png, tex };

/// How large a picture is, and what stands beside the panels.
struct Page {
    std::optional<double> width_cm = std::nullopt;  ///< nullopt: the figure's own width
    double font_pt = 11;                            ///< of the numbers on axes; the sizes of other words follow
    bool caption = true;                            ///< whether the caption is drawn, and with it title and command
    bool legend_beside = false;                     ///< to the right of the panels, not above them
};

/// A script for gnuplot 5.4 that contains its data and writes the figure to `output`.
std::string as_gnuplot(const Figure& figure, Theme theme, Terminal terminal, const std::string& output,
                       const Page& page = {});
/// The height of the picture on a page that has a width.
double height_in_cm(const Figure& figure, const Page& page);

}  // namespace tilescope::lab
