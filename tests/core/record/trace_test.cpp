#include "core/record/trace.hpp"

#include <map>

#include "core/machine/conversions.hpp"
#include "core/machine/error.hpp"
#include "core/record/player.hpp"
#include "core/record/trace_file.hpp"
#include "tests/support/programs.hpp"
#include "tests/support/recordings.hpp"
#include "tests/support/seeds.hpp"

using namespace tilescope;
using namespace tilescope::testing;
using Catch::Matchers::ContainsSubstring;

namespace {

/// What listeners are told, in the form in which a recording should keep it.
struct Heard : Everything {
    struct Entry {
        Event event;
        Index launch;
        std::string tile;
        std::vector<float> data;
    };
    std::vector<Entry> all;
    Index launch = -1;

    void heard(const Event& e, TileData data) override {
        launch += e.kind() == Kind::launch;
        all.push_back({e, launch, e.tile ? e.tile->name : "", {data.begin(), data.end()}});
        all.back().event.tile = nullptr;
    }
};

Counters sum(const Trace& t) {
    Counters c;
    for (Index k = 0; k < t.size(); ++k) c.add(t[k].event.cost, t[k].event.times);
    return c;
}

/// Two launches over two tensors. The second tensor is added between the launches.
void two_launches(Gpu& gpu) {
    const std::vector<float> values = random_floats(12, 1);
    const bool data = gpu.mode().data;
    const Hbm x = gpu.add(data ? filled("X", Role::input, Dtype::f16, 1, 4, 3, values)
                               : TensorInfo{"X", Role::input, Dtype::f16, 1, 4, 3, nullptr});
    gpu.launch("first", {each(Tiles(4, 2))}, [&](Block& b, Span i) {
        {
            b.at(2);
            Tile t = b.load(x, i);
            b.at(3);
            Tile m = b.alloc_registers("m", 2, 1);
            row_max(b, m, t);
            for (int k = 0; k < 2; ++k) {
                b.at(4);
                exp_minus(b, t, m);
            }
            b.at(5);
            b.at(6);
            b.store(t, x, i);
            b.at(7);
        }
        b.at(8);
    });
    const Hbm y = gpu.add({"Y", Role::output, Dtype::f32, 1, 2, 3, nullptr});
    gpu.launch("second", {each(Tiles(2, 2))}, [&](Block& b, Span i) {
        b.at(9);
        Tile t = b.load(x, i);
        b.store(t, y, i);
        b.reload(t, x, {2, 2}, {0, 3});
    });
}

template <class F>
Index count_if(const Trace& t, F f) {
    Index n = 0;
    for (Index k = 0; k < t.size(); ++k) n += f(t[k]);
    return n;
}

}  // namespace

TEST_CASE("a recording keeps every event and every number that was written", "[trace]") {
    const Mode mode = GENERATE(numeric_mode, exact_mode);
    for (unsigned seed = 0; seed < seeds(30); ++seed) {
        CAPTURE(seed);
        Heard heard;
        const auto trace = record(RandomProgram(seed), {}, mode, &heard);
        REQUIRE(trace->size() == static_cast<Index>(heard.all.size()));
        CHECK(trace->has_values() == mode.data);
        Index bad = 0;
        for (Index k = 0; k < trace->size(); ++k) {
            const Step& s = (*trace)[k];
            const Heard::Entry& e = heard.all[static_cast<std::size_t>(k)];
            bad += !same_event(s.event, e.event) || s.launch != e.launch || s.event.tile != nullptr;
            bad += !same_bits(trace->values(s), e.data);
            bad += s.moves_data() != (s.event.kind() == Kind::load || s.event.kind() == Kind::store);
            bad += (s.tile() == no_tile) != e.tile.empty();
            if (s.tile() != no_tile) bad += trace->tiles()[s.tile()].name != e.tile;
            for (const auto& [ours, theirs] : {std::pair(s.event.out, e.event.out), std::pair(s.event.a(), e.event.a()),
                                               std::pair(s.event.b(), e.event.b())}) {
                bad += (ours == no_tile) != (theirs == no_tile);
                if (ours == no_tile) continue;
                const RecordedTile& t = trace->tiles()[ours];
                bad += t.id != theirs || t.block != s.event.block || t.launch != s.launch;
            }
        }
        CHECK(bad == 0);
    }
}

TEST_CASE("a recording's costs add up to the Gpu's", "[trace]") {
    const Mode mode = GENERATE(numeric_mode, exact_mode);
    for (unsigned seed = 100; seed < 130; ++seed) {
        Gpu gpu(small_gpu(), mode, 1);
        Trace trace(gpu);
        gpu.listen(trace);
        RandomProgram(seed).run(gpu);
        CHECK(difference(sum(trace), gpu.total()) == "");
    }
}

