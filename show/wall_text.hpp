// What is said beside the wall.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "show/sentence.hpp"
#include "show/wall.hpp"

namespace tilescope::show {

std::string plain(const Sentence& sentence);

/// Digits as an index: "₁₂".
std::string subscript(Index number);
/// "K₄", counted from 1, as papers do.
std::string tile_name(const std::string& tensor, Index k);
/// "×2.5": trips, on a tile.
std::string times_mark(double n);
/// The same of what was only read or only written; "4/5": read and written; "+8": added to what is in HBM.
std::string trips_mark(const Trips& trips);
/// In parts, for narrow places: "4", "/5", "+8".
std::vector<std::string> trips_marks(const Trips& trips);

/// The finding: who goes which way, what comes for every tile and what stays. In the words of the SM in focus where
/// they are not the same for all.
Sentence wall_headline(const Run& run, const Wall& wall, const std::vector<Painter>& painters, Index focus);
/// Why, or what follows from it for the whole run.
std::string wall_reason(const Run& run, const Wall& wall);

/// The scores that a painter has on chip, in a pass that needs those of an earlier one: "P recomputed, dS", "P, dS".
std::vector<std::string> scores_on_chip(const Run& run, const Wall& wall, const Painter& painter);

/// In place of a wall that has no room.
std::string no_wall_text(const Run& run);

/// "28 of 64 tiles (44%) skipped: no query sees their keys", the longest first; empty where none are.
std::vector<std::string> skipped_text(const Wall& wall);

/// Of the last tiles, what lies beyond the end of the matrix, the longest first: "40 of 64 keys: none there".
struct Overhang {
    std::vector<std::string> rows, keys;
};
Overhang overhang(const Wall& wall, const Run& run);
/// "row blocks 46 to 128: counted, not recorded", the longest first.
std::vector<std::string> unrecorded_text(const Wall& wall);

/// What is seen of a wall that is zoomed in on: "row blocks 3–7 of 8, key blocks 1–6 of 8; Z: all", the longest first.
std::vector<std::string> seen_text(const Wall& wall, Span rows, Span cols);

/// "4", "of 8", "key block j of SM 3": the longest first.
struct WallNumber {
    std::string number, of;
    std::vector<std::string> what;
};
std::vector<WallNumber> wall_numbers(const Run& run, const Wall& wall, const std::vector<Painter>& painters,
                                     Index focus);

/// SM traffic of one tensor so far, of what is recorded.
struct WallBytes {
    std::string name;
    Meaning meaning;
    Traffic so_far;
};
std::vector<WallBytes> wall_bytes(const Run& run);
/// What another algorithm's SM traffic would be for what is recorded; nothing where only a part of a head is.
std::optional<Bytes> other_bytes(const Run& run, const lab::Report& other);

/// Of the bytes in that order, those of scores that go to HBM and come back; without `to` there are none.
struct StoredBytes {
    Bytes from = 0, to = 0;
    std::string text;  ///< "S: 524 kB"; "S and P: 2.10 MB out and back" once something of each was read
};
StoredBytes stored_bytes(const Run& run);
/// Whether it has any, before or after.
bool stores_scores(const Run& run);

/// "517 kB of 723 kB SM traffic", or "… of 4 heads" where these are not all; "3.74 MB standard"; "K: 131 kB".
std::string traffic_text(const Run& run, Bytes so_far, Bytes whole);
std::string traffic_of_other_text(Bytes bytes, const std::string& algorithm);
std::string traffic_part_text(const std::string& tensor, Bytes bytes);
/// "34.5 GB in the whole run: 182 times that".
std::string whole_run_text(const Run& run);
/// "head 1", and what says it where there is little room.
std::vector<std::string> head_names(const Run& run, Index head);
/// "head 1 of 8", "KV head 1 of 8: query heads 1 to 4".
std::string head_text(const Run& run, const Wall& wall);

/// Tooltips.
std::string about_head(const Run& run, Index head, const HeadState& state);
std::string about_wall_tile(const Run& run, const Wall& wall, Index i, Index j);
std::string about_edge_tile(const Run& run, const Wall& wall, const WallEdge& edge, Index k);
std::string about_painter(const Painter& painter);

}  // namespace tilescope::show
