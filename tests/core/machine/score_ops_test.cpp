#include "core/machine/score_ops.hpp"

#include "core/machine/mode.hpp"
#include "tests/support/harness.hpp"

using namespace tilescope;
using namespace tilescope::testing;

namespace {

const Dropping half{{9, 127}, 2, 3, 5, 7, {2, 1}};

/// The cost of an operation on x, a tile of 3 x 5 f32 in registers, and y, a tile of `rows` x 5 f16 in SRAM.
Counters cost(const OnTiles& op, Index rows) {
    Gpu gpu(small_gpu(), numeric_mode, 1);
    Log log;
    gpu.listen(log);
    in_block(gpu, [&](Block& b) {
        Tile x = b.alloc_registers("x", 3, 5, 1);
        Tile y = b.alloc("y", rows, 5, Space::sram, Dtype::f16, 1);
        op(b, x, y);
    });
    return log.all.at(2).event.cost;
}

}  // namespace

TEST_CASE("operations on scores have their price", "[ops]") {
    const std::vector<float> slopes = {1, 2};
    const auto of_x = [](Count exps, Count other) {
        return Counters{.register_read = 60, .register_write = 60, .exps = exps, .other_flops = other};
    };
    const auto and_y = [&](Bytes read) {
        Counters c = of_x(0, 15);
        c.sram_read = read;
        return c;
    };
    const OnTiles bias = [](Block& b, Tile& x, const Tile& y) { add_bias(b, x, y); };
    CHECK(difference(cost(bias, 3), and_y(30)) == "");
    CHECK(difference(cost(bias, 1), and_y(10)) == "");
    CHECK(difference(cost([](Block& b, Tile& x, const Tile& y) { drop_by(b, x, y, 2); }, 3), and_y(30)) == "");
    CHECK(difference(cost([](Block& b, Tile& x, const Tile&) { soft_cap(b, x, 2); }, 1), of_x(15, 0)) == "");
    CHECK(difference(cost(
                         [&](Block& b, Tile& x, const Tile&) {
                             alibi(b, x, slopes, 0, {2, 0});
                         },
                         1),
                     of_x(0, 30)) == "");
    CHECK(difference(cost([](Block& b, Tile& x, const Tile&) { drop(b, x, half); }, 1), of_x(0, 15)) == "");
    CHECK(difference(cost([](Block& b, Tile& x, const Tile&) { draw_kept(b, x, half); }, 1),
                     Counters{.register_write = 60}) == "");
    const OnTiles columns = [](Block& b, Tile& x, const Tile& y) { scale_columns(b, x, y, {2, 1}); };
    CHECK(difference(cost(columns, 1), and_y(10)) == "");
    CHECK_THROWS_AS(cost(bias, 2), std::logic_error);
    CHECK_THROWS_AS(cost(columns, 2), std::logic_error);
}

TEST_CASE("operations on scores compute what plain loops compute", "[ops]") {
    const Matrix x = random_matrix(13, 33, 1), y = random_matrix(13, 33, 2), row = random_matrix(1, 33, 3);
    const std::vector<float> slopes = {0.5f, 0.25f, 2};
    CHECK(mistakes(result([](Block& b, Tile& o, const Tile& t) { add_bias(b, o, t); }, x, y),
                   [&](Index r, Index c) { return static_cast<double>(x(r, c) + y(r, c)); }) == 0);
    CHECK(mistakes(result([](Block& b, Tile& o, const Tile& t) { add_bias(b, o, t); }, x, row),
                   [&](Index r, Index c) { return static_cast<double>(x(r, c) + row(0, c)); }) == 0);
    CHECK(mistakes(result(
                       [](Block& b, Tile& o, const Tile& t) {
                           scale_columns(b, o, t, {3, 2});
                       },
                       x, row),
                   [&](Index r, Index c) { return static_cast<double>(x(r, c) * row(0, (c + 2) / 3)); }) == 0);
    CHECK(mistakes(result([](Block& b, Tile& o, const Tile& t) { scale_columns(b, o, t); }, x, row),
                   [&](Index r, Index c) { return static_cast<double>(x(r, c) * row(0, c)); }) == 0);
    const Matrix short_row = random_matrix(1, 10, 4);
    CHECK_THROWS_AS(result(
                        [](Block& b, Tile& o, const Tile& t) {
                            scale_columns(b, o, t, {3, 2});
                        },
                        x, short_row),
                    std::logic_error);
    CHECK(mistakes(result([](Block& b, Tile& o, const Tile&) { soft_cap(b, o, 1.5f); }, x, y),
                   [&](Index r, Index c) { return 1.5 * std::tanh(static_cast<double>(x(r, c)) / 1.5); }) == 0);
    CHECK(mistakes(result(
                       [&](Block& b, Tile& o, const Tile&) {
                           alibi(b, o, slopes, 4, {3, 1});
                       },
                       x, y),
                   [&](Index r, Index c) {
                       const float slope = slopes[static_cast<std::size_t>((r + 1) % 3)];
                       return static_cast<double>(x(r, c) - slope * static_cast<float>(std::abs((r + 1) / 3 + 4 - c)));
                   }) == 0);
}

TEST_CASE("dropping drops what is drawn, where rows of several matrices stand together, too", "[ops]") {
    const Matrix x = random_matrix(13, 33, 1);
    const Matrix kept = result([](Block& b, Tile& o, const Tile&) { draw_kept(b, o, half); }, x, x);
    int mistaken = 0, dropped = 0;
    for (Index r = 0; r < 13; ++r)
        for (Index c = 0; c < 33; ++c) {
            float alone = 0;
            half.kept.of_row(3 + (r + 1) % 2, 5 + (r + 1) / 2, {7 + c, 1}, &alone);
            mistaken += alone != kept(r, c);
            dropped += kept(r, c) == 0;
        }
    CHECK(mistaken == 0);
    CHECK(dropped > 100);
    CHECK(dropped < 329);
    const auto expected = [&](Index r, Index c) { return kept(r, c) > 0 ? 2 * static_cast<double>(x(r, c)) : 0; };
    CHECK(mistakes(result([](Block& b, Tile& o, const Tile&) { drop(b, o, half); }, x, x), expected) == 0);
    CHECK(mistakes(result([](Block& b, Tile& o, const Tile& m) { drop_by(b, o, m, 2); }, x, kept), expected) == 0);
}

TEST_CASE("a soft-cap keeps NaN and caps infinity", "[ops]") {
    const Matrix x(1, 3, std::vector<float>{not_a_number, infinity, -infinity});
    const Matrix capped = result([](Block& b, Tile& o, const Tile&) { soft_cap(b, o, 3); }, x, x);
    CHECK(std::isnan(capped(0, 0)));
    CHECK(capped(0, 1) == 3);
    CHECK(capped(0, 2) == -3);
}
