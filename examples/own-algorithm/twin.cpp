// FlashAttention-2 with two row blocks in a thread block: both meet every tile of K and V, which is read once for both.
#include <algorithm>
#include <tilescope/algorithm.hpp>
#include <vector>

using namespace tilescope;

constexpr Index row_blocks = 2;  // of a thread block

constexpr CodeLine code[] = {
    {1, "for each group of row blocks (parallel thread blocks)", "As many rows as one block twice as tall."},
    {2, "  read their Q; their O = 0, l = 0, m = -inf", "Each row block has an output of its own."},
    {3, "  for j = 1..Tc: read K_j, V_j", "Once for all row blocks of the group."},
    {4, "    for each of them: S = scale Q K_j^T", "The same K_j for all."},
    {5, "      update m and l; P = exp(S - m); O = exp(m_old - m) O + P V_j", "As in FlashAttention-2."},
    {6, "  write O / l of each", "The only time O moves."},
};

struct RowBlock {
    Span i;
    Tile q, o, l, m;
};

static void meet(Block& b, RowBlock& r, const Tile& k, const Tile& v, const Problem& p, Span j) {
    b.at(4);
    Tile s = b.alloc_registers("S", r.i.size, j.size);
    b.matmul(s, r.q, k, Trans::b, p.logit_scale());
    apply_mask(b, s, p, r.i, j);
    b.at(5);
    Tile c = b.alloc_registers("c", r.i.size, 1);
    copy(b, c, r.m), update_row_max(b, r.m, s), exp_minus(b, c, r.m), exp_minus(b, s, r.m);
    scale_rows(b, r.l, c), update_row_sum(b, r.l, s);
    scale_rows(b, r.o, c), b.matmul(r.o, s, v, Trans::none);
}

static void run(Gpu& gpu, const Tensors& t, const Problem& p, const Tiling& tile) {
    const Hbm Q = t["Q"], K = t["K"], V = t["V"], O = t["O"];
    const Tiles groups(p.seq_q, row_blocks * tile.br, "i"), keys(p.seq_k, tile.bc, "j");
    gpu.launch("twin", {p.head_axis(), p.row_axis(groups, keys)}, [&](Block& b, Span head, Span group) {
        b.at(2);
        std::vector<RowBlock> rows;
        for (Index begin = group.begin; begin < group.end(); begin += tile.br) {
            const Span i = {begin, std::min(tile.br, group.end() - begin)};
            rows.push_back({i, b.load(Q.of(head), i), b.alloc_registers("O", i.size, p.dim_v),
                            b.alloc_registers("l", i.size, 1), b.alloc_registers("m", i.size, 1, -INFINITY)});
        }
        b.uniform(p.visible_keys(keys, group), [&](Span j) {
            b.at(3);
            Tile k = b.load(K.of(head), j), v = b.load(V.of(head), j);
            for (RowBlock& r : rows) meet(b, r, k, v, p, j);
        });
        b.at(6);
        for (RowBlock& r : rows) divide_rows(b, r.o, r.l), b.store(r.o, O.of(head), r.i);
    });
}

TILESCOPE_ALGORITHM({.name = "twin",
                     .computes = &computation::attention,
                     .supports = attention_features,
                     .idea = "flash_v2 with two row blocks in a thread block",
                     .code = code,
                     .run = run});
