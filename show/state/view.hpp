// How a run is looked at: saved beside the setup and the position, without effect on the run.
#pragma once

#include <optional>
#include <set>
#include <string>

#include "show/run/session.hpp"
#include "show/run/strides.hpp"

namespace tilescope::show {

/// What the middle of the window shows.
enum class Stage : std::uint8_t { wall, machine, time, row, tiles, roofline, io };
/// Whether the stage shows a run step by step.
constexpr bool plays(Stage stage) { return stage <= Stage::row; }
enum class Tab : std::uint8_t { code, program };
enum class Detail : std::uint8_t { values, counters };
/// In a hall, what is open beside the stage. `automatic`: the detail if all numbers of a tile can be read, else none.
enum class Drawer : std::uint8_t { automatic, none, controls, code, detail };

/// In view time: whether lanes are shown in place of the thread blocks, and beside which other kernels.
enum class Lanes : std::uint8_t { hidden, alone, four };

/// A place on the stage: 0 to 1 from its left edge and from its top. On the wall it is one of the scores.
struct Spot {
    double x, y;

    friend bool operator==(const Spot&, const Spot&) = default;
};

/// The centre of the view after it was dragged by `by`: 0 to 1 of `whole`, as `at` was before. `seen` is the visible
/// part; all three lengths in one unit. The view stops at the ends.
double panned(double at, double by, double whole, double seen);

struct View {
    bool light = false;      ///< theme
    bool projector = false;  ///< for a hall: large type, the stage and a strip of words
    Drawer drawer = Drawer::automatic;
    bool no_controls = false;  ///< at a desk: the controls are folded in
    Stage stage = Stage::wall;
    std::string metric = "time_us";  ///< of the plane of tiles
    std::optional<Spot> zoom = {};   ///< the centre of the magnified view
    Tab tab = Tab::code;
    Detail detail = Detail::values;
    Index sm = 0;                       ///< the SM in focus
    Index row = 0;                      ///< of the tile, under the microscope
    Stride stride = Stride::operation;  ///< of one step on or back
    bool hide_ahead = false;            ///< on the timeline: hides what comes later
    Lanes lanes = Lanes::hidden;
    std::optional<Index> cycle = {};      ///< of the lanes; nullopt: in a long wait
    bool play_through = false;            ///< without a pause where something happens for the first time
    bool forget_rescale = false;          ///< says what the row would be without rescaling
    bool softmaxes = false;               ///< shows the row in every softmax program
    std::string compare = "standard";     ///< the algorithm in the second column of the counters
    std::set<std::uint16_t> breakpoints;  ///< pseudo-code lines
    int tour = -1;                        ///< step of the tour; -1: not shown

    friend bool operator==(const View&, const View&) = default;
};

/// The drawer that is open in a hall: never `automatic`.
Drawer open_drawer(const Session& session, const View& view);

}  // namespace tilescope::show
