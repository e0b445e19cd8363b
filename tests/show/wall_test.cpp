#include "show/stage/wall.hpp"

#include <cmath>
#include <map>
#include <set>

#include "core/text/numbers.hpp"
#include "lab/figure/tile_visits.hpp"
#include "show/run/heads.hpp"
#include "show/stage/wall_headline.hpp"
#include "show/stage/wall_text.hpp"
#include "show/stage/wall_traffic.hpp"
#include "tests/support/folder.hpp"
#include "tests/support/runs.hpp"
#include "tests/support/sessions.hpp"
#include "tests/support/walls.hpp"

using namespace tilescope;
using namespace tilescope::lab;
using namespace tilescope::show;

namespace {

double coats_at_end(const Run& run, const Wall& wall, Index i, Index j) { return wall.coats(i, j, run.ticks()); }

/// The bytes that this head moved through an edge of the wall, by the trips that the wall counts.
double bytes_along(const Run& run, const Wall& wall, const WallEdge& e) {
    const RecordedTensor& t = run.trace().tensors()[e.tensor];
    double bytes = 0;
    for (Index k = 0; k < e.tiles.count(); ++k)
        bytes += wall.trips(e, k, run.ticks()).all() * static_cast<double>(e.tiles[k].size * t.cols * size_of(t.dtype));
    return bytes;
}

}  // namespace

TEST_CASE("every tile that a query sees is painted, and no other", "[wall]") {
    for_all([](const Algorithm& a, const Case& c) {
        const Run run = run_of(experiment(a, c), c.problem.heads * c.problem.batch);
        for (const Index head : {Index{0}, run.recorded().batch_heads() - 1}) {
            const Wall wall(run, head);
            for (Index i = 0; i < wall.rows(); ++i)
                for (Index j = 0; j < wall.cols(); ++j) {
                    const bool hidden = wall.cover(i, j) == Cover::hidden, stores = !wall.sheets().empty();
                    INFO(i << ", " << j);
                    CHECK((coats_at_end(run, wall, i, j) > 0) == !wall.visits(i, j).empty());
                    if (hidden && !stores)
                        CHECK(wall.visits(i, j).empty());
                    else
                        CHECK(!wall.visits(i, j).empty());
                    CHECK(wall.coats(i, j, 0) == 0);
                }
            for (const Visit& v : wall.visits()) {
                CHECK(v.painted_share(0) == 0);
                CHECK(v.painted_share(v.painted) > 0);
                CHECK(v.painted_share(v.to) == 1);
                CHECK(v.painted_share(run.ticks()) == 1);
            }
            CHECK(wall.painted_tiles(0) == 0);
            CHECK(wall.painted_tiles(run.ticks()) == wall.tiles_to_paint());
        }
    });
}

TEST_CASE("a head has the slice of a bias that its thread block loads", "[wall][scores]") {
    for (const char* name : {"k", "qk", "hk", "hqk", "bk", "bqk", "bhqk", "gk", "ghqk"}) {
        INFO(name);
        Case c = shaped(8, 8, Dtype::f32, false, 4, 3, 3);
        c.tiling = {4, 4};
        c.problem.bias = {*Bias::terms_from(name), Bias{*Bias::terms_from(name)}.has_groups() ? Index{2} : Index{1}};
        const Run run = run_of(experiment(*find_algorithm("flash_v2"), c), 12);
        std::map<Index, Index> head_of_block;
        for (const Placement& p : run.schedule().placements()) head_of_block[p.block] = run.head_of(p);
        std::set<Index> heads;
        for (Index k = 0; k < run.trace().size(); ++k) {
            const Event& e = run.trace()[k].event;
            if (e.kind() != Kind::load) continue;
            const Index head = head_of_block.at(e.block);
            CHECK(slice_of(run.recorded(), run.trace().tensors()[e.region.tensor], head) == e.region.slice);
            heads.insert(head);
        }
        CHECK(heads.size() == 12);
    }
}

