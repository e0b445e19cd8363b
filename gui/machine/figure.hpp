// The machine: SMs above, HBM below, between them the L2 and pipes as wide as bandwidths. What its parts share.
#pragma once

#include <string>
#include <vector>

#include "gui/app.hpp"
#include "gui/draw/canvas.hpp"
#include "show/stage/machine_text.hpp"
#include "show/words/sm_text.hpp"

namespace tilescope::gui::machine {

/// A tile on its way between HBM and an SM.
struct Move {
    const Step* step;
    Box tile;                       ///< its place on chip
    ImVec2 door;                    ///< where the tile enters and leaves the chip
    std::vector<ImVec2> then = {};  ///< the way from the door to the place on chip
    bool focus = true;              ///< a move of the SM in focus, which is drawn large
    Bytes missed = 0;               ///< bytes of the tile that missed the L2
    Box region = {};                ///< the tile's place in HBM
    Box held = {};                  ///< the tile's place in L2
    bool in_front = true;           ///< whether the region is in the slice shown
};

/// One run's figure in one frame.
struct MachineFigure {
    Shown& shown;
    Screen& screen;
    Run& run;
    const L2Shown& l2;
    Canvas canvas;
    std::string prefix;      ///< of the names in Screen::places
    Index focus;             ///< the SM in focus, one of this run's
    bool over;               ///< the run has ended, while the other one of a race goes on
    float arrived;           ///< 0 to 1: how much of the tick's moves has happened
    std::vector<Work> work;  ///< of every SM of the GPU
    std::vector<Move> moves;

    const Theme& theme() const { return screen.theme; }
    float px(float x) const { return screen.theme.px(x); }
};

/// A line about the launch.
void draw_launch(const MachineFigure& f, const Box& line);

/// All SMs of the GPU, small. With `at_pipes`, where the map reaches down to the pipes, adds the moves of SMs not in
/// focus to `moves`.
void draw_sm_map(MachineFigure& f, Box area, bool at_pipes);
float sm_map_height(const MachineFigure& f, float width, float at_most);

/// The SM in focus, large. Adds the SM's move to `moves`.
void draw_sm(MachineFigure& f, const Box& area);

/// The tensors, to scale. Sets `region` and `in_front` of the moves.
void draw_hbm(MachineFigure& f, Box area);
/// "HBM 40.0 GiB · 12.6 MB used".
void draw_hbm_title(const MachineFigure& f, const Box& line);

/// What the L2 holds of every tensor. Sets `held` of the moves.
void draw_l2(MachineFigure& f, const Box& at);
/// Texts on the L2, over the moving tiles.
void draw_l2_texts(const MachineFigure& f, const Box& at);

/// Pipes below the SMs, and between L2 and HBM. Drawn in this order: pipes, moving tiles, texts.
struct Pipes {
    Box of_l2, of_dram;  ///< without an L2 both are the one pipe
};
void draw_pipes(const MachineFigure& f, const Pipes& at);
void draw_moves(const MachineFigure& f);
void draw_pipe_texts(const MachineFigure& f, const Pipes& at);

/// Bytes so far across the SMs' boundary and across DRAM's, and another algorithm's bytes, on one scale.
void draw_odometers(const MachineFigure& f, Box area);
float odometers_height(const MachineFigure& f);

}  // namespace tilescope::gui::machine
