// How things are looked at: what is saved beside the setup and the position, and nothing that decides a run.
#pragma once

#include <set>
#include <string>

#include "show/session.hpp"

namespace tilescope::show {

/// What the middle of the window shows.
enum class Stage : std::uint8_t { wall, machine, time, row, tiles, roofline, io };
/// Whether it shows a run step by step.
constexpr bool plays(Stage stage) { return stage <= Stage::row; }
enum class Tab : std::uint8_t { code, program };
enum class Detail : std::uint8_t { values, counters };

struct View {
    bool light = false;        ///< theme
    bool projector = false;    ///< larger type
    bool no_controls = false;  ///< folded in
    Stage stage = Stage::wall;
    std::string metric = "time_us";  ///< of the plane of tiles
    Tab tab = Tab::code;
    Detail detail = Detail::values;
    Index sm = 0;                         ///< the SM in focus
    Index row = 0;                        ///< of the tile, under the microscope
    bool forget_rescale = false;          ///< says what the row would be without it
    bool softmaxes = false;               ///< shows the row in every softmax program
    std::string compare = "standard";     ///< the algorithm in the second column of the counters
    std::set<std::uint16_t> breakpoints;  ///< pseudo-code lines
    int tour = -1;                        ///< step of the tour; -1: not shown

    friend bool operator==(const View&, const View&) = default;
};

}  // namespace tilescope::show