TEST_CASE("trips along the wall are the bytes that were counted", "[wall]") {
    for_all([](const Algorithm& a, const Case& c) {
        const Run run = run_of(experiment(a, c), c.problem.heads * c.problem.batch);
        std::map<TensorId, double> bytes;
        std::set<std::pair<TensorId, Index>> counted;  // tensors and slices whose bytes are counted
        for (Index head = 0; head < run.recorded().batch_heads(); ++head) {
            const Wall wall(run, head);
            for (const WallEdge& e : wall.edges())
                if (counted.insert({e.tensor, slice_of(run.recorded(), run.trace().tensors()[e.tensor], head)}).second)
                    bytes[e.tensor] += bytes_along(run, wall, e);
        }
        for (const auto& [tensor, sum] : bytes) {
            INFO(run.trace().tensors()[tensor].name);
            const Traffic t = run.traffic_of(tensor);
            CHECK(sum == Approx(static_cast<double>(t.read + t.sent())));
        }
    });
}

TEST_CASE("gradients lie beside what they belong to, and all that is moved of them is on the wall",
          "[wall][backward]") {
    using Side = WallEdge::Side;
    const auto side_of = [](const Wall& wall, const std::string& name) -> std::optional<std::pair<Side, int>> {
        for (const WallEdge& e : wall.edges())
            if (e.name == name) return std::pair(e.side, e.nth);
        return std::nullopt;
    };
    for (const Algorithm& a : algorithms()) {
        if (a.computes != &computation::attention_backward) continue;
        INFO(a.name);
        WaitingSession s = session_of(a.name, toy);
        const Wall wall(*s.run(), 0);
        CHECK(side_of(wall, "Q") == std::pair(Side::left, 0));
        CHECK(side_of(wall, "dQ")->first == Side::left);
        CHECK(side_of(wall, "dK") == std::pair(Side::above, 1));
        CHECK(side_of(wall, "dV") == std::pair(Side::below, 1));
        CHECK(side_of(wall, "dO")->first == Side::right);
        for (const RecordedTensor& t : s.run()->trace().tensors())
            if (t.meaning == Meaning::gradient) CHECK(side_of(wall, t.name));
    }
}

TEST_CASE("a backward pass makes P again, or reads what was kept", "[wall][backward]") {
    WaitingSession anew = session_of("flash_v2_backward", toy);
    const Wall wall(*anew.run(), 0);
    CHECK(wall_reason(*anew.run(), wall) ==
          "P is recomputed tile by tile, never in HBM. A tile is read, in the whole run: Q up to 4 times, K, V and O "
          "once, dO up to 5 times; written: dQ, dK and dV once; added to (+): dQ up to 4 times. In a tile of D: "
          "reads/writes so far.");
    std::set<std::string> said;
    for (Index tick = 0; tick <= anew.run()->ticks(); ++tick) said.insert(headline(*anew.run(), wall, tick));
    CHECK(said.count("4 painters walk down and recompute P; Q₂, LSE₂, dO₂ and D₂ come for every tile, dQ₂ is added to "
                     "in HBM, K, V, dK and dV stay on chip.") == 1);
    CHECK(said.count("Done: 16 tiles painted, each with its P recomputed, and no scores ever in HBM.") == 1);
    CHECK(contains(about_wall_tile(*anew.run(), wall, 0, 0), "\nP is recomputed here, and not stored"));

    WaitingSession kept = session_of("standard_backward", toy);
    const Wall stored(*kept.run(), 0);
    CHECK(contains(wall_reason(*kept.run(), stored), "P was kept in HBM by the forward pass, and is read. A tile is"));
    CHECK(headline(*kept.run(), stored, kept.run()->ticks()) == "Done: 16 tiles painted; P, dP and dS lie in HBM.");
    CHECK(!contains(about_wall_tile(*kept.run(), stored, 0, 0), "recomputed"));

    // Where a bias has a gradient, dS is stored.
    WaitingSession biased = session_of("memory_efficient_backward", with(toy, {{"bias", "bhqk"}}));
    const Wall of_bias(*biased.run(), 0);
    CHECK(wall_reason(*biased.run(), of_bias).starts_with("P is recomputed tile by tile. A tile"));
    CHECK(headline(*biased.run(), of_bias, biased.run()->ticks()) ==
          "Done: 16 tiles painted, each with its P recomputed; dbias lies in HBM.");
}

