#include "show/stage/parts.hpp"

#include <cmath>

#include "core/text/numbers.hpp"
#include "show/stage/parts_text.hpp"
#include "show/stage/wall_headline.hpp"
#include "show/stage/wall_text.hpp"
#include "show/words/value_text.hpp"
#include "tests/support/folder.hpp"
#include "tests/support/sessions.hpp"
#include "tests/support/walls.hpp"

using namespace tilescope;
using namespace tilescope::lab;
using namespace tilescope::show;

namespace {

/// One query, eight key tiles in four parts on four SMs.
const Flags one_query = {{"gpu", "toy"}, {"seq-q", "1"}, {"seq-k", "32"},  {"dim", "4"},   {"heads", "1"},
                         {"br", "1"},    {"bc", "4"},    {"dtype", "f32"}, {"splits", "4"}};
/// Four row blocks; the first ones see no key of the second part.
const Flags prompt = {{"gpu", "toy"}, {"seq", "16"},    {"dim", "4"},    {"heads", "1"}, {"br", "4"},
                      {"bc", "4"},    {"dtype", "f32"}, {"splits", "2"}, {"causal", "1"}};

/// The first tick at which is() is true.
template <class F>
Index first_tick(Run& run, F&& is) {
    for (Index tick = 0; tick <= run.ticks(); ++tick)
        if (run.seek(tick), is()) return tick;
    FAIL("never");
    return 0;
}

std::vector<std::string> names(const std::vector<PartCell>& cells) {
    std::vector<std::string> all;
    for (const PartCell& c : cells) all.push_back(c.name);
    return all;
}

std::vector<float> tensor(const Run& run, const std::string& name) {
    for (TensorId id = 0; id < run.trace().tensors().size(); ++id)
        if (run.trace().tensors()[id].name == name) return run.player().values(id);
    return {};
}

}  // namespace

TEST_CASE("without an axis of parts there are none", "[parts]") {
    WaitingSession s = session_of("flash_v2", {{"gpu", "toy"}, {"seq", "16"}, {"dim", "4"}, {"heads", "1"}});
    const Wall wall(*s.run(), 0);
    CHECK(wall.parts().count() == 0);
    CHECK(wall.parts().with_keys() == 0);
    CHECK(wall.parts().launch() == -1);
    CHECK(wall.parts().partials().empty());
    CHECK(parts_reason(*s.run(), wall).empty());
    CHECK(parts_headline(*s.run(), wall, {}, 0).empty());
}

TEST_CASE("parts are bands of the keys, each with what its thread block found", "[parts]") {
    WaitingSession s = session_of("split_kv", one_query);
    Run& run = *s.run();
    const Wall wall(run, 0);
    const Parts& parts = wall.parts();
    REQUIRE(parts.count() == 4);
    REQUIRE(parts.partials().size() == 4);
    CHECK(parts.with_keys() == 4);
    CHECK(parts.launch() == 0);
    CHECK(parts.merge() == 1);
    for (Index p = 0; p < 4; ++p) {
        CHECK(parts.keys(p) == Span{8 * p, 8});
        const Partial& partial = parts.partials()[static_cast<std::size_t>(p)];
        CHECK(partial.part == p);
        CHECK(partial.rows == Span{0, 1});
        CHECK(!partial.empty);
        // The painter of a part's band paints the tiles of the band, and no others.
        for (const std::size_t v : wall.way(0, partial.block)) {
            CHECK(wall.visits()[v].keys.begin >= parts.keys(p).begin);
            CHECK(wall.visits()[v].keys.end() <= parts.keys(p).end());
        }
    }
    // Tensors that parts leave for the second launch are no edges of the wall.
    for (const WallEdge& e : wall.edges()) CHECK((e.name != "LSE_s" && e.name != "O_s"));
}

