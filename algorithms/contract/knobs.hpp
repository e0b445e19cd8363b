// What a mapping chooses: each algorithm declares the knobs that its program has.
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "algorithms/contract/problem.hpp"

namespace tilescope {

struct Knob {
    const char* name;    ///< as a flag, without dashes: "br"
    const char* symbol;  ///< in the papers: "Br"; of a knob that is no size, what people call it
    Index Tiling::*value;
    std::span<const char* const> names = {};  ///< of a choice by name: value k chooses names[k - 1]
    bool is_size = true;                      ///< of tiles, or of parts: it may be made smaller until all tiles fit
    Index most = 0;                           ///< of a number that is no size
    const char* about = nullptr;              ///< the message that says what it chooses; of a knob that is no size

    /// "128", "on".
    std::string text(const Tiling& t) const;
    /// The value that chooses this name; nullopt: there is no such choice.
    std::optional<Index> value_of(std::string_view choice) const;
};

using Knobs = std::span<const Knob>;

inline constexpr Knob br_knob = {"br", "Br", &Tiling::br};
inline constexpr Knob bc_knob = {"bc", "Bc", &Tiling::bc};
inline constexpr Knob splits_knob = {"splits", "S", &Tiling::splits};

/// Tile rows and columns: the only knobs of most programs.
inline constexpr Knob tile_knobs[] = {br_knob, bc_knob};
/// Tiles, and parts of the keys.
inline constexpr Knob split_knobs[] = {br_knob, bc_knob, splits_knob};

inline bool has_knob(Knobs knobs, Index Tiling::*value) {
    return std::any_of(knobs.begin(), knobs.end(), [&](const Knob& k) { return k.value == value; });
}
inline bool has_splits(Knobs knobs) { return has_knob(knobs, &Tiling::splits); }

}  // namespace tilescope
