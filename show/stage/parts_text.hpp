// The texts about keys that are cut into parts.
#pragma once

#include "show/stage/wall.hpp"
#include "show/words/sentence.hpp"

namespace tilescope::show {

/// "part 2 of 4", the longest version first.
std::vector<std::string> part_names(const Parts& parts, Index part);
/// "m 2.69": the text of a part's cell, the longest version first, an empty one last.
std::vector<std::string> cell_texts(const PartCell& cell);

/// While partial results are added up: rows of the wall, how many parts are in their sum, and how many SMs add up for
/// this head.
struct AddingUp {
    Span rows;
    Index parts = 0, sms = 0;
};
std::optional<AddingUp> adding_up(const Run& run, const Wall& wall, Index focus);

/// The headline where keys are cut into parts: how many are read side by side, or added up and with which weights;
/// empty where the present operations have nothing to do with parts. Without a full stop.
Sentence parts_headline(const Run& run, const Wall& wall, const std::vector<Painter>& painters, Index focus);
/// The bytes that parts cost: "O_s and LSE_s of 4 parts: 1.03 kB written, 1.03 kB read again." Empty without parts.
std::string parts_reason(const Run& run, const Wall& wall);
/// Heads that are packed: "Query heads 1 to 4 are rows of the same tiles, so that …" Empty where none are.
std::string packed_reason(const Run& run, const Wall& wall);

/// The tooltip of a part's cells in a row block.
std::string about_partial(const Run& run, const Wall& wall, const Partial& partial);

}  // namespace tilescope::show
