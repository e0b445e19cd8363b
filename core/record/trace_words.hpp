// The words that the writer and the reader of recordings share.
#pragma once

#include <array>

#include "core/record/recorded.hpp"

namespace tilescope::trace_words {

inline constexpr const char* schema = "tilescope.trace/2";
/// The members of the document that core writes, in this order, after what the recording is of.
inline constexpr std::array sections = {"values",  "sources", "launches", "blocks", "loops",
                                        "turns", "tensors", "tiles",    "totals", "events"};

inline constexpr std::initializer_list<Meaning> meanings = {
    Meaning::query,     Meaning::key,      Meaning::value, Meaning::output, Meaning::score,
    Meaning::statistic, Meaning::gradient, Meaning::bias,  Meaning::other};

inline const char* of_promise(Promise p) {
    constexpr const char* names[] = {"none", "uniform", "graded"};
    return names[static_cast<int>(p)];
}
inline const char* of_space(Space s) { return s == Space::sram ? "sram" : "registers"; }

/// What elements are in HBM that nobody has written.
float unwritten(Dtype dtype);

/// Whether an operation of this kind has a tile's contents to tell.
constexpr bool has_contents(Kind kind) { return kind == Kind::alloc || works(kind); }

}  // namespace tilescope::trace_words
