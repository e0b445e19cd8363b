#include "show/state/state.hpp"

#include <sys/stat.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "tests/support/catch.hpp"
#include "tests/support/folder.hpp"

using namespace tilescope;
using namespace tilescope::show;

namespace {

/// The state that these words on the command line ask for.
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
    const State state = typed(
        "flash_v1 --race flash_v2 --pace bytes --seq 256 --step 7 --from 2 --to 40 --hide-ahead "
        "--compare two_pass --break 5 8");
    CHECK(state.remarks.empty());
    std::string words;
    for (const std::string& word : command_line(state)) words += word + ' ';
    CHECK(typed(words) == state);
    const Folder folder;
    save_state(state, folder / "state.json");
    CHECK(read_state(folder / "state.json") == state);
}

TEST_CASE("what is typed beside a state changes that and nothing else, defaults too", "[state]") {
    const State scene = typed("flash_v1 --race flash_v2 --pace bytes --heads 1 --seq 256 --step 7 --light");
    const auto beside = [&](const std::string& words) {
        State ignored;
        CLI::App app;
        std::string of_the_program;
        add_state_options(app, ignored);
        app.add_option("--size", of_the_program);
        app.parse(words);
        return changed(scene, typed_of_state(app));
    };
    CHECK(beside("--size 320x240") == scene);
    CHECK(beside("--heads 8 --size 320x240 --speed 4 --light=false") ==
          typed("flash_v1 --race flash_v2 --pace bytes --heads 8 --seq 256 --step 7"));
    CHECK(beside("standard --break 5 8 --causal --scale -1") ==
          typed("standard --race flash_v2 --pace bytes --heads 1 --seq 256 --step 7 --light --break 5 8 --causal "
                "--scale -1"));
}

TEST_CASE("what is seen large, and the drawer, are part of a state", "[state]") {
    const State state = typed("flash_v2 --projector --drawer code --zoom 0.125,1");
    CHECK(state.view.zoom == Spot{0.125, 1});
    CHECK(state.view.drawer == Drawer::code);
    CHECK(shell_command(state) == "tilescope-gui flash_v2 --projector --drawer code --zoom 0.125,1");
    for (const char* wrong : {"0.5", "0.5,", "0.5,2", "-1,0", "nan,0", "0.5,x", "1,1,1"})
        CHECK_THROWS_WITH(typed(std::string("flash_v2 --zoom=") + wrong), Catch::StartsWith("--zoom "));
    CHECK_THROWS_WITH(typed("flash_v2 --drawer kitchen"), Catch::Contains("none or controls or code or detail"));
}

TEST_CASE("in a hall the numbers are shown where all of a tile's can be read", "[state]") {
    Session readable, large;
    const State blackboard = typed("flash_v2 --gpu toy --seq 16 --dim 4 --heads 1 --br 4 --bc 4");
    readable.ask(blackboard.setup), readable.finish();
    large.ask(typed("flash_v2 --seq 256 --heads 1 --br 64 --bc 64").setup), large.finish();
    View view;
    CHECK(open_drawer(readable, view) == Drawer::detail);
    CHECK(open_drawer(large, view) == Drawer::none);
    view.drawer = Drawer::code;
    CHECK(open_drawer(readable, view) == Drawer::code);
    view.drawer = Drawer::automatic, view.stage = Stage::row;  // the row view shows the details itself
    CHECK(open_drawer(readable, view) == Drawer::none);
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
    CHECK(session.problem().starts_with("algorithm unsafe_softmax: unknown"));
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

TEST_CASE("a state with names that are not UTF-8 is saved and read back", "[state]") {
    State state = typed("flash_v2 --seq 64");
    state.setup.options.q = state.setup.options.k = "q\xe9.npy";
    state.setup.options.v = "two\nlines \x1b.npy";
    const Folder folder;
    save_state(state, folder / "state.json");
    CHECK(read_state(folder / "state.json") == state);
    CHECK(words_json({"q\xe9", "\u00e9"}).dump() == "[[113,233],\"\u00e9\"]");
    CHECK(shell_command(state) ==
          "tilescope-gui flash_v2 --seq 64 --q \"$(printf 'q\\351.npy')\" --k \"$(printf "
          "'q\\351.npy')\" --v \"$(printf 'two\\012lines\\040\\033.npy')\"");
}

TEST_CASE("what is wrong in a saved state is said with its file, in one line", "[state]") {
    const std::pair<const char*, const char*> files[] = {
        {R"({"tilescope-gui": ["--help"]})", ": --help: unknown flag"},
        {R"({"tilescope-gui": ["--seq", "0"]})", ": --seq 0: must be "},
        {R"({"tilescope-gui": ["--seq"]})", ": --seq: needs a value"},
        {R"({"tilescope-gui": ["a", "\u001b[31m\n"]})", R"(: '\x1b[31m\n': means nothing here)"},
        {R"({"tilescope-gui": "flash_v2"})", ": is neither what the window saves nor a recording"},
        {R"({"tilescope-gui": [1]})", ": is neither"},
        {"{}", ": is neither"},
        {"", ": is neither"},
        {"\xff", ": is neither"},
    };
    for (const auto& [json, why] : files) {
        const std::string message = message_of<UsageError>([text = json] { saved(text); });
        CAPTURE(json, message);
        CHECK(contains(message, "/state.json: "));
        CHECK(contains(message, why));
        CHECK(message.find('\n') == std::string::npos);
    }
}

TEST_CASE("what is no small file is not opened as a state", "[state]") {
    const Folder folder;
    REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);
    write_bytes(folder / "large", std::string((1 << 20) + 1, ' '));
    const std::pair<std::string, const char*> files[] = {
        {folder / "pipe", "is not a regular file"},
        {folder / ".", "is a folder"},
        {"/dev/zero", "is not a regular file"},
        {folder / "large", "is larger than 1 MiB"},
        {folder / "none", "cannot be opened (No such file or directory)"}};
    for (const auto& [path, why] : files) {
        const std::string message = message_of<UsageError>([p = path] { read_state(p); });
        CHECK(contains(message, path));
        CHECK(contains(message, why));
    }
}
