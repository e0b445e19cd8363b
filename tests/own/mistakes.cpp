// Programs with one mistake each, which tests/own/own.py runs. The line of a mistake ends with the mistake's name.
#include <stdexcept>
#include <tilescope/algorithm.hpp>

namespace {
using namespace tilescope;

enum class Mistake {
    none,
    lie,
    grid,
    race,
    big,
    range,
    input,
    shape,
    words,
    alien,
    unknown,
    idle,
    blank,
    partly,
    early
};
using enum Mistake;

template <Mistake mistake>
void run(Gpu& gpu, const Tensors& t, const Problem& p, const Tiling& tile) {
    constexpr auto made = [](Mistake m) { return m == mistake; };
    if (made(alien)) throw 42;
    const Hbm Q = t["Q"], K = t["K"], V = t["V"], O = t[made(unknown) ? "Out" : "O"];  // unknown
    const Tiles rows(p.seq_q, tile.br, "i"), keys(p.seq_k, tile.bc, "j");
    gpu.launch("mistaken", {p.head_axis(), p.row_axis(rows, keys)}, [&](Block& b, Span head, Span i) {  // grid
        b.at(1);
        if (made(grid) && i.begin > 0) return;
        Tile q = b.load(Q.of(head), made(range) ? Span{i.begin + 1, i.size} : i);  // range
        if (made(big)) Tile big = b.alloc("big", 4096, 4096, Space::sram);         // big
        Tile o = b.alloc_registers("O", i.size, p.dim_v), l = b.alloc_registers("l", i.size, 1);
        b.uniform(keys, [&](Span j) {  // lie
            if (made(lie) && j.begin > 0) return;
            b.at(2);
            Tile k = b.load(K.of(head), j), v = b.load(V.of(head), j), s = b.alloc_registers("S", i.size, j.size);
            b.matmul(s, q, made(shape) ? o : k, Trans::b, p.logit_scale());  // shape
            exp(b, s);
            update_row_sum(b, l, s);
            b.matmul(o, s, v, Trans::none);
        });
        b.at(3);
        divide_rows(b, o, l);  // words
        if (made(words)) throw std::runtime_error("my own words");
        if (made(blank)) Tile before = b.load(O.of(head), i);  // blank
        if (made(early)) Tile before = b.load(O.of(head), i);  // early
        if (made(partly)) {
            b.store(o, O.of(head), i);
            Tile more = b.load(O.of(head), {0, i.end()});  // partly
        }
        if (made(input)) b.store(o, Q.of(head), i);                                                 // input
        if (!made(idle) && !made(early)) b.store(o, O.of(head), made(race) ? Span{0, i.size} : i);  // race
    });
}

constexpr CodeLine code[] = {{1, "read", ""}, {2, "compute", ""}, {3, "write", ""}};

template <Mistake mistake>
Algorithm describe(const char* name) {
    return {.name = name, .computes = &computation::attention, .code = code, .run = run<mistake>};
}

#define MISTAKEN(name) TILESCOPE_ALGORITHM(describe<name>(#name "_"))
MISTAKEN(none);
MISTAKEN(lie);
MISTAKEN(grid);
MISTAKEN(race);
MISTAKEN(big);
MISTAKEN(range);
MISTAKEN(input);
MISTAKEN(shape);
MISTAKEN(words);
MISTAKEN(alien);
MISTAKEN(unknown);
MISTAKEN(idle);
MISTAKEN(blank);
MISTAKEN(partly);
MISTAKEN(early);

}  // namespace
