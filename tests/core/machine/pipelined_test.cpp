// Block::pipelined: a loop of two stages, in which a tile's second stage runs in the iteration of the next tile.
#include <functional>
#include <map>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "algorithms/contract/block_mask.hpp"
#include "algorithms/contract/mask.hpp"
#include "core/machine/counters.hpp"
#include "core/record/profile.hpp"
#include "tests/support/folder.hpp"
#include "tests/support/harness.hpp"

using namespace tilescope;
using namespace tilescope::testing;
using Catch::Matchers::ContainsSubstring;

namespace {

using Stages = std::function<void(Block&, const Span* next, const Span* now)>;

struct Shape {
    Index rows, keys, br, bc;
    Mask mask = {};
};
std::ostream& operator<<(std::ostream& out, const Shape& s) {
    return out << s.rows << " rows by " << s.br << ", " << s.keys << " keys by " << s.bc << ", mask " << s.mask.name();
}

struct Ran {
    Counters total;
    Profile profile;
    std::vector<float> sums;
    Bytes peak = 0;
};

/// Adds up the elements of K and V that each block of rows sees: line 1 loads K, line 2 loads V of the tile before,
/// line 3 is the last V.
Ran run(const Shape& s, Mode mode, const Stages& more = {}) {
    Gpu gpu(small_gpu(), mode, 1);
    Ran ran;
    gpu.listen(ran.profile);
    const auto input = [&](const char* name, unsigned seed) {
        if (!gpu.mode().data) return gpu.add({name, Role::input, Dtype::f32, 1, s.keys, 4});
        return gpu.add(filled(name, Role::input, Dtype::f32, 1, s.keys, 4, random_floats(s.keys * 4, seed)));
    };
    const Hbm K = input("K", 1), V = input("V", 2), O = gpu.add({"O", Role::output, Dtype::f32, 1, s.rows, 1});
    const Tiles rows(s.rows, s.br, "i"), keys(s.keys, s.bc, "j");
    const Seen seen = s.mask.visible(keys, s.keys - s.rows);
    gpu.launch("pipelined", {graded(rows, seen)}, [&](Block& b, Span i) {
        b.at(0);
        Tile o = b.alloc_registers("O", i.size, 1), sum = b.alloc_registers("sum", i.size, 1);
        std::optional<Tile> held;
        b.pipelined(seen(i), [&](const Span* next, const Span* now) {
            std::optional<Tile> coming;
            if (next) b.at(1), coming.emplace(b.load(K, *next));
            if (now) {
                b.at(next ? 2 : 3);
                REQUIRE(held);
                CHECK(held->rows() == now->size);
                Tile v = b.load(V, *now), scores = b.alloc_registers("scores", i.size, now->size);
                Tile ones = b.alloc_registers("ones", i.size, 4, 1);
                b.matmul(scores, ones, *held, Trans::b), b.matmul(scores, ones, v, Trans::b);
                update_row_sum(b, o, scores);
            }
            held.reset();
            if (next) held.emplace(std::move(*coming));
            if (more) more(b, next, now);
        });
        b.store(o, O, i);
    });
    ran.total = gpu.total(), ran.sums = contents(gpu.tensors()[2]), ran.peak = gpu.peak(Space::sram);
    return ran;
}

std::string difference(const Profile& a, const Profile& b) {
    std::string out;
    std::map<std::uint16_t, LineProfile> x = a.lines(), y = b.lines();
    for (std::uint16_t line = 0; line < 4; ++line) {
        if (x[line].visits != y[line].visits)
            out += "line " + std::to_string(line) + ": " + std::to_string(x[line].visits) + " and " +
                   std::to_string(y[line].visits) + " visits; ";
        out += testing::difference(x[line].cost, y[line].cost);
    }
    return out;
}

std::string broken_by(const Shape& s, const Stages& stages) {
    return message_of<BrokenPromise>([&] { run(s, exact_mode, stages); });
}

}  // namespace

TEST_CASE("a pipelined loop counts the same folded and exact, line by line", "[pipelined]") {
    const Mask masks[] = {Mask(),
                          Mask::causal(),
                          Mask::window(3, 0),
                          Mask::window(5, 4),
                          Mask::window(0, 0),
                          Mask::window(2, {}),
                          Mask().with(Documents({3, 9, 1, 7}))};
    for (const Mask& mask : masks)
        for (const Index rows : {1, 7, 12, 20})
            for (const Index keys : {1, 3, 4, 12, 13, 20})
                for (const auto& [br, bc] : {std::pair<Index, Index>{4, 4}, {5, 3}, {3, 8}, {20, 20}, {1, 1}}) {
                    if (mask.documents() && keys != 20) continue;
                    const Shape s{rows, keys, br, bc, mask};
                    INFO(s);
                    const Ran folded = run(s, count_mode), exact = run(s, exact_mode), numeric = run(s, numeric_mode);
                    CHECK(testing::difference(folded.total, exact.total) == "");
                    CHECK(testing::difference(folded.total, numeric.total) == "");
                    CHECK(difference(folded.profile, exact.profile) == "");
                    CHECK(folded.peak == exact.peak);
                }
}

