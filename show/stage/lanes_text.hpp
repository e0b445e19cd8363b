// Lanes over time in words: what a lane does at a cycle, what it waits for, and what sets the pace.
#pragma once

#include <string>
#include <vector>

#include "show/stage/lanes.hpp"

namespace tilescope::show {

/// "S", "P V", "exp", "K": a product, work or a load, without its number.
std::string lane_word(LaneDoing doing, const std::string& what);
/// The same as long as a legend has it: "S = Q K^T".
std::string lane_legend(LaneDoing doing, const std::string& what);
/// "S(j+1)": with its number, where j is the first shown step.
std::string lane_word(const LaneSegment& segment);
/// "K(j+2)".
std::string tile_word(const std::string& what, Index number);
/// "its turn", "a slot": what lanes wait for.
std::string awaited_word(Awaited awaited);
std::string slot_word(SlotState state);
/// "turn", or "turn at P V" where products have turns of their own.
std::string turn_word(const LaneView& view, const LaneView::Baton& baton);

/// "WG2 waits for its turn, which WG1 hands on at 1,130".
std::string lane_clause(const LaneView& view, std::uint32_t lane, double cycle);
/// "At cycle 1,000 WG2 waits for its turn, which WG1 hands on at 1,130.": about a warpgroup that waits, if one does.
std::string lane_sentence(const LaneView& view, double cycle);
/// One sentence for each lane, for the slots of the rings, and for the turn.
std::vector<std::string> lane_sentences(const LaneView& view, double cycle);
/// The middle of the longest wait of a warpgroup that is shown; 0 where none waits.
double telling_cycle(const LaneView& view);

/// "82%".
std::string share_word(double share);
/// What sets the pace, and which product is slow because it is alone.
std::string lane_finding(const LaneView& view);
/// Why a part takes longer than alone; empty where it does not.
std::string why_longer(const LanePart& part);

}  // namespace tilescope::show
