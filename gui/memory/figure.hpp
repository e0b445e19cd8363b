// The memory figure: SMs above, HBM below, the bus between them. What its parts share.
#pragma once

#include <string>
#include <vector>

#include "gui/app.hpp"
#include "gui/draw/canvas.hpp"

namespace tilescope::gui::memory {

/// A tile on its way between HBM and an SM that has a card.
struct Move {
    const Step* step;
    Box tile;              ///< on chip
    float gutter, door;    ///< x and y: the way to registers goes round SRAM, along the edge of the card
    Box region = {};       ///< in HBM
    bool in_front = true;  ///< whether the region is in the slice shown
};

/// One run's figure in one frame.
struct MemoryFigure {
    App& app;
    Run& run;
    Canvas canvas;
    std::string prefix;  ///< of the names of places
    Index focus;         ///< the SM in focus, one of this run's
    bool over;           ///< the run has ended, while the other one of a race goes on
    float arrived;       ///< 0 to 1: how much of the tick's moves has happened
    std::vector<Move> moves;

    const Theme& theme() const { return app.theme; }
    float px(float x) const { return app.theme.px(x); }
};

/// All SMs of the GPU as squares, with a line about the launch above.
void draw_sm_map(MemoryFigure& f, Box area);
float sm_map_height(const MemoryFigure& f, float width, float at_most);

/// As many SMs as there is room for, with what they hold. Notes what moves.
void draw_sm_cards(MemoryFigure& f, Box area);

/// The tensors, to scale. Notes where what moves is in HBM.
void draw_hbm(MemoryFigure& f, Box area);
/// "HBM 40.0 GiB · 12.6 MB used".
void draw_hbm_title(const MemoryFigure& f, const Box& line);

/// Behind everything, then what flies, then the words.
void draw_bus(const MemoryFigure& f, const Box& band);
void draw_moves(const MemoryFigure& f);
void draw_bus_title(const MemoryFigure& f, const Box& line);

}  // namespace tilescope::gui::memory