TEST_CASE("the same run records the same", "[trace]") {
    for (unsigned seed = 0; seed < seeds(40); ++seed) {
        const auto a = record(RandomProgram(seed)), b = record(RandomProgram(seed));
        CHECK(divergence(*a, *b) == "");
        CHECK(divergence(*a, *record(RandomProgram(seed + 1))) != "");
    }
}

TEST_CASE("a recording of a folded run would mean nothing, and is refused", "[trace]") {
    Gpu gpu(small_gpu(), count_mode, 1);
    Trace trace(gpu);
    CHECK_THROWS_WITH(gpu.listen(trace), ContainsSubstring("needs every thread block and tile"));
}

TEST_CASE("a recording knows grids, blocks, loops and which turn a step is in", "[trace]") {
    const auto trace = record([](Gpu& gpu) {
        const Hbm x = gpu.add({"X", Role::input, Dtype::f32, 1, 6, 2, nullptr});
        gpu.launch("k", {uniform(2, "head"), each(Tiles(6, 4, "i"))}, [&](Block& b, Span, Span i) {
            b.at(1);
            b.uniform(Tiles(5, 2, "j"), [&](Span j) {
                Tile t = b.load(x, i);
                b.each(Tiles(2, 1, "k"), [&](Span) { b.reload(t, x, i, {0, 2}); });
                if (j.begin == 4) return;
            });
        });
    });
    CHECK((trace->launches() ==
           std::vector<RecordedLaunch>{{"k", {{"head", 2, 1, Promise::uniform}, {"i", 2, 4, Promise::none}}}}));
    CHECK((trace->blocks().at(3) == RecordedBlock{0, 3, {{1, 1}, {4, 2}}}));
    REQUIRE(trace->loops().size() == 2);
    CHECK(trace->loops()[0].name == "j");
    CHECK(trace->loops()[1].promise == Promise::none);
    // The first block: three loads, each with two reloads in the inner loop.
    std::vector<std::string> places;
    for (Index k = 0; k < trace->size() && places.size() < 9; ++k) {
        if ((*trace)[k].kind() != Kind::load) continue;
        std::string place;
        for (Index t = (*trace)[k].turn; t >= 0; t = trace->turns()[static_cast<std::size_t>(t)].around) {
            const RecordedTurn& turn = trace->turns()[static_cast<std::size_t>(t)];
            place = trace->loops()[static_cast<std::size_t>(turn.loop)].name + std::to_string(turn.index) + "/" +
                    std::to_string(turn.of) + place;
        }
        places.push_back(place);
    }
    CHECK(places == std::vector<std::string>{"j0/3", "j0/3k0/2", "j0/3k1/2", "j1/3", "j1/3k0/2", "j1/3k1/2", "j2/3",
                                             "j2/3k0/2", "j2/3k1/2"});
    CHECK((*trace)[0].turn == -1);
}

TEST_CASE("tables of tiles, tensors, regions and kernels", "[trace]") {
    const auto trace = record(two_launches);
    CHECK(trace->launches().size() == 2);
    CHECK(trace->launches()[1].kernel == "second");
    const std::vector<RecordedTile> tiles{{"X", 2, 3, Dtype::f16, Space::sram, 0, 0, 0},
                                          {"m", 2, 1, Dtype::f32, Space::registers, 0, 0, 1, Meaning::statistic},
                                          {"X", 2, 3, Dtype::f16, Space::sram, 0, 1, 0},
                                          {"m", 2, 1, Dtype::f32, Space::registers, 0, 1, 1, Meaning::statistic},
                                          {"X", 2, 3, Dtype::f16, Space::sram, 1, 0, 0}};
    CHECK((trace->tiles() == tiles));
    CHECK(trace->tiles()[0].bytes() == 12);
    REQUIRE(trace->tensors().size() == 2);
    const RecordedTensor &x = trace->tensors()[0], &y = trace->tensors()[1];
    CHECK(x.name == "X");
    CHECK(x.role == Role::input);
    CHECK(x.dtype == Dtype::f16);
    CHECK(x.size() == 12);
    std::vector<float> rounded = random_floats(12, 1);
    round_to(Dtype::f16, rounded.data(), 12);
    CHECK(same_bits(x.initial, rounded));  // the values before the first launch changed them
    CHECK((x.regions == std::vector<Region>{{0, 0, {0, 2}, {0, 3}}, {0, 0, {2, 2}, {0, 3}}}));
    CHECK(y.name == "Y");
    CHECK(y.initial.size() == 6);
    CHECK((y.regions == std::vector<Region>{{1, 0, {0, 2}, {0, 3}}}));
    for (Index k = 0; k < trace->size(); ++k)
        if (const Step& s = (*trace)[k]; s.moves_data())
            CHECK((trace->tensors()[s.event.region.tensor].regions[static_cast<std::size_t>(s.region)] ==
                   s.event.region));
        else
            CHECK(s.region == -1);
    std::map<const float*, std::size_t> places;
    for (Index k = 0; k < trace->size(); ++k)
        if (const TileData data = trace->values((*trace)[k]); !data.empty()) places[data.data()] = data.size();
    Bytes values = 0;
    for (const auto& [first, size] : places) values += static_cast<Bytes>(size);
    CHECK(trace->value_bytes() == 4 * (12 + 6 + values));
}

