// Which elements of a matrix dropout keeps: a random byte for each, from a generator without a state, so that whoever
// asks for an element gets the same answer, whatever the tiles.
#pragma once

#include <array>
#include <cstdint>

#include "core/machine/stairs.hpp"

namespace tilescope {

/// Philox 4x32 (Salmon et al., SC 2011): four random words from a key and a counter. More rounds mix better.
std::array<std::uint32_t, 4> philox(std::uint64_t key, std::array<std::uint32_t, 4> counter, int rounds);

/// An element is kept if its byte is at most `threshold`. A call of 7 rounds, with the seed as its key, gives 16 bytes.
/// A block of 16 rows and 32 columns takes 32 calls, one for each lane, with the counter (32 matrix + lane, in 64 bits;
/// row / 16; col / 32). Lane l has the elements that it would have of a result of tensor cores: rows l / 4 and
/// l / 4 + 8, columns 2 (l % 4), the next one, and both plus 8, 16 and 24. The bits of n say whose byte n is (byte 0 is
/// the lowest of word 0): bit 0, which of two neighbours; bit 1, which of the rows; the others, which eight columns.
struct Kept {
    std::uint64_t seed = 0;
    int threshold = 255;

    /// keep[k] = 1 where the element in column cols.begin + k is kept, else 0.
    void of_row(Index matrix, Index row, Span cols, float* keep) const;
};

/// Integer operations at half rate that drawing costs per element. A call of Philox, of 7 rounds, serves 16 elements;
/// its bytes are then taken apart and compared (docs/time.md has the measured kernel).
inline constexpr Index integers_of_drawing = 8;

/// What is dropped of a tile whose first element is at (row, col). The rows within a step of the stairs belong to
/// matrices `matrix`, `matrix` + 1 and so on, one each. Kept elements are multiplied by `factor`.
struct Dropping {
    Kept kept;
    float factor = 1;
    Index matrix = 0, row = 0, col = 0;
    Stairs stairs = {};

    void of_row(Index r, Index cols, float* keep) const {
        kept.of_row(matrix + stairs.within(r), row + stairs(r), {col, cols}, keep);
    }
};

}  // namespace tilescope
