// The words that the writer and the reader of recordings share.
#pragma once

#include <array>

#include "core/record/recorded.hpp"

namespace tilescope {

inline constexpr const char* trace_schema = "tilescope.trace/2";
/// The members of the document that core writes, in this order, after those that say what was recorded.
inline constexpr std::array trace_sections = {"values", "sources", "launches", "blocks", "loops",
                                              "turns",  "tensors", "tiles",    "totals", "events"};

inline constexpr std::initializer_list<Meaning> all_meanings = {Meaning::query,    Meaning::key,   Meaning::value,
                                                                Meaning::output,   Meaning::score, Meaning::statistic,
                                                                Meaning::gradient, Meaning::bias,  Meaning::other};

inline const char* promise_word(Promise p) {
    constexpr const char* names[] = {"none", "uniform", "graded", "parts"};
    return names[static_cast<int>(p)];
}
inline const char* space_word(Space s) { return s == Space::sram ? "sram" : "registers"; }

/// The value of elements in HBM that nobody has written.
float unwritten(Dtype dtype);

/// Whether a recording has a tile's contents for an operation of this kind.
constexpr bool has_contents(Kind kind) { return kind == Kind::alloc || works(kind); }

}  // namespace tilescope