TEST_CASE("what is loaded as it was left, and stored as it was, is kept once", "[trace]") {
    const std::vector<float> x_values = random_floats(12, 1);
    const auto trace = record([&](Gpu& gpu) {
        const Hbm x = gpu.add(filled("X", Role::input, Dtype::f32, 1, 4, 3, x_values));
        const Hbm y = gpu.add({"Y", Role::output, Dtype::f32, 1, 4, 3, nullptr});
        gpu.launch("k", {each(Tiles(1, 1))}, [&](Block& b, Span) {
            const Span top{0, 2}, second{1, 1};
            Tile a = b.load(x, top);  // number 0 of `moved` below
            Tile again = b.load(x, top);
            b.store(a, y, top);
            b.reload(again, y, top, {0, 3});
            Tile m = b.alloc_registers("m", 2, 1);
            exp_minus(b, a, m);  // 4: new values
            b.store(a, y, top);  // the values that the tile holds
            Tile row = b.load(x, second);
            b.store(row, y, second);      // a row of what was stored before
            b.reload(a, y, top, {0, 3});  // 8: neither what was stored there before, nor what the tile held
        });
    });
    std::vector<TileData> moved;
    for (Index k = 0; k < trace->size(); ++k)
        if (const Step& s = (*trace)[k]; s.moves_data() || std::string_view(s.event.operation->name) == "exp_minus")
            moved.push_back(trace->values(s));
    REQUIRE(moved.size() == 9);
    const auto kept_at = [&](std::size_t k) { return moved[k].data(); };
    for (const std::size_t k : {1U, 2U, 3U}) CHECK(kept_at(k) == kept_at(0));
    CHECK(kept_at(4) != kept_at(0));
    CHECK(kept_at(5) == kept_at(4));
    CHECK(kept_at(7) == kept_at(6));
    std::vector<float> mixed(moved[5].begin(), moved[5].end());
    std::copy(x_values.begin() + 3, x_values.begin() + 6, mixed.begin() + 3);
    CHECK(same_bits(moved[8], mixed));
    CHECK(kept_at(8) != kept_at(5));
}

TEST_CASE("a visit of a line begins with its first event after at()", "[trace]") {
    const auto trace = record(two_launches);
    std::vector<std::pair<std::uint16_t, std::string>> visits;
    for (Index k = 0; k < trace->size() && (*trace)[k].event.block == 0 && (*trace)[k].launch == 0; ++k)
        if ((*trace)[k].enters_line) visits.push_back({(*trace)[k].event.line, (*trace)[k].event.operation->name});
    const std::vector<std::pair<std::uint16_t, std::string>> expected{{2, "load"},      {3, "alloc"}, {4, "exp_minus"},
                                                                      {4, "exp_minus"}, {6, "store"}, {7, "release"}};
    CHECK((visits == expected));
}

TEST_CASE("steps are found forwards and backwards", "[trace]") {
    const auto trace = record(two_launches);
    const auto is_store = [](const Step& s) { return s.event.kind() == Kind::store; };
    for (Index from = -2; from <= trace->size() + 2; ++from) {
        std::optional<Index> next, previous;
        for (Index k = trace->size(); k-- > 0;)
            if (k >= from && is_store((*trace)[k])) next = k;
        for (Index k = 0; k < trace->size(); ++k)
            if (k < from && is_store((*trace)[k])) previous = k;
        if (trace->find_forward(from, is_store) != next) FAIL("forwards from " << from);
        if (trace->find_backward(from, is_store) != previous) FAIL("backwards from " << from);
    }
}

