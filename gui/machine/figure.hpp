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
    Box tile;                       ///< on chip
    ImVec2 door;                    ///< where it enters and leaves
    std::vector<ImVec2> then = {};  ///< the way from there
    bool focus = true;              ///< of the SM that is drawn large
    Bytes missed = 0;               ///< bytes of it that missed the L2
    Box region = {};                ///< in HBM
    Box held = {};                  ///< in L2
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

/// All SMs of the GPU, small. With `at_pipes`, adds to `moves` those of SMs not in focus.
void draw_sm_map(MachineFigure& f, Box area, bool at_pipes);
float sm_map_height(const MachineFigure& f, float width, float at_most);

/// The SM in focus, large. Adds to `moves`.
void draw_sm(MachineFigure& f, const Box& area);

/// The tensors, to scale. Fills in where the moves are in HBM.
void draw_hbm(MachineFigure& f, Box area);
/// "HBM 40.0 GiB · 12.6 MB used".
void draw_hbm_title(const MachineFigure& f, const Box& line);

/// What the L2 holds of every tensor. Fills in where the moves are in it.
void draw_l2(MachineFigure& f, const Box& at);
/// Texts on the L2, over the moving tiles.
void draw_l2_texts(const MachineFigure& f, const Box& at);

/// Pipes below the SMs, and between L2 and HBM. Drawn in this order: pipes, moving tiles, texts.
struct Pipes {
    Box of_l2, of_dram;  ///< without an L2 one of them has no height
};
void draw_pipes(const MachineFigure& f, const Pipes& at);
void draw_moves(const MachineFigure& f);
void draw_pipe_texts(const MachineFigure& f, const Pipes& at);

/// What crossed the SMs' boundary so far, and what DRAM's, on one scale with another algorithm.
void draw_odometers(const MachineFigure& f, Box area);
float odometers_height(const MachineFigure& f);

}  // namespace tilescope::gui::machine