TEST_CASE("a part has m, l and O on chip, then LSE_s and O_s in HBM, then its weight in the sum", "[parts]") {
    WaitingSession s = session_of("split_kv", one_query);
    Run& run = *s.run();
    const Wall wall(run, 0);
    const Parts& parts = wall.parts();
    const Partial& p = parts.partials()[1];
    const auto cells = [&] { return part_cells(run, parts, p, 0); };
    run.seek(0);
    CHECK(cells().empty());
    first_tick(run, [&] { return names(cells()) == std::vector<std::string>{"m", "l", "O"}; });
    CHECK(cells()[0].on_chip);
    CHECK(cells()[0].value == "−∞");
    const Index stored = first_tick(run, [&] {
        return names(cells()) == std::vector<std::string>{"LSE_s", "O_s"} && !cells()[0].on_chip;
    });
    CHECK(parts.happened(p.output_stored, stored));
    CHECK(!parts.happened(p.output_stored, 0));
    CHECK(cells()[0].value == value_text(tensor(run, "LSE_s")[1]));
    CHECK(cells()[1].value.empty());
    CHECK(cells()[1].added == 0);
    first_tick(run, [&] { return names(cells()) == std::vector<std::string>{"w_s", "O_s"}; });
    CHECK(parts.added_share(p, run.tick()) == 0);
    first_tick(run, [&] { return parts.added_share(p, run.tick()) == 1; });
    CHECK(cells()[1].value == "added");
    CHECK(cells()[1].now);
    run.seek(run.ticks());
    CHECK(!cells()[1].now);
}

TEST_CASE("weights are the softmax over the parts' LSE", "[parts]") {
    for (const Flags& flags : {one_query, prompt}) {
        WaitingSession s = session_of("split_kv", flags);
        Run& run = *s.run();
        const Wall wall(run, 0);
        const Parts& parts = wall.parts();
        run.seek(run.ticks());
        const std::vector<float> lse_s = tensor(run, "LSE_s"), lse = tensor(run, "LSE");
        const Index rows = run.recorded().seq_q;
        std::vector<double> sums(static_cast<std::size_t>(rows));
        for (const Partial& p : parts.partials())
            for (Index r = p.rows.begin; r < p.rows.end(); ++r) {
                const auto row = static_cast<std::size_t>(r);
                const std::optional<float> weight = parts.weight(p, r, run.tick());
                REQUIRE(weight);
                CHECK(!parts.weight(p, r, 1));
                const float of_part =
                    lse_s[row * static_cast<std::size_t>(parts.count()) + static_cast<std::size_t>(p.part)];
                CHECK(std::abs(*weight - std::exp(of_part - lse[row])) < 1e-5);
                CHECK(p.empty == std::isinf(of_part));
                sums[row] += static_cast<double>(*weight);
                CHECK(parts.added_share(p, run.tick()) == 1);
                CHECK(parts.added_share(p, 1) == 0);
            }
        for (const double sum : sums) CHECK(std::abs(sum - 1) < 1e-5);
    }
}

TEST_CASE("the sentence of the wall goes from parts that are read to the sum of them", "[parts]") {
    WaitingSession s = session_of("split_kv", one_query);
    Run& run = *s.run();
    const Wall wall(run, 0);
    CHECK(headline(run, wall, 0) == "1 × 8 tiles of scores in 4 parts of the keys, nobody at work yet.");
    const auto begins = [&](const std::string& with) {
        return first_tick(run, [&] { return headline(run, wall, run.tick()).starts_with(with); });
    };
    begins("4 parts of the keys are read side by side, each with its own m, l and O; K and V come for every tile");
    CHECK(headline(run, wall, begins("What parts found goes to HBM: O_s and LSE_s of 4")) ==
          "What parts found goes to HBM: O_s and LSE_s of 4 of 4 are there.");
    begins("Launch 2 reads O_s and LSE_s of 4 parts, to add them up.");
    const Index two = begins("2 of 4 parts are added up: O = ");
    const Parts& parts = wall.parts();
    const auto weight = [&](std::size_t p) { return value_text(*parts.weight(parts.partials()[p], 0, two)); };
    CHECK(headline(run, wall, two) ==
          "2 of 4 parts are added up: O = " + weight(0) + " × part 1 + " + weight(1) + " × part 2.");
    run.seek(two);
    const std::vector<WallNumber> numbers = wall_numbers(run, wall, painters(run, wall), 0);
    CHECK(numbers.at(0).number == "1");
    CHECK(numbers.at(1).number + ' ' + numbers.at(1).of + ' ' + numbers.at(1).what.front() == "2 of 4 parts added up");
    CHECK(numbers.at(3).number == "1");
    CHECK(numbers.at(3).what.front() == "SMs add up");
    CHECK(headline(run, wall, run.ticks()) ==
          "Done: 4 parts of the keys, added up by launch 2; no scores ever in HBM.");
    CHECK(parts_reason(run, wall) == "O_s and LSE_s of 4 parts: 80 B written, 80 B read again.");
}

