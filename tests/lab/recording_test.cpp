#include "lab/report/recording.hpp"

#include <set>
#include <sstream>

#include "algorithms/contract/choices.hpp"
#include "algorithms/contract/pseudo_code.hpp"
#include "core/machine/error.hpp"
#include "core/record/trace_file.hpp"
#include "lab/gpu/gpu_presets.hpp"
#include "lab/run/reference.hpp"
#include "tests/support/folder.hpp"
#include "tests/support/recordings.hpp"

using namespace tilescope;
using namespace tilescope::lab;
using Catch::Matchers::ContainsSubstring;
using tilescope::testing::edited;

namespace {

std::string recorded(const Experiment& e, const std::optional<RandomInputs>& inputs, TraceOptions options = {},
                     std::uint64_t seed = 3) {
    Gpu gpu(e.gpu, options.values ? numeric_mode : exact_mode, 1);
    Trace trace(gpu, std::move(options));
    gpu.listen(trace);
    run_program(gpu, *e.algorithm, e.problem, e.tiling,
                inputs_of(*e.algorithm, e.problem, seed, Distribution::outliers));
    std::ostringstream out;
    write_recording(out, e, inputs, trace);
    return out.str();
}

Recording read(const std::string& text) {
    std::istringstream in(text);
    return read_recording(in, "r.json");
}

std::string written(const Recording& r) {
    std::ostringstream out;
    write_recording(out, r.experiment, r.inputs, r.trace);
    return out.str();
}

Experiment small(const Algorithm& a) {
    Problem p;
    p.heads = 2, p.kv_heads = 1, p.seq_q = 7, p.seq_k = 9, p.dim = 4, p.dim_v = 3, p.dtype = Dtype::bf16;
    p.mask = Mask::causal();
    return {&a, p, {4, 5}, gpu_preset("toy")};
}

const Algorithm& flash() { return *find_algorithm("flash_v2"); }

std::string refusal(const std::string& text) {
    return message_of<UsageError>([&] { read(text); });
}

}  // namespace

TEST_CASE("every algorithm's recording reads back, to the same bytes, and is what the program does", "[recording]") {
    for (const Algorithm& a : algorithms()) {
        CAPTURE(a.name);
        const Experiment e = small(a);
        for (const TraceOptions& options :
             {TraceOptions{}, TraceOptions{.values = false}, TraceOptions{.blocks = {1}}}) {
            const std::string text = recorded(e, RandomInputs{3, Distribution::outliers}, options);
            const Recording r = read(text);
            CHECK(r.experiment.algorithm == &a);
            CHECK((r.experiment.problem == e.problem));
            CHECK((written(r) == text));
            CHECK(replay(r) == "");
        }
    }
}

TEST_CASE("a problem's scale and softmax are part of a recording", "[recording]") {
    Experiment e = small(*find_algorithm("standard"));
    e.problem.scale = 0.3;
    e.problem.softmax = Softmax::naive;
    const Recording r = read(recorded(e, std::nullopt));
    CHECK((r.experiment.problem == e.problem));
    CHECK(replay(r) == "");
}

TEST_CASE("a recording says by which scales products are multiplied, and which values share one", "[recording]") {
    for (const char* const scales : {"head", "token", "3"})
        for (const char* const name : {"flash_v2", "flash_v3"}) {
            CAPTURE(scales, name);
            Experiment e = small(*find_algorithm(name));
            e.problem.dtype = Dtype::e4m3;
            set_scales(e.problem, scales);
            const std::string text = recorded(e, RandomInputs{3, Distribution::outliers});
            const Recording r = read(text);
            CHECK((r.experiment.problem == e.problem));
            CHECK((written(r) == text));
            CHECK(replay(r) == "");
            std::set<std::string> factors;  // of products in later thread blocks, too
            for (Index k = 0; k < r.trace.size(); ++k)
                if (const Event& event = r.trace[k].event; event.factor != no_tile)
                    factors.insert(r.trace.tiles()[event.factor].name);
            CHECK(factors.count("QK_scale") + factors.count("Q_scale") > 0);
            CHECK(factors.count("V_scale") + factors.count("V_scale_max") > 0);
            CHECK(factors.size() <= 4);
        }
    const std::string text = recorded(small(flash()), RandomInputs{3, Distribution::outliers});
    CHECK_THAT(refusal(edited(text, "\"problem\"", R"("causal")", R"("scales":"0","causal")")),
               ContainsSubstring("scales: 0 says not which values share a scale"));
}

TEST_CASE("inputs that came from files are taken from the recording", "[recording]") {
    CHECK(replay(read(recorded(small(flash()), std::nullopt, {}, 8))) == "");
    CHECK_THAT(replay(read(recorded(small(flash()), RandomInputs{3, Distribution::outliers}, {}, 8))),
               ContainsSubstring("before the first operation Q[0, 0] is "));
}

