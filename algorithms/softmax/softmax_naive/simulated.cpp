#include "algorithms/softmax/softmax_naive/algorithm.hpp"

namespace tilescope::softmax_naive {

void stream_rows(Block& b, const Hbm& X, const Hbm& Y, Span i, Tiles columns, Lines lines) {
    b.at(lines.begin);
    Tile l = b.alloc_registers("l", i.size, 1);
    const auto accumulate = [&](Span j) {
        b.at(lines.sum);
        Tile x = b.load(X, i, j, Space::registers);
        exp(b, x);
        (j.begin == 0 ? row_sum : update_row_sum)(b, l, x, Here::now());
    };
    accumulate(columns[0]);
    b.uniform(columns.from(1), accumulate);

    b.uniform(columns, [&](Span j) {
        b.at(lines.scale);
        Tile x = b.load(X, i, j, Space::registers);
        exp(b, x);
        divide_rows(b, x, l);
        b.store(x, Y, i, j);
    });
}

void run(Gpu& gpu, const Tensors& t, const Problem& p, const Tiling& tile) {
    const Hbm X = t["X"], Y = t["Y"];
    const Tiles rows(p.seq_q, tile.br, "i"), columns(p.seq_k, tile.bc, "j");
    gpu.launch("softmax_naive", {p.head_axis(), uniform(rows)}, [&](Block& b, Span head, Span i) {
        stream_rows(b, X.of(head), Y.of(head), i, columns, {2, 3, 5});
    });
}

}  // namespace tilescope::softmax_naive
