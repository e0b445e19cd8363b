#include "algorithms/contract/tile_sums.hpp"

namespace tilescope {

TileSums tile_sums(const Problem& p, const Tiling& t, bool skip) {
    const Index Nq = p.seq_q, Nk = p.seq_k, Tr = ceil_div(Nq, t.br), Tc = ceil_div(Nk, t.bc);
    if (!p.causal || !skip) return {Tr, Tc, Tc * Nq, Tr * Nk, Nk, Nq * Nk};
    TileSums s{.row_blocks = Tr, .key_blocks = Tc};
    const Index delta = Nk - Nq;
    for (Index i = 0; i < Tr; ++i) {
        const Index last_key = std::min((i + 1) * t.br, Nq) + delta;
        const Index n = last_key <= 0 ? 0 : std::min(ceil_div(last_key, t.bc), Tc);
        const Index keys = std::min(n * t.bc, Nk), rows = std::min(t.br, Nq - i * t.br);
        s.row_visits += rows * n;
        s.keys_streamed += keys;
        s.scores += rows * keys;
    }
    for (Index j = 0; j < Tc; ++j)
        if (Nq + delta > j * t.bc) s.keys_active += std::min(t.bc, Nk - j * t.bc);
    return s;
}

}  // namespace tilescope
