// What an SM holds, lying as on the wall: Q left of S, K^T above it, V^T below, the statistics of rows and O on its
// right, so that rows continue each other and columns do. A place for every tile that the thread block ever has.
#pragma once

#include <string>
#include <vector>

#include "show/sm_text.hpp"

namespace tilescope::show {

struct Held {
    enum class Place : std::uint8_t { left, above, middle, between, right, below };

    Place place;
    Space space;
    Meaning meaning;
    Index rows, cols;                ///< as they lie: K and V on their sides
    const TileState* now = nullptr;  ///< what is there; nullptr: nothing
    Part part = Part::none;
    std::string name;                ///< of what it holds: "K₄ᵀ"; where there is nothing, of the buffer
    std::string brief;               ///< without its numbers: "Kᵀ"
    std::vector<std::string> notes;  ///< below it: "in buffer S", "64 × 64", "8,192 B"

    bool on_its_side() const { return place == Place::above || place == Place::below; }
};

/// By place, each from the scores outwards; what is there is `sm`'s. Empty for an SM without a thread block.
std::vector<Held> crossing_of(const Run& run, const SmState& sm);

}  // namespace tilescope::show
