#include "core/machine/units.hpp"

#include <vector>

#include "tests/support/catch.hpp"

using namespace tilescope;

namespace {

std::vector<Span> spans(Tiles t) {
    std::vector<Span> out;
    for (Index k = 0; k < t.count(); ++k) out.push_back(t[k]);
    return out;
}

/// The tiles of [0, n), cut off one by one.
std::vector<Span> cut(Index n, Index size) {
    std::vector<Span> out;
    for (Index begin = 0, rest = n; rest > 0;) {
        const Index take = rest < size ? rest : size;
        out.push_back({begin, take});
        begin += take;
        rest -= take;
    }
    return out;
}

/// Whether all that a range of tiles says about itself agrees with the list of its tiles.
bool describes(Tiles t, const std::vector<Span>& expected, Index size) {
    Index full = 0, extent = 0;
    for (const Span& s : expected) {
        full += s.size == size;
        extent += s.size;
    }
    const auto count = static_cast<Index>(expected.size());
    return spans(t) == expected && t.tile_size() == size && t.count() == count && t.full() == full &&
           t.ragged() == (full != count) && t.extent() == extent;
}

/// How often wrong(n, size) is true, over all n and sizes up to a limit.
template <class F>
int mistakes(F wrong) {
    int count = 0;
    for (Index n = 0; n <= 40; ++n)
        for (Index size = 1; size <= 45; ++size) count += wrong(n, size);
    return count;
}

}  // namespace

TEST_CASE("ceil_div rounds up", "[units]") {
    for (Index a = 0; a < 50; ++a)
        for (Index b = 1; b < 20; ++b) {
            const Index q = ceil_div(a, b);
            if (q * b < a || (q - 1) * b >= a) FAIL(a << " / " << b << " gave " << q);
        }
}

TEST_CASE("a span ends after its last element", "[units]") {
    STATIC_REQUIRE(Span{3, 4}.end() == 7);
    STATIC_REQUIRE(Span{3, 4} == Span{3, 4});
    STATIC_REQUIRE(Span{3, 4} != Span{3, 5});
    STATIC_REQUIRE(Span{3, 4} != Span{2, 4});
}

TEST_CASE("what spans have in common is counted", "[units]") {
    const auto has = [](Span s, Index x) { return x >= s.begin && x < s.end(); };
    for (Index a = 0; a < 6; ++a)
        for (Index n = 0; n < 6; ++n) {
            const Span one{a, n}, other{2, 3};
            Index both = 0;
            for (Index x = 0; x < 12; ++x) both += has(one, x) && has(other, x);
            CHECK(common(one, other) == both);
            CHECK(common(other, one) == both);
        }
}

TEST_CASE("tiles cover their range without gaps or overlaps", "[units]") {
    CHECK(mistakes([](Index n, Index size) { return !describes(Tiles(n, size), cut(n, size), size); }) == 0);
    CHECK(spans(Tiles(10, 4)) == std::vector<Span>{{0, 4}, {4, 4}, {8, 2}});
    CHECK(Tiles(10, 4).full() == 2);
    CHECK(Tiles(0, 4).count() == 0);
    CHECK_FALSE(Tiles(0, 4).ragged());
}

TEST_CASE("the tiles that a span touches are those that have some of it", "[units]") {
    const auto wrong = [](const Tiles& tiles, Span span) {
        const Span touched = tiles.touched(span);
        int bad = touched.begin < 0 || touched.end() > tiles.count();
        for (Index k = 0; k < tiles.count(); ++k) bad += (common(tiles[k], span) > 0) != (common({k, 1}, touched) > 0);
        return bad;
    };
    int bad = 0;
    for (Index n = 0; n <= 12; ++n)
        for (Index size = 1; size <= 14; ++size)
            for (Index begin = 0; begin <= n; ++begin)
                for (Index span = 0; begin + span <= n; ++span) {
                    bad += wrong(Tiles(n, size), {begin, span});
                    bad += wrong(Tiles(n, size).from(1).upto(3), {begin, span});
                }
    CHECK(bad == 0);
}

TEST_CASE("upto and from keep the tiles before and from a position", "[units]") {
    const auto wrong = [](Index n, Index size) {
        const Tiles all(n, size);
        const std::vector<Span> tiles = cut(n, size);
        const auto count = static_cast<Index>(tiles.size());
        int bad = 0;
        for (Index k = -2; k <= count + 2; ++k) {
            const auto middle = tiles.begin() + std::clamp<Index>(k, 0, count);
            bad += !describes(all.upto(k), {tiles.begin(), middle}, size);
            bad += !describes(all.from(k), {middle, tiles.end()}, size);
        }
        return bad;
    };
    CHECK(mistakes(wrong) == 0);
}

TEST_CASE("positions of upto and from are those of the whole range", "[units]") {
    const auto wrong = [](Index n, Index size) {
        const std::vector<Span> tiles = cut(n, size);
        const auto count = static_cast<Index>(tiles.size());
        int bad = 0;
        for (Index a = 0; a <= count; ++a)
            for (Index b = a; b <= count; ++b) {
                const std::vector<Span> part(tiles.begin() + a, tiles.begin() + b);
                bad += !describes(Tiles(n, size).from(a).upto(b), part, size);
                bad += !describes(Tiles(n, size).upto(b).from(a), part, size);
                // A limit outside of the part that is left leaves nothing.
                bad += Tiles(n, size).from(b).upto(a).count() != 0;
                bad += Tiles(n, size).from(b).upto(a).extent() != 0;
            }
        return bad;
    };
    int bad = 0;
    for (Index n = 0; n <= 17; ++n)
        for (Index size = 1; size <= 18; ++size) bad += wrong(n, size);
    CHECK(bad == 0);
}