TEST_CASE("a pipelined loop computes what its stages compute one after the other", "[pipelined][numbers]") {
    const Shape s{6, 13, 3, 4};
    const Ran ran = run(s, numeric_mode);
    const std::vector<float> k = random_floats(s.keys * 4, 1), v = random_floats(s.keys * 4, 2);
    double all = 0;
    for (std::size_t n = 0; n < k.size(); ++n) all += static_cast<double>(k[n]) + static_cast<double>(v[n]);
    for (const float sum : ran.sums) CHECK(std::abs(sum - all) < 1e-4);
}

TEST_CASE("a tile's second stage runs in the iteration of the next tile", "[pipelined]") {
    const auto calls = [](Index keys, Mode mode) {
        std::string out;
        run({1, keys, 1, 4}, mode, [&](Block&, const Span* next, const Span* now) {
            const auto word = [](const Span* tile) { return tile ? std::to_string(tile->size) : "-"; };
            out += word(next) + "|" + word(now) + " ";
        });
        return out;
    };
    CHECK(calls(0, exact_mode) == "");
    CHECK(calls(0, count_mode) == "");
    CHECK(calls(3, exact_mode) == "3|- -|3 ");
    CHECK(calls(3, count_mode) == "3|- -|3 ");
    CHECK(calls(4, exact_mode) == "4|- -|4 ");
    CHECK(calls(4, count_mode) == "4|- -|4 ");
    CHECK(calls(6, exact_mode) == "4|- 2|4 -|2 ");
    CHECK(calls(6, count_mode) == "4|- 2|4 -|2 ");
    CHECK(calls(18, exact_mode) == "4|- 4|4 4|4 4|4 2|4 -|2 ");
    CHECK(calls(18, count_mode) == "4|- 4|4 2|4 -|2 ");
    CHECK(calls(400, count_mode) == "4|- 4|4 -|4 ");
}

TEST_CASE("a folded pipelined loop runs paths that a thread block can take", "[pipelined]") {
    // Of four blocks of four rows, causal: they see 1, 2, 3 and 4 tiles, the last of which is ragged.
    struct Weights : Listener {
        std::map<std::uint16_t, Count> visits;
        void visit(const LineMark& m) override { visits[m.line] += m.times; }
        void on(const Event&, TileData) override {}
    } folded, exact;
    for (const auto& [mode, weights] : {std::pair{count_mode, &folded}, {exact_mode, &exact}}) {
        Gpu gpu(small_gpu(), mode, 1);
        gpu.listen(*weights);
        const Tiles rows(15, 4, "i"), keys(15, 4, "j");
        const Seen seen = Mask::causal().visible(keys, 0);
        gpu.launch("causal", {graded(rows, seen)}, [&](Block& b, Span i) {
            b.pipelined(seen(i), [&](const Span* next, const Span* now) {
                b.at(static_cast<std::uint16_t>((next ? next->size : 0) + 10 * (now ? now->size : 0)));
            });
        });
    }
    CHECK(folded.visits == exact.visits);
    // First tiles; full tiles beside full ones; the ragged one beside a full one; last tiles, full and ragged.
    CHECK(exact.visits == std::map<std::uint16_t, Count>{{4, 4}, {44, 5}, {43, 1}, {40, 3}, {30, 1}});
}

TEST_CASE("a pipelined loop whose tiles cost differently breaks its promise", "[pipelined]") {
    const Shape full{1, 16, 1, 4};
    const auto exp_of = [](Block& b) {
        Tile t = b.alloc_registers("T", 1, 1);
        exp_minus(b, t, t);
    };
    // In the second stage of the third tile.
    CHECK_THAT(broken_by(full,
                         [&](Block& b, const Span*, const Span* now) {
                             if (now && now->begin == 8) exp_of(b);
                         }),
               ContainsSubstring("pipelined"));
    // In the first stage of the first tile, or in the second stage of the last: beside no other stage.
    for (const bool first : {true, false})
        CHECK_THAT(broken_by(full,
                             [&](Block& b, const Span* next, const Span* now) {
                                 if (first ? !now : !next) exp_of(b);
                             }),
                   ContainsSubstring("pipelined"));
    // A first tile that does without an operation of the others, as where O is 0 and need not be rescaled.
    CHECK_THAT(broken_by(full,
                         [&](Block& b, const Span* next, const Span* now) {
                             if (next && now) exp_of(b);
                         }),
               ContainsSubstring("pipelined"));
    // The ragged tile may cost what it costs.
    CHECK_NOTHROW(run({1, 15, 1, 4}, exact_mode, [&](Block& b, const Span* next, const Span*) {
        if (next && next->size == 3) exp_of(b);
    }));
}