TEST_CASE("painters show the scores that they have, recomputed or read", "[wall][backward]") {
    const auto shown = [](const std::string& algorithm) {
        WaitingSession s = session_of(algorithm, toy);
        const Wall wall(*s.run(), 0);
        std::set<std::string> words;
        for (Index tick = 0; tick <= s.run()->ticks(); ++tick) {
            s.run()->seek(tick);
            for (const Painter& p : painters(*s.run(), wall))
                for (const std::string& text : scores_on_chip(*s.run(), wall, p)) words.insert(text);
        }
        return words;
    };
    CHECK(shown("flash_v2") == std::set<std::string>{});
    CHECK(shown("flash_v2_backward") == std::set<std::string>{"S", "P recomputed", "P", "P recomputed, dS", "P, dS"});
    CHECK(shown("standard_backward").count("P read, dP read") == 1);
}

TEST_CASE("another way of counting finds the same trips and tiles", "[wall]") {
    for (const Algorithm& a : algorithms()) {
        if (a.computes != &computation::attention) continue;
        const Case c = shaped(40, 44, Dtype::f16, true, 1, 1, 1);
        INFO(to_string(a, c));
        const Run run = run_of(experiment(a, c), 1);
        const Wall wall(run, 0);
        TileVisits other(run.counted());
        Mode mode = exact_mode;
        mode.only_wanted = true;
        Gpu gpu(run.experiment().gpu, mode, 1, nullptr);
        gpu.listen(other);
        run_program(gpu, a, c.problem, c.tiling, {});
        for (const WallEdge& e : wall.edges()) {
            if (e.side == WallEdge::Side::between) continue;
            for (Index k = 0; k < e.tiles.count(); ++k) {
                INFO(tile_name(e.name, k));
                CHECK(wall.trips(e, k, run.ticks()).read ==
                      Approx(other.trips(e.meaning)[static_cast<std::size_t>(k)].read));
                CHECK(wall.trips(e, k, run.ticks()).written ==
                      Approx(other.trips(e.meaning)[static_cast<std::size_t>(k)].written));
            }
        }
        for (Index i = 0; i < wall.rows(); ++i)
            for (Index j = 0; j < wall.cols(); ++j) CHECK(wall.visits(i, j).empty() == other.visits(i, j).empty());
    }
}

TEST_CASE("a tile has as many coats as its scores are gone through", "[wall]") {
    const auto coats = [](const std::string& algorithm) {
        WaitingSession s = session_of(algorithm, toy);
        const Wall wall(*s.run(), 0);
        for (Index i = 0; i < wall.rows(); ++i)
            for (Index j = 0; j < wall.cols(); ++j)
                CHECK(coats_at_end(*s.run(), wall, i, j) == coats_at_end(*s.run(), wall, 0, 0));
        return coats_at_end(*s.run(), wall, 0, 0);
    };
    CHECK(coats("flash_v1") == 1);
    CHECK(coats("flash_v2") == 1);
    CHECK(coats("two_pass") == 2);
    CHECK(coats("three_pass") == 3);
    CHECK(coats("standard") == 3);  // written, turned into P, multiplied by V
    // The softmax launch takes more rows than a tile has. A tile that two of its thread blocks share has as many coats.
    WaitingSession s = session_of("standard", {{"seq", "512"}, {"heads", "1"}, {"br", "64"}, {"bc", "64"}});
    const Wall wall(*s.run(), 0);
    CHECK(wall.visits(1, 0).size() == 4);
    CHECK(coats_at_end(*s.run(), wall, 1, 0) == 3);
}

TEST_CASE("painters walk as the loops go", "[wall]") {
    WaitingSession one = session_of("flash_v1", toy), two = session_of("flash_v2", toy);
    const Wall down(*one.run(), 0), right(*two.run(), 0);
    Index before = -1;
    for (const std::size_t k : down.way(0, 0)) {
        const Visit& v = down.visits()[k];
        CHECK(v.cols.begin * 4 + v.rows.begin == before + 1);
        before = v.cols.begin * 4 + v.rows.begin;
    }
    CHECK(before == 15);
    for (Index block = 0; block < 4; ++block)
        for (Index j = 0; j < 4; ++j) {
            const Visit& v = right.visits()[right.way(0, block)[static_cast<std::size_t>(j)]];
            CHECK(v.rows == Span{block, 1});
            CHECK(v.cols == Span{j, 1});
        }
}