TEST_CASE("one changed number diverges, with its step and place", "[recording][divergence]") {
    const std::string text = recorded(small(flash()), RandomInputs{3, Distribution::outliers});
    const std::string begin = R"("values":[)";
    const std::size_t step = text.find(R"({"step":9,)"), at = text.find(begin, step) + begin.size();
    const Recording r = read(std::string(text).replace(at, text.find(',', at) - at, "0.125"));
    CHECK_THAT(replay(r), Catch::Matchers::StartsWith("operation 9 (") && ContainsSubstring("[0, 0] is ") &&
                              ContainsSubstring(", and was 0.125"));
}

TEST_CASE("another tile program diverges at the step where it turns off", "[recording][divergence]") {
    const std::string text = recorded(small(flash()), RandomInputs{3, Distribution::outliers});
    const auto other = [&](const char* mark, const char* from, const char* to) {
        return replay(read(edited(text, mark, from, to)));
    };
    CHECK_THAT(other("\"step\":4", R"("line":)", R"("line":1)"),
               ContainsSubstring("operation 4 (") && ContainsSubstring("the line is "));
    CHECK_THAT(other("\"br\"", R"(4)", R"(3)"), ContainsSubstring("the grid is another"));
    CHECK_THAT(other("\"kernel\"", R"("promise":"graded")", R"("promise":"none")"),
               ContainsSubstring("operation 0 (launch"));
    CHECK_THAT(other("tensors", R"("meaning":"query")", R"("meaning":"key")"),
               ContainsSubstring("the tensor Q is another"));
    CHECK_THAT(other("\"tiles\"", R"("name":"Q")", R"("name":"q")"), ContainsSubstring("the tile q is another"));
    CHECK_THAT(other("\"problem\"", R"("dim_v":3)", R"("dim_v":4)"), ContainsSubstring("the tensor V is another"));
}

TEST_CASE("where a program's lines stand in its file is no difference", "[recording][divergence]") {
    const std::string text = recorded(small(flash()), RandomInputs{3, Distribution::outliers});
    std::string moved;
    std::size_t from = 0, places = 0;
    const std::string key = R"("source_line":)";
    for (std::size_t at; (at = text.find(key, from)) != std::string::npos; ++places) {
        at += key.size();
        moved += text.substr(from, at - from) + '7';
        from = at;
    }
    moved += text.substr(from);
    CHECK(places > 100);
    CHECK(replay(read(moved)) == "");
}

TEST_CASE("what a recording says of its experiment is checked", "[recording]") {
    const std::string text = recorded(small(flash()), RandomInputs{3, Distribution::outliers});
    const auto why = [&](const char* mark, const char* from, const char* to) {
        return refusal(edited(text, mark, from, to));
    };
    CHECK_THAT(why("", R"("heads":2)", R"("heads":0)"), ContainsSubstring("r.json: problem: heads 0: must be a whole"));
    CHECK_THAT(why("", R"("kv_heads":1)", R"("kv_heads":3)"), ContainsSubstring("kv_heads 3: must divide the "));
    CHECK_THAT(why("", R"("br":4)", R"("br":0)"), ContainsSubstring("r.json: tiling: br 0"));
    CHECK_THAT(why("", R"("sms":)", R"("sns":)"), ContainsSubstring("r.json: gpu: sns"));
    CHECK_THAT(why("", R"("outliers")", R"("outlyers")"), ContainsSubstring("did you mean outliers?"));
    CHECK_THAT(why("", R"("lines":)", R"("linen":)"), ContainsSubstring("r.json: linen means nothing here"));
    CHECK_THAT(why("", R"("why":)", R"("who":)"), ContainsSubstring("r.json: lines[0]: has no \"why\""));
    CHECK_THROWS_WITH(read_recording("/nowhere.json"), ContainsSubstring("/nowhere.json: cannot be read"));
}

TEST_CASE("an algorithm that is not known today has what the recording says of it", "[recording]") {
    const Recording r = read(edited(recorded(small(flash()), std::nullopt), "", R"("flash_v2")", R"("flash_v0")"));
    CHECK(r.today == nullptr);
    CHECK(r.experiment.algorithm->name == std::string("flash_v0"));
    REQUIRE(r.experiment.algorithm->code.size() == code_for(flash(), r.experiment.problem).size());
    CHECK(r.experiment.algorithm->code[2].code == std::string(flash().code[2].code));
    CHECK_THROWS_WITH(replay(r), ContainsSubstring("there is none of that name today"));
    CHECK_THROWS_AS(count(r.experiment), RunError);
}
