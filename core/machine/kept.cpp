#include "core/machine/kept.hpp"

namespace tilescope {

std::array<std::uint32_t, 4> philox(std::uint64_t key, std::array<std::uint32_t, 4> c, int rounds) {
    auto k0 = static_cast<std::uint32_t>(key), k1 = static_cast<std::uint32_t>(key >> 32);
    for (int round = 0; round < rounds; ++round, k0 += 0x9e3779b9u, k1 += 0xbb67ae85u) {
        const std::uint64_t a = std::uint64_t{0xd2511f53u} * c[0], b = std::uint64_t{0xcd9e8d57u} * c[2];
        c = {static_cast<std::uint32_t>(b >> 32) ^ c[1] ^ k0, static_cast<std::uint32_t>(b),
             static_cast<std::uint32_t>(a >> 32) ^ c[3] ^ k1, static_cast<std::uint32_t>(a)};
    }
    return c;
}

void Kept::of_row(Index matrix, Index row, Span cols, float* keep) const {
    constexpr Index rows_of_block = 16, cols_of_block = 32, lanes = 32;
    const Index lane_row = row % 8;
    const unsigned row_bit = row % rows_of_block >= 8 ? 2u : 0u;
    for (Index block = cols.begin / cols_of_block; block * cols_of_block < cols.end(); ++block)
        for (Index quad = 0; quad < 4; ++quad) {
            const auto stream = static_cast<std::uint64_t>(lanes * matrix + lane_row * 4 + quad);
            const auto words =
                philox(seed,
                       {static_cast<std::uint32_t>(stream), static_cast<std::uint32_t>(stream >> 32),
                        static_cast<std::uint32_t>(row / rows_of_block), static_cast<std::uint32_t>(block)},
                       7);
            for (unsigned n = 0; n < 8; ++n) {  // the lane's 8 columns
                const Index col = block * cols_of_block + (n / 2) * 8 + quad * 2 + n % 2;
                if (col < cols.begin || col >= cols.end()) continue;
                const unsigned byte = (n / 2) * 4 + row_bit + n % 2;
                const auto value = static_cast<int>(words[byte / 4] >> (8 * (byte % 4)) & 0xffu);
                keep[col - cols.begin] = value <= threshold ? 1.0f : 0.0f;
            }
        }
}

}  // namespace tilescope
