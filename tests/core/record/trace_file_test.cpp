#include "core/record/trace_file.hpp"

#include <fstream>
#include <sstream>

#include "core/machine/error.hpp"
#include "core/record/player.hpp"
#include "tests/support/folder.hpp"
#include "tests/support/recordings.hpp"
#include "tests/support/seeds.hpp"

using namespace tilescope;
using namespace tilescope::testing;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;

namespace {

std::string written(const Trace& t, const std::string& about = R"({"of":"a test"})") {
    std::ostringstream out;
    write_trace(out, about, t);
    return out.str();
}

ReadTrace read(const std::string& text) {
    std::istringstream in(text);
    return read_trace(in, "t.json");
}

/// The message with which the text is refused.
std::string refusal(const std::string& text) {
    return message_of<UsageError>([&] { read(text); });
}

/// A launch of two blocks: load, new tile, product, softmax, store; with a loop.
void small_program(Gpu& gpu) {
    TensorInfo input = {"X", Role::input, Dtype::f32, 1, 4, 3};
    if (gpu.mode().data) input = filled("X", Role::input, Dtype::f32, 1, 4, 3, random_floats(12, 1));
    input.meaning = Meaning::query;
    const Hbm x = gpu.add(input);
    const Hbm y = gpu.add({"Y", Role::output, Dtype::f32, 1, 4, 2, nullptr});
    gpu.launch("small", {uniform(Tiles(4, 2, "i"))}, [&](Block& b, Span i) {
        b.at(2);
        Tile q = b.load(x, i);
        Tile s = b.alloc_registers("S", 2, 2);
        b.uniform(Tiles(4, 2, "j"), [&](Span j) {
            b.at(3);
            Tile k = b.load(x, j);
            b.matmul(s, q, k, Trans::b, 0.5f);
        });
        b.at(4);
        b.store(s, y, i);
    });
}

std::string small(Mode mode = numeric_mode) { return written(*record(small_program, {}, mode)); }

}  // namespace

TEST_CASE("a recording is written, read and written again: the same bytes, and the same recording", "[trace][file]") {
    const Mode mode = GENERATE(numeric_mode, exact_mode);
    const std::vector<Index> blocks = GENERATE(std::vector<Index>{}, std::vector<Index>{0, 2});
    for (unsigned seed = 0; seed < seeds(60); ++seed) {
        CAPTURE(seed);
        const auto trace = record(RandomProgram(seed), {.blocks = blocks}, mode);
        const std::string text = written(*trace);
        const ReadTrace again = read(text);
        CHECK(divergence(*trace, again.trace) == "");
        CHECK(again.trace.value_bytes() == trace->value_bytes());
        CHECK(again.about == R"({"of":"a test"})");
        CHECK((written(again.trace, again.about) == text));
        for (std::size_t t = 0; t < trace->tensors().size(); ++t)
            CHECK((again.trace.tensors()[t].regions == trace->tensors()[t].regions));
    }
}

TEST_CASE("a recording that was read plays as it did", "[trace][file][player]") {
    for (unsigned seed = 0; seed < seeds(20); ++seed) {
        CAPTURE(seed);
        const auto trace = record(RandomProgram(seed));
        const ReadTrace again = read(written(*trace));
        Player a(*trace), b(again.trace);
        Index bad = 0;
        for (Index n = 0; n <= trace->size(); ++n) {
            a.seek(n), b.seek(n);
            bad += !(a.state() == b.state());
        }
        for (std::size_t t = 0; t < trace->tensors().size(); ++t)
            bad += !same_bits(a.values(static_cast<TensorId>(t)), b.values(static_cast<TensorId>(t)));
        CHECK(bad == 0);
    }
}

TEST_CASE("what is no number reads back too", "[trace][file]") {
    const std::vector<float> strange{infinity, -infinity, not_a_number, std::copysign(not_a_number, -1.0f),
                                     -0.0f,    1e-45f};
    const auto trace = record([&](Gpu& gpu) {
        const Hbm x = gpu.add(filled("X", Role::input, Dtype::f32, 1, 2, 3, strange));
        in_block(gpu, [&](Block& b) { const Tile t = b.load(x, {0, 2}); });
    });
    const std::string text = written(*trace);
    CHECK_THAT(text, ContainsSubstring(R"(["inf","-inf","nan","-nan",-0.0,1.401298464324817e-45])"));
    CHECK(same_bits(read(text).trace.tensors()[0].initial, strange));
}

