// The texts on the wall: of its tiles, its numbers, its tooltips.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "show/stage/wall.hpp"
#include "show/words/sentence.hpp"

namespace tilescope::show {

std::string plain(const Sentence& sentence);

/// "of 8".
std::string of_text(Index n);
/// "2.25", "1,024": how often.
std::string trips_text(double n);
/// Digits as an index: "₁₂".
std::string subscript(Index number);
/// "K₄", counted from 1, as papers do.
std::string tile_name(const std::string& tensor, Index k);
/// "×2.5": trips, on a tile.
std::string times_mark(double n);
/// "×2.5": only read or only written; "4/5": read and written; "+8": added to what is in HBM.
std::string trips_mark(const Trips& trips);
/// trips_mark() in parts, for narrow places: "4", "/5", "+8".
std::vector<std::string> trips_marks(const Trips& trips);

/// The text in place of a wall that has no room.
std::string no_wall_text(const Run& run);

/// "28 of 64 tiles (44%) skipped: no query sees their keys", the longest version first; empty where none are.
std::vector<std::string> skipped_text(const Wall& wall);

/// How much of the last tiles lies beyond the end of the matrix, the longest version first: "40 of 64 keys do not
/// exist".
struct Overhang {
    std::vector<std::string> rows, keys;
};
Overhang overhang(const Wall& wall, const Run& run);
/// "row blocks 46 to 128: counted, not shown", the longest version first.
std::vector<std::string> unrecorded_text(const Wall& wall);

/// The part that is seen of a wall that is zoomed in on, the longest version first: "row blocks 3–7 of 8, key blocks
/// 1–6 of 8; Z: all".
std::vector<std::string> seen_text(const Wall& wall, Span rows, Span cols);

/// "4", "of 8", "key block j of SM 3": the longest version first.
struct WallNumber {
    std::string number, of;
    std::vector<std::string> what;
};
std::vector<WallNumber> wall_numbers(const Run& run, const Wall& wall, const std::vector<Painter>& painters,
                                     Index focus);

/// "head 1", and for little room "1".
std::vector<std::string> head_names(const Run& run, Index head);
/// "head 1 of 8", "KV head 1 of 8: query heads 1 to 4".
std::string head_text(const Run& run, const Wall& wall);

/// Tooltips.
std::string about_head(const Run& run, Index head, const HeadState& state);
std::string about_wall_tile(const Run& run, const Wall& wall, Index i, Index j);
std::string about_edge_tile(const Run& run, const Wall& wall, const WallEdge& edge, Index k);
std::string about_painter(const Painter& painter);

}  // namespace tilescope::show
