// What stands above a view: the finding, in its tensors' hues, and why.
#pragma once

#include "gui/draw/canvas.hpp"
#include "show/stage/wall_text.hpp"

namespace tilescope::gui {

/// Whether a stage has more room beside things than below them.
inline bool is_wide(const Box& area) { return area.w() > 1.4f * area.h(); }

/// Height of the finding: two lines; in a hall, where height is dear, one if the stage is wide.
float finding_height(const Theme& t, const Box& stage);
/// The same with two lines of its reason.
float words_height(const Theme& t, const Box& stage);
/// A finding that is too long for large type is written smaller, and whole.
void draw_finding(const Canvas& canvas, const Box& room, const show::Sentence& finding);

/// Draws as many whole sentences as have room, from the first one on; of a first one that has none, as many lines as
/// have. Returns the number of lines.
int draw_sentences(const Canvas& canvas, ImFont* font, const Box& room, ImU32 colour, const std::string& said);

/// Cuts room for the finding and two lines of its reason off `area`, so that nothing below moves.
void draw_words(const Canvas& canvas, Box& area, const show::Sentence& finding, const std::string& reason);

}  // namespace tilescope::gui