TEST_CASE("a file cut short anywhere is refused, in one line", "[trace][file]") {
    const std::string text = small();
    for (std::size_t size = 0; size + 2 < text.size(); size += 7) {
        const std::string why = refusal(text.substr(0, size));
        const bool known = size > text.find(',');  // then the text has its schema
        if (!why.starts_with(known ? "t.json: ends in the middle, after " : "t.json: is not a recording; ") ||
            why.find('\n') != std::string::npos)
            FAIL(size << " bytes: " << why);
    }
}

TEST_CASE("what is no recording is refused in words that say so", "[trace][file]") {
    const std::pair<const char*, const char*> files[] = {
        {"[1]", "t.json: is not a recording"},
        {"7", "t.json: is not a recording"},
        {"", "t.json: is not a recording; `tilescope trace` writes one"},
        {"hello", "t.json: is not a recording"},
        {R"({"tilescope-gui": []})",
         "t.json: is not a recording, it begins with tilescope-gui; `tilescope trace` writes one"},
        {R"({"schema": "tilescope.trace/1", "x": 1})", "version tilescope.trace/1, and tilescope.trace/2 is what is"},
        {R"({"schema": "tilescope.run/1"})", "its schema is tilescope.run/1"},
        {R"({"schema": "tilescope.trace/2"})", R"(has no "values")"},
        {R"({"schema": "tilescope.trace/2", "events": []})", "events is out of order"},
        {R"({"schema": "tilescope.trace/2", "x": 1e999})", "has a number that is too large: 1e999"},
        {R"({"schema": "tilescope.trace/2", "values": 1})", "values 1: must be true or false"},
        {R"({"schema": "tilescope.trace/2", "x": [[[[[[[[[1]]]]]]]]]})", "nested too deeply"},
        {R"({"schema": "tilescope.trace/2", "values": true, "sources": "x"})", "sources: must be a list"},
        {R"({"schema": "tilescope.trace/2", "values": true, "sources": [], "launches": {}})",
         "launches: must be a list"},
        {R"({"schema": "tilescope.trace/2", "values": true, "sources": [], "launches": [1]})",
         "launches[0]: must be an"}};
    for (const auto& [text, why] : files) CHECK_THAT(refusal(text), ContainsSubstring(why));
}

