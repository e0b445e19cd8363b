// Setups that need more than one flag.
#include "show/state/setups.hpp"

#include "show/stage/wall.hpp"
#include "show/state/state.hpp"
#include "tests/support/sessions.hpp"

using namespace tilescope;
using namespace tilescope::show;

TEST_CASE("the window begins with FlashAttention-2, causal, on one head, in the middle of a tile", "[setups]") {
    WaitingSession session;
    session.ask(first_setup({}));
    REQUIRE(session.run());
    CHECK(session.tiling()->br == 128);
    CHECK(session.tiling()->bc == 64);
    CHECK(session.run()->has_values());
    State state;
    state.setup = session.setup();
    CHECK(shell_command(state) == "tilescope-gui flash_v2 --heads 1 --seq 512 --dim 128 --causal");
    session.show(first_step);
    const Wall wall(*session.run(), 0);
    CHECK(wall.painted_tiles(first_step) > wall.tiles_to_paint() / 2);
    CHECK(wall.painted_tiles(first_step) < wall.tiles_to_paint());
    const auto at_work = painters(*session.run(), wall);
    CHECK(std::count_if(at_work.begin(), at_work.end(), [](const Painter& p) { return !p.done && !p.between; }) == 3);
}

TEST_CASE("the window begins with a head dimension of 128 where flags but no algorithm are given", "[setups]") {
    const Setup heads = first_setup(setup("flash_v2", {{"heads", "4"}}));
    CHECK(heads.options.dim == 128);
    CHECK_FALSE(heads.options.causal);
    CHECK(first_setup(setup("flash_v2", {{"dim", "64"}})).options.dim == 64);
    Setup given;
    given.options.q = given.options.k = given.options.v = "q.npy";
    CHECK(first_setup(given) == given);
}

TEST_CASE("what means nothing to a softmax is taken back, and comes back with attention", "[setups]") {
    const Setup softmax = with_algorithm(setup("flash_v2", {{"dim", "64"}, {"causal", "true"}}), "softmax_safe");
    CHECK_FALSE(softmax.options.dim);
    CHECK_FALSE(softmax.options.causal);
    CHECK(with_algorithm(softmax, "softmax_online") == [&] {
        Setup other = softmax;
        other.algorithm = "softmax_online";
        return other;
    }());
    CHECK(with_algorithm(softmax, "flash_v1").options.dim == 128);
    CHECK(with_algorithm(setup("flash_v2", {{"seq", "512"}}), "flash_v1").options.dim == std::nullopt);
}

TEST_CASE("a model is taken back for a softmax, and beats the first head dimension", "[setups][models]") {
    const Setup model = setup("flash_v2", {{"model", "gpt-2"}, {"phase", "decode"}, {"seq", "40"}});
    CHECK(first_setup(model) == model);
    const Setup softmax = with_algorithm(model, "softmax_safe");
    CHECK(softmax.options.model.empty());
    CHECK(softmax.options.phase.empty());
    CHECK(softmax.options.seq == 40);
    WaitingSession session;
    session.ask(model);
    REQUIRE(session.run());
    CHECK(session.run()->experiment().problem.seq_q == 1);
    session.set("phase", "");
    CHECK(session.run()->experiment().problem.mask.is_causal());
    session.set("model", "");
    CHECK(session.run()->experiment().problem.heads == 8);
}

TEST_CASE("every example runs or shows what does not fit, for every algorithm", "[setups]") {
    for (const Example& example : examples()) {
        INFO(example.name);
        if (std::string_view(example.name) == "examples.long_context") continue;  // takes long
        WaitingSession session;
        session.ask(setup_of(example, "flash_v2"));
        CHECK(session.problem().empty());
        CHECK((session.run() != nullptr) == (std::string_view(example.name) != "examples.does_not_fit"));
        CHECK(setup_of(example, "softmax_online").options.dim == std::nullopt);
    }
}
