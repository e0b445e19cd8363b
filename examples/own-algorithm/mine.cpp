// FlashAttention-2, but O is divided by l after every tile, as FlashAttention-1 does: what is one division worth?
#include <tilescope/algorithm.hpp>

using namespace tilescope;

constexpr CodeLine code[] = {
    {1, "for each row block i (parallel thread blocks)", "As in FlashAttention-2."},
    {2, "  read Q_i; O_i = 0, l_i = 0, m_i = -inf", "The output stays on chip."},
    {3, "  for j = 1..Tc: read K_j, V_j; S = scale Q_i K_j^T", "Keys and values stream past."},
    {4, "    O_i = l_i O_i; update m_i and l_i; P = exp(S - m_i)", "Takes the last division back."},
    {5, "    O_i = (exp(m_old - m_i) O_i + P V_j) / l_i", "Divides again: O_i is the result of all keys so far."},
    {6, "  write O_i", "The only time O moves."},
};

static void run(Gpu& gpu, const Tensors& t, const Problem& p, const Tiling& tile) {
    const Hbm Q = t["Q"], K = t["K"], V = t["V"], O = t["O"];
    const Tiles rows(p.seq_q, tile.br, "i"), keys(p.seq_k, tile.bc, "j");
    gpu.launch("eager_division", {p.head_axis(), p.row_axis(rows, keys)}, [&](Block& b, Span head, Span i) {
        b.at(2);
        Tile q = b.load(Q.of(head), i), o = b.alloc_registers("O", i.size, p.dim_v);
        Tile l = b.alloc_registers("l", i.size, 1), m = b.alloc_registers("m", i.size, 1, -INFINITY);
        b.uniform(p.visible_keys(keys, i), [&](Span j) {
            b.at(3);
            Tile k = b.load(K.of(head), j), v = b.load(V.of(head), j);
            Tile s = b.alloc_registers("S", i.size, j.size);
            b.matmul(s, q, k, Trans::b, p.logit_scale());
            apply_mask(b, s, p, i, j);
            b.at(4);
            scale_rows(b, o, l);
            Tile c = b.alloc_registers("c", i.size, 1);
            copy(b, c, m), update_row_max(b, m, s), exp_minus(b, c, m), exp_minus(b, s, m);
            scale_rows(b, l, c), update_row_sum(b, l, s);
            b.at(5);
            scale_rows(b, o, c), b.matmul(o, s, v, Trans::none), divide_rows(b, o, l);
        });
        b.at(6);
        b.store(o, O.of(head), i);
    });
}

TILESCOPE_ALGORITHM({.name = "eager_division",
                     .computes = &computation::attention,
                     .supports = attention_features,
                     .idea = "flash_v2 that divides after every tile",
                     .code = code,
                     .run = run});
