#include "show/stage/explorer.hpp"

#include <cmath>

#include "lab/figure/kinds.hpp"
#include "lab/model/mapping.hpp"
#include "tests/support/catch.hpp"

using namespace tilescope;
using namespace tilescope::lab;
using namespace tilescope::show;
using namespace Catch::Matchers;

namespace {

Setup little(const char* algorithm = "flash_v2") {
    Setup s;
    s.algorithm = algorithm;
    s.options.seq = 128, s.options.heads = 2, s.options.br = s.options.bc = "32";
    return s;
}

struct Window {
    Session session;
    Explorer explorer;
    View view;
    void show(const Setup& s, Stage stage) {
        view.stage = stage;
        session.ask(s);
        session.finish();
        explorer.finish(session, view);
    }
};

}  // namespace

TEST_CASE("an explorer makes what is looked at, and nothing else", "[explorer]") {
    Window w;
    w.show(little(), Stage::machine);
    CHECK_FALSE(w.explorer.plane());
    CHECK_FALSE(w.explorer.figure());
    w.show(little(), Stage::tiles);
    REQUIRE(w.explorer.plane());
    CHECK_FALSE(w.explorer.figure());
    CHECK_FALSE(w.explorer.busy());
    CHECK(w.explorer.plane()->experiment().problem.seq_q == 128);
    CHECK(std::string(w.explorer.plane()->experiment().algorithm->name) == "flash_v2");
    const TilePlane* before = w.explorer.plane();
    Setup other = little();
    other.options.br = "64";  // a plane has all tilings, not one
    w.show(other, Stage::tiles);
    CHECK(w.explorer.plane() == before);
    other.options.causal = true;
    w.show(other, Stage::tiles);
    CHECK(w.explorer.plane()->experiment().problem.mask.is_causal());
    // A wrong setup leaves the last plane in place.
    other.options.heads = 0;
    w.show(other, Stage::tiles);
    CHECK_FALSE(w.session.problem().empty());
    CHECK(w.explorer.plane()->experiment().problem.heads == 2);
}

TEST_CASE("the last plane stays until the next can be seen", "[explorer]") {
    Window w;
    w.show(little(), Stage::tiles);
    Setup other = little();
    other.options.seq = 256;
    w.session.ask(other);
    w.session.finish();
    bool empty = false;
    while (!w.explorer.pump(w.session, w.view)) {
        empty |= !w.explorer.plane() || w.explorer.plane()->version() == 0;
        wait_a_moment();
    }
    CHECK_FALSE(empty);
    CHECK(w.explorer.plane()->experiment().problem.seq_q == 256);
}

TEST_CASE("figures are of the run's own problem, and of its algorithm and rival too", "[explorer]") {
    Window w;
    Setup s = little("memory_efficient");
    s.rival = "three_pass";
    w.show(s, Stage::roofline);
    const Figure* f = w.explorer.figure();
    REQUIRE(f);
    CHECK(f->name == "roofline");
    CHECK(f->of_all.find("2 heads, d = 64, N = 128") != std::string::npos);
    std::string titles;
    for (const Series& series : f->panels[0].series) titles += series.title + '\n';
    for (const char* name : {"standard attention", "FlashAttention,", "FlashAttention-2,", "memory-efficient attention",
                             "3-pass attention"})
        CHECK(titles.find(name) != std::string::npos);
    Setup matrix;
    matrix.algorithm = "softmax_online";
    matrix.options.seq = 64, matrix.options.heads = 1;
    w.show(matrix, Stage::roofline);
    CHECK(w.explorer.problem().empty());
    CHECK(w.explorer.figure()->panels[0].series.back().title.find("online softmax") != std::string::npos);
}

TEST_CASE("a trail goes where the runs went", "[explorer]") {
    Window w;
    Setup s = little();
    std::vector<std::pair<double, double>> bytes, roof;
    for (const Index seq : {64, 128, 256}) {
        s.options.seq = seq;
        w.show(s, Stage::machine);
        const Report& r = w.session.run()->counted();
        bytes.emplace_back(seq, r.counters.hbm());
        const double needed = 2 * 4.0 * 64 * static_cast<double>(seq * seq);  // two heads
        roof.emplace_back(needed / static_cast<double>(r.counters.hbm()), needed / r.time->us() * 1e6);
    }
    CHECK(w.explorer.trails(Stage::io, 0).at(0).points == bytes);
    CHECK(w.explorer.trails(Stage::roofline, 0).at(0).points == roof);
    REQUIRE(w.explorer.trails(Stage::roofline, 0).size() == 2);
    CHECK(
        w.explorer.trails(Stage::roofline, 0).at(1).points.back().first ==
        2 * 4.0 * 64 * 256 * 256 /
            static_cast<double>(w.session.run()->counted().dram()->read + w.session.run()->counted().dram()->written));
    CHECK(w.explorer.trails(Stage::io, 1).at(0).points.back().second ==
          static_cast<double>(w.session.run()->counted().dram()->read));
    // Another algorithm begins a trail of its own.
    s.algorithm = "flash_v1";
    w.show(s, Stage::machine);
    CHECK(w.explorer.trails(Stage::io, 0).at(0).points.size() == 1);
}

TEST_CASE("what cannot be drawn says why", "[explorer]") {
    Window w;
    Setup s = little();
    s.options.br = s.options.bc = "auto";
    s.options.dim = 256, s.options.dtype = "f32";
    s.options.sram_kib = 2;
    w.show(s, Stage::roofline);
    CHECK_FALSE(w.explorer.problem().empty());
    w.show(s, Stage::tiles);
    REQUIRE(w.explorer.plane());
    CHECK(picture_of(*w.explorer.plane(), *find_metric("time_us"), {}).state.starts_with("0 of "));
}