TEST_CASE("whatever is wrong in a recording is found, with its place", "[trace][file]") {
    struct Case {
        const char *mark, *from, *to, *why;
    };
    const Case cases[] = {
        {"launches", R"("axes")", R"("axis")", R"(launches[0]: has no "axes")"},
        {"launches", R"("uniform")", R"("uniforn")", "launches[0]: promise uniforn: unknown; did you mean uniform?"},
        {"launches", R"("count":2)", R"("count":1)", "blocks[1]: block 1: must be a whole number from 0 to 0"},
        {"launches", R"("count":2)", R"("count":-2)", "launches[0]: count -2: must be a whole number from 0"},
        {"blocks", R"("launch":0)", R"("launch":1)", "blocks[0]: launch 1"},
        {"blocks", R"("block":1)", R"("block":0)", "blocks[1]: is not in order"},
        {"blocks", R"([[0,2]])", R"([])", "blocks[0]: at: must be a place on each of 1 axis"},
        {"blocks", R"([[0,2]])", R"([[0,-2]])", "blocks[0]: at [0,-2]: must be [first, how many]"},
        {"turns", R"("loop":0)", R"("loop":3)", "turns[0]: loop 3"},
        {"turns", R"("index":1)", R"("index":2)", "turns[1]: index 2: must be a whole number from 0 to 1"},
        {"tensors", R"("role":"input")", R"("role":"imput")", "tensors[0]: role imput: unknown; did you mean input?"},
        {"tensors", R"("rows":4)", R"("rows":5)", "tensors[0]: values: must be 15 numbers, and is 12"},
        {"tensors", R"("slices":1)", R"("slices":99999999999)", "tensors[0]: is too large"},
        {"tensors", R"("name":"Y")", R"("name":"X")", "tensors[1]: name X is there twice"},
        {"\"tiles\"", R"("f32")", R"("f31")", "tiles[0]: dtype f31: unknown; did you mean f32?"},
        {"\"tiles\"", R"("rows":2)", R"("rows":3)", "events[2]: moves 2 x 3 elements, and the tile has 3 x 3"},
        {"\"tiles\"", R"("sram")", R"("registers")", "sram_used, registers_used: the tiles on chip take 0 and"},
        {"\"tiles\"", R"("block":0)", R"("block":1)", "events[2]: out: X (tile 0) belongs to another thread block"},
        {"totals", R"("events":)", R"("events":1)", "totals: 1"},
        {"totals", R"("hbm_read_bytes":144)", R"("hbm_read_bytes":143)", "have more than \"totals\""},
        {"totals", R"("hbm_read_bytes":144)", R"("hbm_read_bytes":145)",
         "totals: hbm_read_bytes: the events have 1 less"},
        {"totals", R"("hbm_read_bytes")", R"("hbm_red_bytes")", "totals: hbm_red_bytes means nothing here"},
        {"\"step\":2", R"("step":2)", R"("step":3)", "events[2]: step 3 where 2 is due"},
        {"\"step\":2", R"("what":"load")", R"("what":"lode")", "no operation is called that; did you mean load?"},
        {"\"step\":2", R"("op":"load")", R"("op":"store")", "events[2]: op store: load is a load"},
        {"\"step\":0", R"("what":"small")", R"("what":"large")", "this launch's kernel is small"},
        {"\"step\":2", R"("launch":0)", R"("launch":1)", "events[2]: launch 1"},
        {"\"step\":2", R"("block":0)", R"("block":1)", "events[2]: block 1"},
        {"\"step\":2", R"("line":2)", R"("line":99999)", "events[2]: line 99999"},
        {"\"step\":2", R"("source":0)", R"("source":1)", "events[2]: source 1"},
        {"\"step\":2", R"("out":0)", R"("out":77)", "events[2]: out 77: must be a whole number from 0 to"},
        {"\"step\":2", R"("tensor":"X")", R"("tensor":"Z")", "events[2]: tensor Z: is not in \"tensors\""},
        {"\"step\":2", R"("rows":[0,2])", R"("rows":[3,2])", "moves a region that is not all in X of 1 x 4 x 3"},
        {"\"step\":2", R"("hbm_read_bytes":24)", R"("hbm_read_bytes":20)", "moves 24 bytes, and counts 20"},
        {"\"step\":2", R"("hbm_read_bytes")", R"("hbm_reed_bytes")", "events[2]: hbm_reed_bytes means nothing"},
        {"\"step\":2", R"("sram_used":24)", R"("sram_used":25)", "the tiles on chip take 24 and 0 bytes"},
        {"\"step\":2", R"("enters_line":true)", R"("enters_line":false)", "enters_line false: must be true"},
        {"\"step\":2", R"("values":[)", R"("values":[1.5,)", "events[2]: values: must be 6 numbers, and is 7"},
        {"\"step\":2", R"("values":[)", R"("valves":[)", "events[2]: has no \"values\""},
        {"\"step\":2", R"("values":[)", R"("values":["five",)", "values: must be 6"},
        {"\"step\":3", R"("values":[0.0)", R"("values":["zero")", "values \"zero\": must be a number of 32 bits"},
        {"\"step\":3", R"("values":[0.0)", R"("values":[1e300)", "values 1e+300: must be a number of 32 bits"},
        {"\"step\":3", R"("values":[0.0)", R"("values":[0.1)", "values 0.1: must be a number of 32 bits"},
        {"\"step\":5", R"("turn":0)", R"("turn":9)", "events[5]: turn 9"},
        {"\"step\":5", R"("a":0)", R"("a":4)", "events[5]: a: "},
        {"\"step\":5", R"("b":2)", R"("b":3)", "events[5]: b: X (tile 3) is not made yet"},
        {"\"step\":8", R"("b":3)", R"("b":2)", "events[8]: b: X (tile 2) was given back before"},
        {"\"step\":2", R"("meaning":"query")", R"("meaning":"queries")", "did you mean query?"},
        {"\"step\":11", R"("what":"release")", R"("what":"alloc")", "op release: alloc is a alloc"},
    };
    const std::string text = small();
    for (const Case& c : cases) {
        CAPTURE(c.mark, c.from, c.to);
        const std::string why = refusal(edited(text, c.mark, c.from, c.to));
        CHECK_THAT(why, StartsWith("t.json: ") && ContainsSubstring(c.why));
        CHECK(why.find('\n') == std::string::npos);
    }
    CHECK_THAT(refusal(edited(small(exact_mode), "\"step\":2", R"("sram_used")", R"("values":[],"sram_used")")),
               ContainsSubstring("events[2]: values means nothing here"));
    const std::size_t block_end = text.find(R"({"step":11,)");
    REQUIRE(block_end != std::string::npos);
    CHECK_THAT(refusal(text.substr(0, block_end - 2) + "]}"), ContainsSubstring("totals: "));
}
