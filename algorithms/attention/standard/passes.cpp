// The launches of an unfused graph besides its products and its softmax: each reads a matrix from HBM and writes one.
#include "algorithms/attention/standard/graph.hpp"
#include "algorithms/contract/scores.hpp"
#include "core/machine/score_ops.hpp"

namespace tilescope::standard {
namespace {

/// A launch over Q, K or V, or over O.
void change_rows(Gpu& gpu, const Tensors& t, const Problem& p, const Step& step, Tiles rows, Index slices) {
    const Hbm from = t[step.from], to = t[step.to];
    const float factor = factors_of(p).inputs;
    gpu.launch(step.launch, {uniform(slices, "slice"), uniform(rows)}, [&](Block& b, Span slice, Span i) {
        b.at(10);
        Tile x = b.load(from.slice(slice.begin), i, Space::registers);
        if (step.has(Pass::scale)) scale(b, x, factor);
        b.at(11);
        b.store(x, to.slice(slice.begin), i);
    });
}

void elements(Gpu& gpu, const Tensors& t, const Problem& p, Tiles rows, Tiles keys, const Step& step) {
    const Hbm from = t[step.from], to = t[step.to];
    gpu.launch(step.launch, {p.head_axis(), uniform(rows), uniform(keys)}, [&](Block& b, Span head, Span i, Span j) {
        b.at(10);
        std::optional<Tile> numbers;
        if (step.with) numbers.emplace(b.load(t[step.with].of(head), i, Space::registers));
        Tile x = b.load(from.of(head), i, j, Space::registers);
        change(b, x, step, numbers ? &*numbers : nullptr, t, p, head, i, j);
        b.at(11);
        b.store(x, to.of(head), i, j);
    });
}

void numbers_of_rows(Gpu& gpu, const Tensors& t, const Problem& p, Tiles rows, Tiles keys, const Step& step) {
    const Hbm from = t[step.from], to = t[step.row_numbers];
    const bool sums = step.has(Pass::sum);
    gpu.launch(step.launch, {p.head_axis(), uniform(rows)}, [&](Block& b, Span head, Span i) {
        b.at(9);
        Tile result = b.alloc_registers(step.row_numbers, i.size, 1);
        std::optional<Tile> numbers;
        if (step.with) numbers.emplace(b.load(t[step.with].of(head), i, Space::registers));
        const auto turn = [&](Span j) {
            b.at(10);
            Tile x = b.load(from.of(head), i, j, Space::registers);
            change(b, x, step, numbers ? &*numbers : nullptr, t, p, head, i, j);
            const auto add =
                sums ? (j.begin == 0 ? row_sum : update_row_sum) : (j.begin == 0 ? row_max : update_row_max);
            add(b, result, x, Here::now());
            b.at(11);
            if (step.to) b.store(x, t[step.to].of(head), i, j);
        };
        turn(keys[0]);
        b.uniform(keys.from(1), turn);
        b.store(result, to.of(head), i);
    });
}

}  // namespace

void change(Block& b, Tile& x, const Step& step, const Tile* numbers, const Tensors& t, const Problem& p, Span head,
            Span i, Span j) {
    for (const Pass pass : step.passes) {
        if (pass == Pass::scale) scale(b, x, p.logit_scale());
        if (pass == Pass::cap) cap_scores(b, x, p);
        if (pass == Pass::bias) bias_scores(b, x, p, t, head, i, j);
        if (pass == Pass::mask) apply_mask(b, x, p, i, j);
        if (pass == Pass::exp) numbers ? exp_minus(b, x, *numbers) : exp(b, x);
        if (pass == Pass::divide) divide_rows(b, x, *numbers);
        if (pass == Pass::seen) mark_seen(b, x);
        if (pass == Pass::clear) keep_rows(b, x, *numbers);
    }
}

void run_pass(Gpu& gpu, const Tensors& t, const Problem& p, Tiles rows, Tiles keys, const Step& step) {
    if (step.does == Does::elements) return elements(gpu, t, p, rows, keys, step);
    if (step.does == Does::rows) return numbers_of_rows(gpu, t, p, rows, keys, step);
    const bool of_queries = step.from[0] == 'Q' || step.from[0] == 'O';
    change_rows(gpu, t, p, step, of_queries ? rows : keys, of_queries ? p.batch_heads() : p.kv_slices());
}

}  // namespace tilescope::standard
