// The texts above a view: a finding, in the hues of the tensors that it names, and its reason.
#pragma once

#include "gui/draw/canvas.hpp"
#include "show/stage/wall_text.hpp"

namespace tilescope::gui {

/// Whether an area is so wide that texts have more room beside a figure than below it.
inline bool is_wide(const Box& area) { return area.w() > 1.4f * area.h(); }

/// Height of the room for a finding: two lines; in a hall, where height is scarce, one line if the stage is wide.
float finding_height(const Theme& t, const Box& stage);
/// Height of the room for a finding and two lines of its reason.
float words_height(const Theme& t, const Box& stage);
/// Writes a finding in the largest type in which all of it fits into `room`.
void draw_finding(const Canvas& canvas, const Box& room, const show::Sentence& finding);

/// Draws as many whole sentences as have room, from the first one on. Where even the first has no room, draws as many
/// of its lines as have. Returns the number of lines.
int draw_sentences(const Canvas& canvas, ImFont* font, const Box& room, ImU32 colour, const std::string& said);

/// Cuts room for the finding and two lines of its reason off `area`, so that nothing below moves.
void draw_words(const Canvas& canvas, Box& area, const show::Sentence& finding, const std::string& reason);

}  // namespace tilescope::gui
