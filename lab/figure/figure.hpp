// A figure as data: what is drawn, in the units of its axes, before anybody decides how it looks. Written as a script
// for gnuplot, as a table, and by the window.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

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
    std::vector<Tick> ticks = {};  ///< where they are; else chosen by who draws
    std::string unit = "";         ///< of what ticks say, which have none then: "µs"

    std::string words() const { return unit.empty() ? title : title + ", " + unit; }
};

enum class Look : std::uint8_t {
    measured_line,  ///< with a point for every number
    line,           ///< without
    border,         ///< thin
    dashes,         ///< a limit that is exact
    dots,           ///< a shape: only its slope means something
    points,
    open_points,
    rings,    ///< round a point of another series
    crosses,  ///< what cannot be
    words,    ///< their labels alone
    way,      ///< thin, from a point
};

struct FigurePoint {
    double x, y;
    std::string label = "";
    double slope = 0;  ///< of the label, in units of the axes (decades of logarithmic ones)
};

/// Where words stand; `from` and `under` begin at their point, above a line and below it.
enum class Side : std::uint8_t { above, below, centre, from, under, upto };

/// Points that belong together.
struct Series {
    std::string title;  ///< in the legend; empty: not there
    Look look = Look::measured_line;
    int colour = 0;  ///< of the palette; -1: that of the text
    std::vector<FigurePoint> points = {};
    Side side = Side::above;  ///< of its points, where words are
    bool small = false;       ///< points, of which there are many
};

struct Box {
    double left, right, bottom, top;
    int colour = 0;           ///< of the palette, or, below 0, by `shade`
    double shade = 0;         ///< 0 to 1 on the scale of colours
    bool hatched = false;     ///< instead of filled, with a pattern for every colour
    std::string series = "";  ///< in the legend, where it is the first of its colour
    std::string label = "";   ///< in the middle of it
    bool open = false;        ///< its border alone
    std::string bar = "";     ///< that it is a part of: what its tick says
};

struct Panel {
    std::string title;
    FigureAxis x, y;
    std::vector<Series> series = {};
    std::vector<Box> boxes = {};
    std::optional<FigureAxis> shades = std::nullopt;  ///< of `shade`, beside the panel; the figure's title says of what
    bool map = false;                                 ///< both axes to one scale, and none drawn
    std::string caption = "";                         ///< what is said of it alone
};

struct Figure {
    std::string name, title;
    std::vector<Panel> panels;
    std::string of_all;   ///< what is counted, modelled or measured, and of what: caption_of() begins with the panels'
    std::string command;  ///< that draws it again, with the version
};

/// What is said of the panels that are there, then of the whole.
std::string caption_of(const Figure& figure);

/// Every point and box as a row: panel, series, x, y and so on, in the units of the axes.
std::string as_csv(const Figure& figure);
/// The same and what is said of it, as docs/outputs.md has it.
std::string as_json(const Figure& figure);

enum class Theme : std::uint8_t { light, dark, print };
inline constexpr Theme themes[] = {Theme::light, Theme::dark, Theme::print};
const char* name_of(Theme theme);

/// What the script writes to.
enum class Terminal : std::uint8_t { svg, pdf, png, tex };

/// How large a picture is, and what stands beside the panels.
struct Page {
    std::optional<double> width_cm = std::nullopt;  ///< nothing: as wide as the figure likes to be
    double font_pt = 11;                            ///< of the numbers on axes; other sizes follow
    bool caption = true;                            ///< and title, and command
    bool legend_beside = false;                     ///< to the right of the panels, not above them
};

/// A script for gnuplot 5.4 with its data in it, that writes the figure to `output`.
std::string as_gnuplot(const Figure& figure, Theme theme, Terminal terminal, const std::string& output,
                       const Page& page = {});
/// How high the picture is, where its page has a width.
double height_in_cm(const Figure& figure, const Page& page);

}  // namespace tilescope::lab
