// A grid axis of parts: each block sees a part of what a graded axis sees.
#include "core/machine/mode.hpp"
#include "tests/support/folder.hpp"
#include "tests/support/harness.hpp"
#include "tests/support/seeds.hpp"

using namespace tilescope;
using namespace tilescope::testing;

namespace {

/// Each block works on every tile that it sees. Where it sees any tile, it loads one row beforehand.
template <class F>
Counters total(Mode mode, const Tiles& rows, const Tiles& keys, const Seen& seen, const Tiles& cut, F&& extra) {
    Gpu gpu(small_gpu(), mode, 1);
    const Hbm x = gpu.add({"X", Role::input, Dtype::f32, 1, keys.extent(), 2, nullptr});
    gpu.launch("kernel", {uniform(2), graded(rows, seen), parts(cut)}, [&](Block& b, Span, Span i, Span s) {
        const Tiles own = seen(i).within(s);
        Tile rest = b.alloc_registers("rest", i.size, 1);
        if (own.count() > 0) Tile first = b.load(x, {0, 1});
        b.uniform(own, [&](Span j) {
            Tile t = b.load(x, j);
            b.uniform(Tiles(4, 2), [&](Span) { exp(b, t); });
        });
        extra(b, x, i, s, own);
    });
    return gpu.total();
}
const auto nothing = [](Block&, const Hbm&, Span, Span, const Tiles&) {};

}  // namespace

TEST_CASE("counting parts of a graded range gives what running them gives", "[graded][parts]") {
    const Tiles rows(17, GENERATE(1, 2, 5, 7, 17, 20), "i"), keys(GENERATE(1, 3, 20, 21), 3, "j");
    const Index splits = GENERATE(1, 2, 3, 5, 9), shift = GENERATE(range(-24, 25, seeds(8) == 8 ? 1 : 7));
    const int part = GENERATE(0, 1, 2, 3);  // a row block sees all, or a range that grows, shrinks, or moves
    CAPTURE(rows.tile_size(), keys.extent(), splits, shift, part);
    Seen seen(keys);
    if (part & 1) seen = seen.and_before_end(shift);
    if (part & 2) seen = seen.and_after_begin(shift - (part == 3 ? 4 : 0));
    const Index p = ceil_div(keys.count(), splits) * 3;
    const Tiles cut(splits * p, p, "s");
    const Counters exact = total(exact_mode, rows, keys, seen, cut, nothing);
    CHECK(difference(total(count_mode, rows, keys, seen, cut, nothing), exact) == "");
    CHECK(exact.thread_blocks == 2 * rows.count() * splits);
}

TEST_CASE("bounds that cross leave nothing to see, in parts as well", "[graded][parts]") {
    const Tiles rows(40, 3, "i"), keys(40, 3, "j"), cut(45, 9, "s");
    for (Index from = -10; from <= 10; ++from)
        for (Index to = -10; to <= 10; ++to) {
            CAPTURE(from, to);
            const Seen seen = Seen(keys).and_before_end(to).and_after_begin(from);
            CHECK(difference(total(count_mode, rows, keys, seen, cut, nothing),
                             total(exact_mode, rows, keys, seen, cut, nothing)) == "");
        }
}

TEST_CASE("a part must cost in proportion to what it holds of what is seen", "[mistakes][graded][parts]") {
    const Tiles rows(8, 1, "i"), keys(20, 3, "j"), cut(27, 9, "s");
    const Seen seen = Seen(keys).and_before_end(5);
    const auto run = [&](auto&& extra) { return total(exact_mode, rows, keys, seen, cut, extra); };
    CHECK_NOTHROW(run(nothing));
    CHECK_NOTHROW(run([](Block& b, const Hbm& x, Span, Span, const Tiles& own) {
        if (own.count() == 0) Tile t = b.load(x, {0, 5});
    }));
    const auto message = message_of<BrokenPromise>([&] {
        run([](Block& b, const Hbm& x, Span i, Span s, const Tiles&) {
            if (i.begin == 7 && s.begin == 9) Tile t = b.load(x, {0, 1});
        });
    });
    CHECK(contains(message, "a promise of kernel: thread block 22"));
    CHECK(contains(message, "hbm_read_bytes"));
    // Here every part does all that the graded axis sees.
    CHECK_THROWS_AS(run([&](Block& b, const Hbm& x, Span i, Span s, const Tiles& own) {
                        if (own.count() > 0 && s.begin > 0) b.uniform(seen(i), [&](Span j) { Tile t = b.load(x, j); });
                    }),
                    BrokenPromise);
}

TEST_CASE("parts stand behind the axis that they are of, in whole tiles", "[mistakes][parts]") {
    Gpu gpu(small_gpu(), count_mode, 1);
    const Seen seen(Tiles(20, 3, "j"));
    const auto body = [](Block&, Span, Span) {};
    CHECK_THROWS_AS(gpu.launch("k", {uniform(2), parts(Tiles(27, 9))}, body), std::logic_error);
    CHECK_THROWS_AS(gpu.launch("k", {parts(Tiles(27, 9)), graded(Tiles(4, 1), seen)}, body), std::logic_error);
    CHECK_THROWS_AS(gpu.launch("k", {graded(Tiles(4, 1), seen), parts(Tiles(30, 10))}, body), std::logic_error);
    CHECK_THROWS_AS(gpu.launch("k", {graded(Tiles(4, 1), seen), parts(Tiles(18, 9))}, body), std::logic_error);
    CHECK_NOTHROW(gpu.launch("k", {graded(Tiles(4, 1), seen), parts(Tiles(27, 9))}, body));
}
