#include "show/state.hpp"

#include <CLI/CLI.hpp>

#include "tests/support/catch.hpp"
#include "tests/support/folder.hpp"

using namespace tilescope;
using namespace tilescope::show;

namespace {

/// The state that such words on the command line ask for.
State typed(const std::string& words) {
    State state;
    CLI::App app;
    add_state_options(app, state);
    app.parse(words);
    return state;
}

State saved(const std::string& json) {
    const Folder folder;
    write_bytes(folder / "state.json", json);
    return read_state(folder / "state.json");
}

const std::vector<std::string> both_renamed = {"safe_softmax is now called three_pass",
                                               "online_softmax is now called two_pass"};

}  // namespace

TEST_CASE("a state is saved, typed and read back as it was", "[state]") {
    const State state =
        typed("flash_v1 --race flash_v2 --pace bytes --seq 256 --step 7 --compare two_pass --break 5 8");
    CHECK(state.remarks.empty());
    std::string words;
    for (const std::string& word : command_line(state)) words += word + ' ';
    CHECK(typed(words) == state);
    const Folder folder;
    save_state(state, folder / "state.json");
    CHECK(read_state(folder / "state.json") == state);
}

TEST_CASE("former names of algorithms are understood on the command line and in saved states", "[state]") {
    for (const State& state : {typed("safe_softmax --race online_softmax"),
                               saved(R"({"tilescope-gui": ["safe_softmax", "--race", "online_softmax"]})")}) {
        CHECK(state.setup.algorithm == "three_pass");
        CHECK(state.setup.rival == "two_pass");
        CHECK(std::set(state.remarks.begin(), state.remarks.end()) ==
              std::set(both_renamed.begin(), both_renamed.end()));
        CHECK(shell_command(state) == "tilescope-gui three_pass --race two_pass");
    }
    const State compared = typed("flash_v2 --compare safe_softmax");
    CHECK(compared.view.compare == "three_pass");
    CHECK(compared.remarks == std::vector{both_renamed[0]});
}

TEST_CASE("names that nobody ever had are refused", "[state]") {
    CHECK_THROWS_AS(typed("flash_v2 --compare unsafe_softmax"), UsageError);
    Session session;
    session.ask(typed("unsafe_softmax").setup);
    CHECK(session.problem().starts_with("algorithm 'unsafe_softmax': unknown"));
}

TEST_CASE("a step is restored when the run is there", "[state]") {
    const State state = typed("flash_v2 --seq 4194304 --heads 1 --dim 1 --br 1 --bc 1 --step 500");
    Session session;
    Playback playback;
    View view;
    restore(state, session, playback, view);
    REQUIRE(session.busy());
    CHECK(playback.position() == 0);
    session.finish();
    playback.set_length(session.length());
    CHECK(playback.position() == 500);
    CHECK(state_of(session, playback, view) == state);
}
