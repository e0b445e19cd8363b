"""FlashAttention-2 (arXiv 2307.08691, Algorithm 1) as a tile program in Python."""

import math

import tilescope


def statistics(p, tile):
    return [tilescope.output("LSE", rows=p.seq_q)]


@tilescope.algorithm(computes="attention", features=tilescope.attention_features, tensors=statistics)
def my_flash(gpu, t, p, tile):
    """FlashAttention-2, in Python."""
    Q, K, V, O, LSE = (t[name] for name in ("Q", "K", "V", "O", "LSE"))
    rows, keys = tilescope.Tiles(p.seq_q, tile.br, "i"), tilescope.Tiles(p.seq_k, tile.bc, "j")

    def body(b, head, i):
        q = b.load(Q.of(head), i)  # once: it stays on chip
        o = b.alloc("O", i.size, p.dim_v)
        l = b.alloc("l", i.size, 1)
        m = b.alloc("m", i.size, 1, fill=-math.inf)

        @b.uniform(p.visible_keys(keys, i))  # keys and values stream past
        def step(j):
            k, v = b.load(K.of(head), j), b.load(V.of(head), j)
            s = b.alloc("S", i.size, j.size)
            b.matmul(s, q, k, trans="b", alpha=p.logit_scale)
            b.apply_mask(s, p, i, j)
            c = b.alloc("c", i.size, 1)
            b.copy(c, m)
            b.update_row_max(m, s)
            b.exp_minus(c, m)  # earlier terms are rescaled when the maximum grows
            b.exp_minus(s, m)
            b.scale_rows(l, c)
            b.update_row_sum(l, s)
            b.scale_rows(o, c)
            b.matmul(o, s, v)

        b.divide_rows(o, l)  # one division an element, at the end
        b.add_log(m, l)
        b.store(o, O.of(head), i)
        b.store(m, LSE.of(head), i)

    gpu.launch("my_flash", [p.head_axis(), p.row_axis(rows, keys)], body)