TEST_CASE("the wall says who walks which way, what comes and what stays", "[wall]") {
    WaitingSession s = session_of("flash_v2", toy);
    Run& run = *s.run();
    const Wall wall(run, 0);
    CHECK(headline(run, wall, 0) == "4 × 4 tiles of scores, nobody at work yet.");
    CHECK(headline(run, wall, 1) == "The host launches flash_v2.");
    CHECK(headline(run, wall, 8) == "4 painters walk right; K₁ and V₁ come for every tile, Q and O stay on chip.");
    CHECK(wall_reason(run, wall) ==
          "A tile is read, in the whole run: Q once, K and V up to 4 times; written: O once.");
    CHECK(headline(run, wall, run.ticks()) == "Done: 16 tiles painted, and no scores ever in HBM.");
    WaitingSession first = session_of("flash_v1", toy);
    const Wall by_column(*first.run(), 0);
    CHECK(headline(*first.run(), by_column, 60) ==
          "One painter walks down; Q₂ comes for every tile, O₂, l₂ and m₂ come and go back, K₁ and V₁ stay on chip.");
    CHECK(
        wall_reason(*first.run(), by_column) ==
        "A tile is read, in the whole run: Q and O up to 4 times, K and V once; written: O up to 5 times. In a tile of "
        "O, l and m: reads/writes so far.");
    WaitingSession stores = session_of("standard", toy);
    const Wall stored(*stores.run(), 0);
    CHECK(headline(*stores.run(), stored, 4) == "4 painters paint one tile each; Q₁ and K come, S goes to HBM.");
    CHECK(headline(*stores.run(), stored, stores.run()->ticks()) == "Done: 16 tiles painted; S and P lie in HBM.");
}

TEST_CASE("what stays is on chip, and what is between two tiles paints nothing", "[wall]") {
    // V is read only in the third pass.
    WaitingSession s = session_of("three_pass", toy);
    Run& run = *s.run();
    const Wall wall(run, 0);
    CHECK(headline(run, wall, 6) == "4 painters walk right; K₁ comes for every tile, Q and O stay on chip.");
    std::set<std::string> said;
    for (Index tick = 0; tick <= run.ticks(); ++tick) said.insert(headline(run, wall, tick));
    CHECK(said.count("4 painters walk right; K₁ and V₁ come for every tile, Q and O stay on chip.") == 1);
    // Few keys, many queries: the loop has a single turn, and Q stays on chip.
    WaitingSession one = session_of("flash_v2", with(toy, {{"seq-k", "4"}}));
    const Wall column(*one.run(), 0);
    CHECK(headline(*one.run(), column, 8) ==
          "4 painters paint one tile each; K₁ and V₁ come for every tile, Q and O stay on chip.");
    WaitingSession first = session_of("flash_v1", toy);
    const Wall by_column(*first.run(), 0);
    said.clear();
    for (Index tick = 0; tick <= first.run()->ticks(); ++tick) said.insert(headline(*first.run(), by_column, tick));
    CHECK(said.count("One painter is between two tiles: no scores are painted now.") == 1);
}

TEST_CASE("reads, writes and additions have marks of their own", "[wall]") {
    CHECK(trips_mark({}).empty());
    CHECK(trips_mark({.read = 8}) == "×8");
    CHECK(trips_mark({.written = 1}) == "×1");
    CHECK(trips_mark({.read = 2.5, .written = 1}) == "2.5/1");
    CHECK(trips_mark({.reduced = 8}) == "+8");
    CHECK(trips_mark({.read = 1, .written = 1, .reduced = 8}) == "1/1 +8");
    CHECK(trips_marks({.read = 1, .written = 1, .reduced = 8}) == std::vector<std::string>{"1", "/1", "+8"});
}

