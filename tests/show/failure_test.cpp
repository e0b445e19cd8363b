// Programs that are wrong on purpose: what is left of the run, and the way back to the place of failure.
#include <sstream>

#include "core/machine/mistakes.hpp"
#include "core/machine/ops.hpp"
#include "core/text/words.hpp"
#include "lab/flags/command.hpp"
#include "show/run/make_run.hpp"
#include "show/words/steps.hpp"
#include "tests/support/folder.hpp"
#include "tests/support/problems.hpp"
#include "tests/support/sessions.hpp"

using namespace tilescope;
using namespace tilescope::lab;
using namespace tilescope::show;

namespace {

constexpr CodeLine code[] = {{2, "read Q_i", ""}, {4, "read K_j", ""}, {6, "write O_i", ""}};

using Program = void (*)(Gpu&, const Tensors&, const Problem&, const Tiling&);

Algorithm made_up(Program program) {
    Algorithm a = *find_algorithm("standard");
    a.name = "made_up", a.code = code, a.run = program;
    a.tensors = [](const Problem& p, const Tiling&) { return computation::attention.tensors(p); };
    return a;
}

/// The thread block of row tile 2 reads a key tile more often than it promised.
void breaks_a_loop(Gpu& gpu, const Tensors& t, const Problem& p, const Tiling& tile) {
    const Hbm Q = t["Q"], K = t["K"], O = t["O"];
    const Tiles rows(p.seq_q, tile.br, "i"), keys(p.seq_k, tile.bc, "j");
    gpu.launch("kernel", {p.head_axis(), each(rows)}, [&](Block& b, Span head, Span i) {
        b.at(2);
        Tile q = b.load(Q.of(head), i);
        b.uniform(keys, [&](Span j) {
            b.at(4);
            Tile k = b.load(K.of(head), j);
            if (i.begin == 2 * tile.br && j.begin == tile.bc) b.reload(k, K.of(head), j, {0, p.dim});
        });
        b.at(6);
        b.store(q, O.of(head), i);
    });
}

/// The second launch promises that its thread blocks cost the same; the last one costs more.
void breaks_a_grid(Gpu& gpu, const Tensors& t, const Problem& p, const Tiling& tile) {
    const Hbm Q = t["Q"], O = t["O"];
    const Tiles rows(p.seq_q, tile.br, "i");
    for (const char* kernel : {"first", "second"})
        gpu.launch(kernel, {p.head_axis(), uniform(rows)}, [&](Block& b, Span head, Span i) {
            b.at(2);
            Tile q = b.load(Q.of(head), i);
            if (gpu.launches().size() == 2 && i.end() == p.seq_q) b.reload(q, Q.of(head), i, {0, p.dim});
            b.at(6);
            b.store(q, O.of(head), i);
        });
}

/// Every thread block stores a row that its neighbour stores.
void races(Gpu& gpu, const Tensors& t, const Problem& p, const Tiling& tile) {
    const Hbm Q = t["Q"], O = t["O"];
    gpu.launch("kernel", {p.head_axis(), uniform(Tiles(p.seq_q, tile.br, "i"))}, [&](Block& b, Span head, Span i) {
        b.at(2);
        Tile q = b.load(Q.of(head), i);
        b.at(6);
        b.store(q, O.of(head), {std::max<Index>(0, i.begin - 1), i.size});
    });
}

/// A tile of scores in registers that grows with Bc.
void is_too_large(Gpu& gpu, const Tensors& t, const Problem& p, const Tiling& tile) {
    const Hbm Q = t["Q"], O = t["O"];
    gpu.launch("kernel", {p.head_axis(), uniform(Tiles(p.seq_q, tile.br, "i"))}, [&](Block& b, Span head, Span i) {
        b.at(2);
        Tile q = b.load(Q.of(head), i);
        b.at(4);
        Tile s = b.alloc_registers("S", i.size, tile.bc);
        Tile s2 = b.alloc_registers("S2", i.size, 100 * tile.bc);
        b.at(6);
        b.store(q, O.of(head), i);
    });
}

struct MadeUp {
    Algorithm algorithm;
    Options options;
    Request request;
    Experiment experiment() const { return {&algorithm, request.problem, request.wish.tiling, request.gpu}; }
};

MadeUp made(Program program) {
    MadeUp m{made_up(program), {}, {}};
    for (const auto& [flag, value] : toy) set_flag(m.options, flag, value);
    set_flag(m.options, "heads", "2");
    m.request = resolve(m.options, m.algorithm);
    return m;
}

/// The request and the place that `tilescope step` would read from the command.
std::pair<Options, Place> parsed(const std::string& command) {
    std::istringstream words(command);
    std::string word, value;
    Options o;
    Place place;
    for (const char* expected : {"tilescope", "step", "made_up"}) REQUIRE((words >> word && word == expected));
    while (words >> word >> value) {
        const std::string flag = word.substr(2);
        if (flag == "launch")
            place.launch = std::stoll(value) - 1;
        else if (flag == "block")
            place.block = std::stoll(value);
        else if (flag == "line")
            place.line = static_cast<std::uint16_t>(std::stoi(value));
        else
            set_flag(o, flag, value);
    }
    return {o, place};
}

/// Follows the command at the end of a message to the failure: the end of what was recorded of the block.
Run follow(const MadeUp& m, const Place& told) {
    const auto [options, place] = parsed(step_command(m.algorithm.name, m.options, told));
    CHECK(options == m.options);
    CHECK(place == told);
    Run run = make_run(m.experiment(), options, m.request);
    REQUIRE(run.failure());
    CHECK(run.failure()->place == told);
    CHECK(contains(run.shortened(), "Fails after operation"));
    const Placement* block = run.schedule().placement_of(place.launch, place.block);
    REQUIRE(block);
    StepsWanted wanted{.sm = block->sm, .launch = place.launch, .block = place.block, .line = {}};
    if (place.line > 0) wanted.line = place.line;
    const std::vector<Index> steps = steps_of(run, wanted);
    REQUIRE(!steps.empty());
    CHECK(steps.back() == run.failure()->tick);
    return run;
}

template <class Mistake>
Place place_of(const MadeUp& m) {
    Gpu gpu(m.request.gpu, exact_mode, 1);
    try {
        run_program(gpu, m.algorithm, m.request.problem, m.request.wish.tiling, {});
    } catch (const Mistake& e) {
        return e.place;
    }
    FAIL("nothing went wrong");
    return {};
}

}  // namespace