TEST_CASE("more parts than a sentence holds, and parts without keys, are counted", "[parts]") {
    WaitingSession s = session_of("split_kv", with(one_query, {{"splits", "6"}}));
    Run& run = *s.run();
    const Wall wall(run, 0);
    CHECK(wall.parts().count() == 6);
    CHECK(wall.parts().with_keys() == 4);
    CHECK(wall.parts().keys(5).size == 0);
    CHECK(wall.parts().partials().back().empty);
    CHECK(contains(parts_reason(run, wall), "of 6 parts: "));
    CHECK(contains(parts_reason(run, wall), " 2 parts of them without keys."));
    first_tick(
        run, [&] { return headline(run, wall, run.tick()).starts_with("5 of 6 parts are added up; part 5 weighs 0"); });
    WaitingSession one = session_of("split_kv", with(one_query, {{"splits", "1"}}));
    const Wall whole(*one.run(), 0);
    first_tick(*one.run(), [&] {
        return headline(*one.run(), whole, one.run()->tick())
            .starts_with("One part of the keys is read, with its own m");
    });
}

TEST_CASE("several row blocks have parts of their own", "[parts]") {
    WaitingSession s = session_of("split_kv", prompt);
    Run& run = *s.run();
    const Wall wall(run, 0);
    const Parts& parts = wall.parts();
    CHECK(parts.partials().size() == 8);
    CHECK(parts.of_block(0, parts.partials()[3].block) == &parts.partials()[3]);
    CHECK(!parts.of_block(1, parts.partials()[3].block));
    Index empty = 0;
    for (const Partial& p : parts.partials()) empty += p.empty;
    CHECK(empty == 2);
    first_tick(run,
               [&] { return contains(headline(run, wall, run.tick()), "row blocks, each with its own m, l and O"); });
    run.seek(run.ticks());
    const Partial& none = parts.partials()[1];
    CHECK(about_partial(run, wall, none) ==
          "part 2 of 2: keys 8–15\nno query of these rows sees a key of it\nw_s 0 and O_s added, of row 0\nadded up\n\n"
          "SM 1, thread block 1");
    CHECK(part_names(parts, 1) == std::vector<std::string>{"part 2 of 2", "part 2", "2"});
}

TEST_CASE("query heads that are packed are rows, and a head is one of K and V", "[parts]") {
    WaitingSession s =
        session_of("split_kv", with(one_query, {{"heads", "4"}, {"kv-heads", "2"}, {"pack", "on"}, {"br", "2"}}));
    Run& run = *s.run();
    REQUIRE(run.recorded().packed == 2);
    const Wall wall(run, 1);
    CHECK(head_text(run, wall) == "KV head 2 of 2: query heads 3 to 4");
    CHECK(packed_reason(run, wall) ==
          "Query heads 3 to 4 are rows of the same tiles, so that K and V are read once for all.");
    CHECK(contains(wall_reason(run, wall), "K and V are read once for all. A tile is read"));
    first_tick(run, [&] {
        return headline(run, wall, run.tick())
            .starts_with("KV head 2: 2 of 4 parts are added up: O of query head 3 = ");
    });
    CHECK(about_wall_tile(run, wall, 0, 2).starts_with("tile i = 1, j = 3: query 0 of query heads 3 to 4, keys 8–11"));
    CHECK(contains(about_partial(run, wall, wall.parts().partials()[0]), ", of query head 3"));
    CHECK(about_head(run, 1, HeadState{}).starts_with("KV head 2 (query heads 3 to 4): 0 of 0 thread blocks done"));
    WaitingSession off = session_of("split_kv", with(one_query, {{"heads", "4"}, {"kv-heads", "2"}, {"pack", "off"}}));
    const Wall apart(*off.run(), 1);
    CHECK(head_text(*off.run(), apart) == "head 2 of 4");
    CHECK(packed_reason(*off.run(), apart).empty());
}