TEST_CASE("a thousand trips are written with all digits", "[wall]") {
    WaitingSession s = session_of("flash_v2", with(toy, {{"seq-q", "4096"}, {"seq-k", "4"}}));
    Run& run = *s.run();
    const Wall wall(run, 0);
    CHECK(contains(wall_reason(run, wall), "K and V up to 1,024 times"));
    for (const WallEdge& e : wall.edges()) {
        if (e.meaning != Meaning::key) continue;
        CHECK(contains(about_edge_tile(run, wall, e, 0), "; to the end 1,024× and 0×"));
        CHECK(times_mark(wall.trips(e, 0, run.ticks()).all()) == "×1024");
    }
    CHECK(times_mark(2.5) == "×2.5");
}

TEST_CASE("summaries of chunks are no rows of the wall", "[wall]") {
    WaitingSession chunks = session_of("chunked", toy), rows = session_of("flash_v1", toy);
    const auto between = [](const Run& run) {
        const Wall wall(run, 0);
        std::vector<std::string> names;
        for (const WallEdge& e : wall.edges())
            if (e.side == WallEdge::Side::between) names.push_back(e.name);
        return names;
    };
    CHECK(between(*chunks.run()).empty());
    CHECK(between(*rows.run()) == std::vector<std::string>{"l", "m"});
}

TEST_CASE("of more tiles than can be looked at there is no wall", "[wall]") {
    WaitingSession s = session_of(
        "flash_v2", {{"seq", "4194304"}, {"heads", "1"}, {"dim", "1"}, {"br", "1"}, {"bc", "16"}, {"causal", "true"}});
    CHECK_FALSE(Wall::has_room_for(*s.run()));
    CHECK(contains(no_wall_text(*s.run()), "4,194,304 × 262,144 tiles of scores are too many"));
    WaitingSession wide = session_of("flash_v2", with(toy, {{"seq", "2048"}}));
    CHECK(Wall::has_room_for(*wide.run()));
    wide.set("seq", "2052");
    CHECK_FALSE(Wall::has_room_for(*wide.run()));
}

TEST_CASE("of a part, the wall says that it is one", "[wall]") {
    WaitingSession s = session_of("flash_v2", {{"seq", "16384"}, {"heads", "4"}, {"causal", "true"}});
    Run& run = *s.run();
    const Wall wall(run, 0);
    CHECK(contains(headline(run, wall, run.ticks()), "The part that is shown is done: "));
    CHECK(contains(wall_reason(run, wall), "A tile is read, in what is shown: "));
    CHECK(contains(traffic_text(run, 1000, 2000), ", of what is shown"));
    // The first row blocks of one head are recorded; those below are counted and not shown.
    REQUIRE(wall.recorded_rows() < wall.rows());
    for (Index i = 0; i < wall.rows(); ++i) CHECK(wall.visits(i, 0).empty() == (i >= wall.recorded_rows()));
    CHECK(unrecorded_text(wall).front() ==
          "row blocks " + std::to_string(wall.recorded_rows() + 1) + " to 128: counted, not shown");
    const Bytes all = run.counted().counters.hbm();
    CHECK(whole_run_text(run) ==
          text::bytes(all) + " in the whole run: " +
              text::grouped(std::lround(static_cast<double>(all) / static_cast<double>(run.hbm(run.ticks())))) +
              " times that");
    // More than half is shown: the whole run has 1.8 times the bytes, which must not be rounded to 2.
    WaitingSession half_shown = session_of("standard_backward", {{"seq", "4096"}, {"heads", "1"}});
    const Run& most = *half_shown.run();
    const double times =
        static_cast<double>(most.counted().counters.hbm()) / static_cast<double>(most.hbm(most.ticks()));
    REQUIRE(!most.has_whole_heads());
    CHECK(times < 2);
    CHECK(whole_run_text(most).ends_with("in the whole run: " + text::tenths(times) + " times that"));
    WaitingSession whole = session_of("flash_v2", toy);
    const Wall four(*whole.run(), 0);
    CHECK(four.recorded_rows() == 4);
}

TEST_CASE("the wall says how much of its last tiles does not exist", "[wall]") {
    WaitingSession s = session_of("flash_v2", with(toy, {{"seq-q", "14"}, {"seq-k", "9"}}));
    const Wall wall(*s.run(), 0);
    CHECK(overhang(wall, *s.run()).rows.front() == "2 of 4 rows of these tiles do not exist");
    CHECK(overhang(wall, *s.run()).keys.front() == "3 of 4 keys of these tiles do not exist");
    CHECK(overhang(wall, *s.run()).keys.back() == "3");
}