TEST_CASE("a broken promise of a loop leads back to the turn that broke it", "[failure]") {
    const MadeUp m = made(breaks_a_loop);
    const Place place = place_of<BrokenPromise>(m);
    CHECK(place == Place{0, 2, 4});
    CHECK(step_command(m.algorithm.name, m.options, place) ==
          "tilescope step made_up --heads 2 --seq 16 --dim 4 --dtype f32 --br 4 --bc 4 --gpu toy --launch 1 --block 2 "
          "--line 4");
    Run run = follow(m, place);
    // The last turn: j = 2 of 4 has loaded K twice. Other SMs are recorded up to the same place.
    run.seek(run.failure()->tick);
    const SmState& sm = run.moment().sms[2];
    CHECK(loop_position(run, sm) == "head 1 of 2, i = 3 of 4, j = 2 of 4");
    CHECK(contains(failure_text(run), "in thread block 2, on line 4: uniform at source line"));
    CHECK(run.trace().blocks().size() == 3);
    // The tiles that the SM held are still there.
    CHECK(sm.tiles.size() == 1);
    CHECK_NOTHROW(count(m.experiment()));
}

TEST_CASE("a broken promise of a grid leads back to the thread block", "[failure]") {
    const MadeUp m = made(breaks_a_grid);
    const Place place = place_of<BrokenPromise>(m);
    CHECK(place == Place{1, 3, 0});
    follow(m, place);
}

