// The plane of tile sizes as it is drawn: cells in the shades of a metric, marks, limits, and what is said of a cell.
#pragma once

#include "lab/report/metric.hpp"
#include "lab/study/tile_plane.hpp"

namespace tilescope::show {

struct PlanePicture {
    enum class Look : std::uint8_t {
        value,         ///< in its shade
        pending,       ///< has no value yet
        no_sram,       ///< does not fit: SRAM
        no_registers,  ///< does not fit: registers
        spills,        ///< registers would spill: no kernel would run like that
        no_value,      ///< the metric is not known here, and will not be
    };
    struct Cell {
        Look look = Look::pending;
        float shade = 0;  ///< 0 to 1 on the scale
        bool estimated = false;
        Index blocks_per_sm = 0;  ///< 0 where it does not fit
    };
    struct Tick {
        float at;  ///< 0 to 1
        std::string text;
    };
    struct Mark {
        enum class Kind : std::uint8_t { best, released, paper, current } kind;
        float col, row;  ///< in cells, from the middle of the first
        std::string text;
    };

    std::size_t rows = 0, cols = 0;
    std::vector<Cell> cells;   ///< row by row
    std::vector<Tick> br, bc;  ///< sizes, at their cells
    std::vector<Tick> scale;   ///< of the shades
    std::vector<Mark> marks;
    lab::TilePlane::Limits limits;  ///< for each row, how many cells fit into SRAM, and into registers
    std::string title;              ///< "time (modelled)"
    std::string meaning;            ///< of the metric
    std::string state;              ///< what is exact, estimated, pending, and how far estimates are off
};

PlanePicture picture_of(const lab::TilePlane& plane, const lab::Metric& metric, const Tiling& current);

/// The cell whose tiling is nearest.
std::size_t cell_of(const lab::TilePlane& plane, const Tiling& tiling);

/// What is known of a cell, or why its tiling cannot run.
struct CellText {
    std::string title;    ///< "128 × 64"
    std::string trouble;  ///< "does not fit: ..."; empty where nothing is wrong
    struct Line {
        std::string value, what;
    };
    std::vector<Line> lines;
    struct Step {
        std::string direction, tiling, value, what;
    };
    std::vector<Step> steps;  ///< to the cells beside it, with their values
};
CellText about_cell(const lab::TilePlane& plane, const lab::Metric& metric, std::size_t cell);

/// The metrics that a list offers; --metric takes any that is a number.
std::vector<const lab::Metric*> plane_metrics();

}  // namespace tilescope::show
