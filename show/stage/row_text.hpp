// What is said of one row.
#pragma once

#include <string>

#include "show/stage/row.hpp"

namespace tilescope::show {

/// Two decimals; three significant digits below 0.005 and from 10,000 on. With a true minus sign.
std::string row_number(float value);
/// row_headline(): the finding, made of the row's values. row_reason(): why it is so.
std::string row_headline(const Run& run, const RowStory& story, const RowMoment& moment);
std::string row_reason(const Run& run, const RowMoment& moment);
/// "row 3 of this tile · query 7 “mat”", with the pass and where the numbers come from.
std::string row_title(const Run& run, const RowStory& story, const RowPlace& place, const std::string& title);
/// row_symbol(): the name of a line, "O₁" where it has several columns. row_formula(): the name with the formula.
std::string row_symbol(const RowLine& line);
std::string row_formula(const RowLine& line);
/// What an axis of the row shows.
enum class RowAxis : std::uint8_t { scores, weights, sum, result };
/// row_m(): "m = 1.48". row_axis(): the title of an axis, with the number of weights in a sum that lacks some.
/// row_more(): "and 60 more".
std::string row_m(float m);
std::string row_axis(RowAxis axis, const RowMoment& moment);
std::string row_more(std::size_t values);
/// row_block(): "block j = 2", counted from 1. row_shrinks(): "all before × 0.32", what a new maximum has done to
/// earlier weights; empty where it has done nothing.
std::string row_block(Index j);
std::string row_shrinks(const RowMoment& moment);
/// "O, its 4 sums: all before × 0.32".
std::string row_output(const RowMoment& moment);
/// Above this x, exp(x) overflows f32.
inline constexpr float row_ceiling = 88.72f;
std::string ceiling_text();
/// What the switch says: the error of a row whose sums are not rescaled, computed.
std::string forgotten_text(const Forgotten& forgotten);
std::string forget_label();
/// The text in place of a row that cannot be shown.
std::string why_no_row(const Run& run);

}  // namespace tilescope::show
