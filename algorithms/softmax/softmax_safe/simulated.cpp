#include "algorithms/softmax/softmax_safe/algorithm.hpp"

namespace tilescope::softmax_safe {

void stream_rows(Block& b, const Hbm& X, const Hbm& Y, Span i, Tiles columns, Lines lines) {
    b.at(lines.begin_max);
    Tile m = b.alloc_registers("m", i.size, 1);
    const auto find_max = [&](Span j) {
        b.at(lines.max);
        Tile x = b.load(X, i, j, Space::registers);
        (j.begin == 0 ? row_max : update_row_max)(b, m, x, Here::now());
    };
    find_max(columns[0]);
    b.uniform(columns.from(1), find_max);

    b.at(lines.begin_sum);
    Tile l = b.alloc_registers("l", i.size, 1);
    const auto accumulate = [&](Span j) {
        b.at(lines.sum);
        Tile x = b.load(X, i, j, Space::registers);
        exp_minus(b, x, m);
        (j.begin == 0 ? row_sum : update_row_sum)(b, l, x, Here::now());
    };
    accumulate(columns[0]);
    b.uniform(columns.from(1), accumulate);

    b.uniform(columns, [&](Span j) {
        b.at(lines.scale);
        Tile x = b.load(X, i, j, Space::registers);
        exp_minus(b, x, m);
        divide_rows(b, x, l);
        b.store(x, Y, i, j);
    });
}

void run(Gpu& gpu, const Tensors& t, const Problem& p, const Tiling& tile) {
    const Hbm X = t["X"], Y = t["Y"];
    const Tiles rows(p.seq_q, tile.br, "i"), columns(p.seq_k, tile.bc, "j");
    gpu.launch("softmax_safe", {p.head_axis(), uniform(rows)}, [&](Block& b, Span head, Span i) {
        stream_rows(b, X.of(head), Y.of(head), i, columns, {2, 3, 4, 5, 7});
    });
}

}  // namespace tilescope::softmax_safe