TEST_CASE("heads that share K and V are told apart", "[wall]") {
    WaitingSession s =
        session_of("flash_v2", with(toy, {{"heads", "4"}, {"kv-heads", "2"}, {"batch", "2"}, {"sms", "32"}}));
    Run& run = *s.run();
    CHECK(heads_sharing(run, 0) == std::vector<Index>{0, 1});
    CHECK(heads_sharing(run, 3) == std::vector<Index>{2, 3});
    CHECK(heads_sharing(run, 4) == std::vector<Index>{4, 5});
    const Wall wall(run, 3);
    CHECK(headline(run, wall, 12).starts_with("Head 4: 4 painters walk right; "));
    const std::vector<WallNumber> numbers = wall_numbers(run, wall, painters(run, wall), 12);
    CHECK(numbers.at(2).what.front() == "tiles painted of head 4, 4 in work");
    CHECK(numbers.at(3).what.front() == "SMs paint head 4");
    s.set("kv-heads", "4");
    CHECK(heads_sharing(*s.run(), 3) == std::vector<Index>{3});
    const Wall alone(*s.run(), 3);
    CHECK(headline(*s.run(), alone, 12).starts_with("4 painters walk right; "));
    CHECK(wall_numbers(*s.run(), alone, painters(*s.run(), alone), 12).at(3).what.front() == "SMs paint here");
}

TEST_CASE("tiles too small to be seen are drawn together", "[wall]") {
    WaitingSession s = session_of("standard", with(toy, {{"causal", "true"}}));
    const Wall wall(*s.run(), 0);
    Index tiles = 0;
    for (const WallGroup& g : wall.groups(3, 3)) {
        tiles += g.tiles();
        CHECK(static_cast<Index>(g.painted.size()) == g.tiles());
        CHECK(g.begun.size() >= g.painted.size());
        CHECK(std::is_sorted(g.begun.begin(), g.begun.end()));
        CHECK(g.stored.size() == 2);
        CHECK(g.skipped == 0);
    }
    CHECK(tiles == 16);
    CHECK(wall.groups(3, 3).size() == 4);
    CHECK(wall.groups(1, 1).size() == 16);
    CHECK(wall.groups(1, 1)[3].hidden == 1);
}

TEST_CASE("a painter goes past what a mask hides, and in the end few tiles are painted", "[wall]") {
    WaitingSession s = session_of("flash_v2", with(toy, {{"causal", "true"}, {"window-left", "4"}}));
    const Wall band(*s.run(), 0);
    CHECK(headline(*s.run(), band, s.run()->ticks()) ==
          "Done: 7 of 16 tiles painted, at most 2 in a row, and no scores ever in HBM.");
    WaitingSession sparse = session_of("flash_v1", with(toy, {{"block-mask", "butterfly"}, {"mask-block", "4"}}));
    // Column 2 is seen by rows 1, 2 and 4, with a gap; columns 1 and 4 by rows without a gap.
    const Wall wall(*sparse.run(), 0);
    std::set<std::string> said;
    for (Index tick = 0; tick <= sparse.run()->ticks(); ++tick) {
        const std::string words = headline(*sparse.run(), wall, tick);
        if (words.starts_with("One painter walks down")) said.insert(words.substr(0, words.find(';')));
    }
    CHECK(said == std::set<std::string>{"One painter walks down", "One painter walks down, past 1 hatched tile of 4"});
}

TEST_CASE("a causal mask leaves tiles out, and says how many", "[wall]") {
    WaitingSession s = session_of("flash_v2", with(toy, {{"causal", "true"}}));
    const Wall wall(*s.run(), 0);
    CHECK(wall.tiles_to_paint() == 10);
    CHECK(skipped_text(wall).front() == "6 of 16 tiles (38%) skipped: no query sees their keys");
    CHECK(wall.cover(1, 1) == Cover::partial);
    CHECK(contains(about_wall_tile(*s.run(), wall, 0, 3), "skipped"));
    WaitingSession stores = session_of("standard", with(toy, {{"causal", "true"}}));
    const Wall stored(*stores.run(), 0);
    CHECK(skipped_text(stored).empty());
    CHECK(contains(about_wall_tile(*stores.run(), stored, 0, 3), "computed in vain"));
}

