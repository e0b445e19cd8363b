// What an SM holds, arranged as on the wall: Q left of S, K^T above S, V^T below S, row statistics and O right of S. So
// rows are in line with rows, and columns with columns. Every buffer name of the thread block has an entry.
#pragma once

#include <string>
#include <vector>

#include "show/words/sm_text.hpp"

namespace tilescope::show {

struct Held {
    enum class Place : std::uint8_t { left, above, middle, between, right, below };

    Place place;
    Space space;
    Meaning meaning;
    Index rows, cols;                ///< as drawn: K and V transposed
    const TileState* now = nullptr;  ///< the tile in the buffer; nullptr: none
    Part part = Part::none;
    std::string name;                ///< of the contents: "K₄ᵀ"; of the buffer where it is empty
    std::string brief;               ///< the name without numbers: "Kᵀ"
    std::vector<std::string> notes;  ///< below it: "in S", "64 × 64", "8,192 B"

    bool on_its_side() const { return place == Place::above || place == Place::below; }
};

/// The buffers of `sm` by place, in each place from the scores outwards. Empty for an SM without a thread block.
std::vector<Held> crossing_of(const Run& run, const SmState& sm);

}  // namespace tilescope::show