TEST_CASE("chosen blocks are recorded, and nothing else", "[trace]") {
    const auto blocks = [](const Trace& t) {
        return count_if(t, [](const Step& s) { return s.event.kind() == Kind::block_begin; });
    };
    unsigned seed = 0;
    while (blocks(*record(RandomProgram(seed))) < 10) ++seed;
    const RandomProgram program(seed);
    const auto all = record(program);
    const auto some = record(program, {.blocks = {2, 0, 2}});
    // The steps of the whole recording without those of the other blocks.
    std::vector<Index> kept;
    for (Index k = 0; k < all->size(); ++k)
        if (const Event& e = (*all)[k].event; e.kind() == Kind::launch || e.block == 0 || e.block == 2)
            kept.push_back(k);
    REQUIRE(some->size() == static_cast<Index>(kept.size()));
    Index bad = 0;
    for (Index k = 0; k < some->size(); ++k) {
        const Step &s = (*some)[k], &a = (*all)[kept[static_cast<std::size_t>(k)]];
        bad += !same_event(s.event, a.event) || !same_bits(some->values(s), all->values(a));
        if (s.tile() != no_tile) bad += !(some->tiles()[s.tile()] == all->tiles()[a.tile()]);
    }
    CHECK(bad == 0);
    CHECK(count_if(*some, [](const Step& s) { return s.event.kind() == Kind::launch; }) ==
          static_cast<Index>(all->launches().size()));
    // Without data, the other blocks need not run at all.
    const auto alone = record(program, {.blocks = {0, 2}}, Mode{false, false, true});
    CHECK(alone->size() == some->size());
    CHECK(difference(sum(*alone), sum(*some)) == "");
    const auto none = record(program, {.blocks = {-1}});
    CHECK(none->size() == static_cast<Index>(all->launches().size()));
}

TEST_CASE("without values a recording keeps none", "[trace]") {
    const auto with = record(two_launches), without = record(two_launches, {.values = false});
    CHECK(with->has_values());
    CHECK_FALSE(without->has_values());
    CHECK(without->value_bytes() == 0);
    CHECK(without->tensors()[0].initial.empty());
    CHECK(without->size() == with->size());
    CHECK(count_if(*without, [](const Step& s) { return s.values > 0; }) == 0);
    CHECK(count_if(*with, [](const Step& s) { return s.values > 0; }) > 0);
}

TEST_CASE("a recording that outgrows its limits stops with one line, and what it has is a prefix", "[trace]") {
    const auto whole = record(two_launches);
    /// Records under limits that are too low. What was recorded must be the beginning of the whole recording.
    const auto cut_short = [&](const TraceOptions& options, const std::string& limit) {
        Gpu gpu(small_gpu(), numeric_mode, 1);
        Trace trace(gpu, options);
        gpu.listen(trace);
        std::string what;
        try {
            two_launches(gpu);
        } catch (const RunError& e) {
            what = e.what();
        }
        CHECK_THAT(what, ContainsSubstring("limit of " + limit) && ContainsSubstring("thread blocks only") &&
                             ContainsSubstring("smaller problem"));
        CHECK(what.find('\n') == std::string::npos);
        CHECK(ContainsSubstring("no values").match(what) == ContainsSubstring("bytes").match(what));
        REQUIRE(trace.size() < whole->size());
        // Equal up to the refusal. While the exception unwinds, tiles are released, which may or may not still be
        // recorded.
        Index same = 0;
        while (same < trace.size() && same_step(trace, same, *whole, same)) ++same;
        for (Index k = same; k < trace.size(); ++k) CHECK(trace[k].event.kind() == Kind::release);
        // The recording stays closed, and can still be played.
        CHECK_THROWS_AS(two_launches(gpu), RunError);
        Player player(trace);
        player.seek(trace.size());
        CHECK(player.position() == trace.size());
        return same;
    };
    for (Index n = 0; n < whole->size(); ++n) CHECK(cut_short({.max_events = n}, std::to_string(n) + " events") == n);
    CHECK(divergence(*whole, *record(two_launches, {.max_events = whole->size()})) == "");
    for (Bytes n = 0; n < whole->value_bytes(); n += 4) cut_short({.max_value_bytes = n}, std::to_string(n) + " bytes");
    cut_short({.max_value_bytes = whole->value_bytes() - 1}, "");
    CHECK(divergence(*whole, *record(two_launches, {.max_value_bytes = whole->value_bytes()})) == "");
    CHECK(divergence(*record(two_launches, {.values = false}),
                     *record(two_launches, {.values = false, .max_value_bytes = 0})) == "");
}

TEST_CASE("a run that fails leaves a recording up to the failure", "[trace]") {
    Gpu gpu(small_gpu(100, 100), numeric_mode, 1);
    Trace trace(gpu);
    gpu.listen(trace);
    CHECK_THROWS_AS(gpu.launch("test", {each(Tiles(1, 1))},
                               [](Block& b, Span) {
                                   Tile a = b.alloc("a", 2, 10, Space::sram);
                                   Tile c = b.alloc("c", 2, 10, Space::sram);
                               }),
                    OutOfChipMemory);
    REQUIRE(trace.size() == 3);  // launch, block_begin, alloc
    Player player(trace);
    player.seek(3);
    CHECK(player.state().sram_used == 80);
    CHECK(player.state().tiles.size() == 1);
}