TEST_CASE("what is on chip is lit along the edges", "[wall]") {
    WaitingSession s = session_of("flash_v1", toy);
    Run& run = *s.run();
    const Wall wall(run, 0);
    bool seen = false;
    for (Index tick = 0; tick <= run.ticks(); ++tick) {
        run.seek(tick);
        const auto all = painters(run, wall);
        for (const WallEdge& e : wall.edges()) {
            const std::vector<bool> lit = held(run, wall, all, e);
            if (std::count(lit.begin(), lit.end(), true) == 0 || all.empty()) continue;
            INFO("tick " << tick << ", " << e.name);
            CHECK(std::count(lit.begin(), lit.end(), true) == 1);
            if (all[0].visit->painted > tick || all[0].visit->to < tick) continue;
            seen = true;
            CHECK(lit[static_cast<std::size_t>((e.by_row() ? all[0].visit->rows : all[0].visit->cols).begin)]);
        }
    }
    CHECK(seen);
}

TEST_CASE("numbers beside the wall are those of the run", "[wall]") {
    WaitingSession s = session_of("flash_v2", with(toy, {{"causal", "true"}, {"heads", "2"}, {"sms", "8"}}));
    Run& run = *s.run();
    const Wall wall(run, 1);
    run.seek(run.ticks());
    CHECK(heads_of(run).size() == 2);
    for (const HeadState& h : heads_of(run)) CHECK((h.done == 4 && h.all == 4 && h.busy == 0));
    Bytes sum = 0;
    for (TensorId id = 0; const WallBytes& b : wall_bytes(run)) {
        CHECK((b.so_far == run.traffic_of(id++)));
        sum += b.so_far.read + b.so_far.write;
    }
    CHECK(sum == run.counted().counters.hbm());
    CHECK(other_bytes(run, *s.counted("standard")) == s.counted("standard")->counters.hbm());
    const std::vector<WallNumber> numbers = wall_numbers(run, wall, painters(run, wall), 0);
    CHECK(numbers.at(2).number == "10");
    CHECK(numbers.at(2).of == "of 10");
    CHECK(numbers.at(3).number == "0");
    run.seek(8);
    CHECK(wall_numbers(run, wall, painters(run, wall), 7).at(3).number == "4");
    CHECK(heads_of(run)[1].busy == 4);
}

TEST_CASE("scores that go to HBM and come back are a part of the bytes", "[wall]") {
    WaitingSession fused = session_of("flash_v2", toy), s = session_of("standard", toy);
    fused.run()->seek(fused.run()->ticks());
    CHECK_FALSE(stores_scores(*fused.run()));
    CHECK(stored_bytes(*fused.run()).to == 0);
    Run& run = *s.run();
    CHECK(stores_scores(run));
    CHECK(stored_bytes(run).text.empty());
    Index tick = 0;
    while (stored_bytes(run).to == 0) run.seek(++tick);
    CHECK(stored_bytes(run).text.starts_with("S: "));
    CHECK(stored_bytes(run).text.ends_with(" B"));
    run.seek(run.ticks());
    Bytes before = 0, of_scores = 0;
    for (const WallBytes& b : wall_bytes(run)) {
        const Bytes bytes = b.so_far.read + b.so_far.write;
        if (b.meaning == Meaning::score)
            of_scores += bytes;
        else
            before += bytes;
    }
    CHECK(stored_bytes(run).from == before);
    CHECK(stored_bytes(run).to == before + of_scores);
    CHECK(stored_bytes(run).text == "S and P: " + text::bytes(of_scores) + " out and back");
}

TEST_CASE("walls are kept for as long as their run is shown", "[wall]") {
    WaitingSession s = session_of("flash_v2", toy);
    Walls walls;
    const Wall* first = &walls.of(*s.run(), 0, s.version());
    CHECK(&walls.of(*s.run(), 0, s.version()) == first);
    s.set("seq", "12");
    CHECK(walls.of(*s.run(), 0, s.version()).rows() == 3);
}