TEST_CASE("a race leads back to the second store", "[failure]") {
    const MadeUp m = made(races);
    const Place place = place_of<Race>(m);
    CHECK(place == Place{0, 1, 6});
    Run run = follow(m, place);
    CHECK(run.trace().blocks().size() == 8);  // it is noticed at the end of the launch
    try {
        Gpu gpu(m.request.gpu, exact_mode, 1);
        run_program(gpu, m.algorithm, m.request.problem, m.request.wish.tiling, {});
    } catch (const Race& e) {
        CHECK(e.first == Place{0, 0, 6});
    }
}

TEST_CASE("a tile that does not fit leads back to the step before it, from counting too", "[failure]") {
    const MadeUp m = made(is_too_large);
    const Place place = place_of<OutOfChipMemory>(m);
    CHECK(place == Place{0, 0, 4});
    try {
        count(m.experiment());
        FAIL("it fits");
    } catch (const OutOfChipMemory& e) {
        CHECK(e.place == place);
    }
    Run run = follow(m, place);
    run.seek(run.ticks());
    CHECK(run.moment().sms[0].registers_used == 4 * 4 * 4);
}

TEST_CASE("where many are counted as one, the first of them is to blame", "[failure]") {
    // Causal: a folded run takes the thread block that sees most, the last of a head; but the first block fails, too.
    const Algorithm& a = *find_algorithm("flash_v2");
    Options o;
    for (const auto& [flag, value] : toy) set_flag(o, flag, value);
    set_flag(o, "causal", "true");
    set_flag(o, "bc", "16");
    set_flag(o, "sram", "0.5");
    const Request r = resolve(o, a);
    const Experiment e{&a, r.problem, r.wish.tiling, r.gpu};
    for (const Mode mode : {count_mode, exact_mode}) {
        Gpu gpu(r.gpu, mode, 1);
        try {
            run_program(gpu, a, r.problem, r.wish.tiling, {});
            FAIL("it fits");
        } catch (const OutOfChipMemory& error) {
            CHECK(error.place == Place{0, 0, 7});
        }
    }
    CHECK(make_run(e, o, r).failure()->place == Place{0, 0, 7});
}

TEST_CASE("commands are quoted where a shell needs it", "[failure]") {
    CHECK(shell_line({"a", "b c", ""}) == "a 'b c' ''");
    CHECK(shell_line({"it's"}) == R"('it'\''s')");
    CHECK(step_command("flash_v2", {}, {}) == "tilescope step flash_v2");
    CHECK(shell_line({"~", "=ls", "a=b", "{a,b}", "-x"}) == "'~' '=ls' 'a=b' '{a,b}' -x");
    CHECK(shell_line({"q\xe9!.npy"}) == "\"$(printf 'q\\351\\041.npy')\"");
    CHECK(shell_line({"\x1b[31m\n"}) == "\"$(printf '\\033\\13331m\\012')\"");
}

TEST_CASE("a shell makes of a command the words that it was made of", "[failure]") {
    const Folder folder;
    const std::string alphabet = "ab -'\"\\$`!~*?[]{}();&|<>#%=^\n\r\t\x1b\x7f\xe9\xc3\xa9";
    std::uint32_t state = 7;
    const auto next = [&state] { return (state = state * 1664525u + 1013904223u) >> 8; };
    std::vector<std::string> words = {"", "-n", "--", "!!", "~", "*", "%s", "\\n", "$(touch x)", "'", "\xff"};
    for (int k = 0; k < 300; ++k) {
        std::string word;
        for (std::uint32_t n = 1 + next() % 12; n > 0; --n)
            word += k % 2 ? alphabet[next() % alphabet.size()] : static_cast<char>(1 + next() % 255);
        while (!word.empty() && word.back() == '\n') word.pop_back();
        words.push_back(word);
    }
    const std::string line = shell_line(words), printed = folder / "printed";
    CHECK(text::printable(line));
    write_bytes(folder / "script", "printf '%s\\0' " + line + " > '" + printed + "'\n");
    REQUIRE(std::system(("sh '" + (folder / "script") + "'").c_str()) == 0);
    std::string expected;
    for (const std::string& word : words) expected += word + '\0';
    CHECK((bytes_of(printed) == expected));
    CHECK(folder.entries() == 2);
}
