// Named kernels, and what libraries were seen to answer (docs/measured): the descriptions say the same.
#include <fstream>
#include <map>
#include <set>

#include "algorithms/contract/registry.hpp"
#include "core/machine/error.hpp"
#include "lab/flags/like.hpp"
#include "lab/flags/other_answers.hpp"
#include "lab/flags/request.hpp"
#include "lab/gpu/gpu_presets.hpp"
#include "lab/library/libraries.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/folder.hpp"

using namespace tilescope;
using namespace tilescope::lab;

namespace {

/// What scripts/meanings wrote: the answer to each question, by "pytorch:cudnn".
using Asked = std::map<std::string, std::map<std::string, std::string>>;
Asked seen_answers() {
    std::ifstream file(std::string(TILESCOPE_MEASURED) + "/meanings/pytorch-jax.csv");
    Asked all;
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with('#') || line.starts_with("library,")) continue;
        std::vector<std::string> cells;
        for (std::size_t at = 0; cells.size() < 4; at = line.find(',', at) + 1)
            cells.push_back(line.substr(at, line.find(',', at) - at));
        const std::size_t used = cells[0].size() + cells[1].size() + cells[2].size() + cells[3].size() + 4;
        all[cells[0] + ':' + cells[2]][cells[3]] = line.substr(used);
    }
    return all;
}

Options options_with(std::initializer_list<std::pair<const char*, const char*>> flags) {
    Options o;
    for (const auto& [flag, value] : flags) set_flag(o, flag, value);
    return o;
}

std::string backend_of(const char* name, const Options& o) { return likeness(name, o).backend->name; }

}  // namespace

TEST_CASE("every named kernel is a program that takes its flag", "[library]") {
    std::set<std::string> names;
    for (const NamedKernel& k : named_kernels()) {
        INFO(k.name);
        CHECK(names.insert(k.name).second);
        CHECK((k.measured == nullptr) != (k.unmeasured == nullptr));
        const Named n = named(k.name, Options());
        CHECK(n.algorithm->name == std::string(k.algorithm));
        CHECK_NOTHROW(resolve(n.options, *n.algorithm));
    }
    for (const Library& l : libraries())
        for (const Backend& b : l.backends) CHECK(find_kernel(b.kernel));
}

TEST_CASE("libraries mean what they answered when they were asked", "[library]") {
    const Asked asked = seen_answers();
    const std::map<std::string, Windows> windows = {
        {"w+1 keys", Windows::own}, {"right side ignored", Windows::both_sides}, {"none", Windows::none}};
    std::size_t compared = 0;
    for (const Library& l : libraries())
        for (const Backend& b : l.backends) {
            const std::string name = l.name;
            const std::string key = name.substr(0, name.find('-')) + ':' + b.name;
            INFO(key);
            CHECK(b.checked == asked.contains(key));
            if (!b.checked) continue;
            const auto& answers = asked.at(key);
            const auto answer = [&](const char* question) {
                const std::string& a = answers.at(question);
                return a.starts_with("refused") ? "refused" : a;
            };
            // FlexAttention's and typed masks are the user's own, in the corner that the user writes.
            if (answer("corner-fewer-queries") != "none")
                CHECK(answer("corner-fewer-queries") == name_of(b.answers.corner));
            CHECK(answer("hidden-row-boolean") == name_of(b.answers.hidden));
            CHECK(answer("hidden-row-boolean-bf16") == name_of(b.answers.hidden_in_bf16));
            if (b.name != std::string("flex"))  // its windows are the user's, too
                CHECK(windows.at(answer("window-left-only")) == b.answers.windows);
            CHECK(answer("scores-type") == (b.answers.scores == Kept::f32 ? "f32" : "16 bits"));
            CHECK((answer("weights-type") == "f32") == (b.answers.weights == Kept::f32));
            CHECK(answer("accumulator-f16") == name_of(b.answers.sums));
            CHECK(answer("accumulator-bf16") == name_of(b.answers.sums));
            ++compared;
        }
    CHECK(compared == 8);
}

TEST_CASE("what a library picks is what it was seen to run", "[library]") {
    const Asked asked = seen_answers();
    const std::map<std::string, Options> problems = {
        {"picks-f16", options_with({{"gpu", "H200"}})},
        {"picks-f16-causal", options_with({{"gpu", "H200"}, {"causal", "true"}})},
        {"picks-f16-boolean-mask", options_with({{"gpu", "H200"}, {"block-mask", "butterfly"}})},
        {"picks-f16-additive-mask", options_with({{"gpu", "H200"}, {"bias", "qk"}})},
        {"picks-f32", options_with({{"gpu", "H200"}, {"dtype", "f32"}})},
        {"picks-bf16-one-query", options_with({{"gpu", "H200"}, {"dtype", "bf16"}, {"seq-q", "1"}, {"seq-k", "8192"}})},
        {"picks-f16-grouped-heads", options_with({{"gpu", "H200"}, {"kv-heads", "2"}})},
        {"picks-f16-d512", options_with({{"gpu", "H200"}, {"dim", "512"}})},
    };
    for (const char* library : {"pytorch-2.11", "jax-0.11"}) {
        const std::string name = library;
        for (const auto& [question, runs] : asked.at(name.substr(0, name.find('-')) + ":default"))
            if (const auto p = problems.find(question); p != problems.end()) {
                INFO(library << ' ' << question);
                CHECK(backend_of(library, p->second) == runs);
            }
    }
    // By sdp_utils.cpp, on GPUs without cuDNN's preference.
    CHECK(backend_of("pytorch-2.11", options_with({{"gpu", "A100"}})) == "flash");
    CHECK(backend_of("pytorch-2.11", options_with({{"gpu", "A100"}, {"block-mask", "butterfly"}})) == "efficient");
    CHECK(backend_of("pytorch-2.11", options_with({{"gpu", "A100"}, {"dim", "61"}})) == "flash");  // which pads
    CHECK(backend_of("pytorch-2.11", options_with({{"gpu", "A100"}, {"dim", "61"}, {"bias", "qk"}})) == "math");
    CHECK(backend_of("pytorch-2.11", options_with({{"gpu", "T4"}})) == "efficient");
    CHECK(backend_of("pytorch-2.11", options_with({{"gpu", "T4"}, {"dtype", "bf16"}})) == "math");
    const std::string why = likeness("pytorch-2.11", options_with({{"gpu", "H100"}, {"dtype", "f32"}})).rule;
    CHECK(contains(why, "cudnn, flash, efficient and math in this order; cudnn takes f16 and bf16 alone; flash takes"));
}

TEST_CASE("a named backend refuses what its library refuses", "[library]") {
    const auto refusal = [](const char* name, std::initializer_list<std::pair<const char*, const char*>> flags) {
        return message_of<UsageError>([&] { likeness(name, options_with(flags)); });
    };
    CHECK(contains(refusal("pytorch-2.11:flash", {{"bias", "qk"}}), "no masks but the causal one"));
    CHECK(contains(refusal("pytorch-2.11:flash", {{"dim", "512"}}), "no head dimensions above 256"));
    CHECK(contains(refusal("pytorch-2.11:efficient", {{"kv-heads", "2"}}), "no heads that share K and V"));
    CHECK(contains(refusal("pytorch-2.11:cudnn", {{"gpu", "T4"}}), "compute capability 8.0"));
    CHECK(contains(refusal("pytorch-2.11:math", {{"soft-cap", "30"}}), "no soft-cap"));
    CHECK(contains(refusal("pytorch-2.11", {{"dtype", "e4m3"}}), "math takes no 8 bits"));
    CHECK(contains(refusal("flash-attn-3", {{"gpu", "A100"}}), "compute capability 9.0 alone"));
    CHECK(contains(message_of<UsageError>([] {
                       named("flash_v2_backward", options_with({{"like", "jax-0.11"}}));
                   }),
                   "forward pass"));
}

TEST_CASE("a library's name brings its corner and hidden rows, where they matter", "[library]") {
    const Options wide = options_with({{"seq-q", "64"}, {"seq-k", "128"}, {"causal", "true"}});
    const auto problem = [](const char* name, const Options& o) {
        const Named n = named(name, o);
        return resolve(n.options, *n.algorithm).problem;
    };
    CHECK(problem("pytorch-2.11:math", wide).corner == Corner::top_left);
    CHECK(problem("math", wide).corner == Corner::bottom_right);  // a kernel alone has no meaning
    CHECK(problem("flash-attn-2.8", wide).corner == Corner::bottom_right);
    CHECK(problem("jax-0.11", wide).mask.hidden_rows() == HiddenRows::zero);  // no row is hidden
    CHECK(contains(message_of<UsageError>([&] { named("pytorch-2.11:flash", wide); }),
                   "causal masks alone that are square"));

    // In the top left corner, 56 queries see none of 32 keys through a window of nine; in the bottom right one, none
    // do.
    Options hides = options_with({{"seq-q", "96"}, {"seq-k", "32"}, {"window-left", "8"}});
    CHECK(problem("jax-0.11", hides).mask.hidden_rows() == HiddenRows::mean);
    CHECK(problem("jax-0.11:cudnn", hides).mask.hidden_rows() == HiddenRows::unmasked);
    hides.dtype = "bf16";
    CHECK(problem("jax-0.11:cudnn", hides).mask.hidden_rows() == HiddenRows::mean);
    hides.hidden_rows = "unmasked";  // given flags win
    CHECK(problem("jax-0.11", hides).mask.hidden_rows() == HiddenRows::unmasked);
}

TEST_CASE("ALGO beside a library keeps its program and takes the library's answer", "[library]") {
    Options o = options_with({{"seq-q", "64"}, {"seq-k", "128"}, {"causal", "true"}, {"like", "pytorch-2.11"}});
    const Named flash = named("flash_v2", o);
    CHECK(flash.algorithm->name == std::string("flash_v2"));
    CHECK(flash.options.causal_corner == "top-left");
    CHECK(flash.options.roles.empty());
    const Named own = named("flash_v3", o);
    CHECK(own.options.roles.at("like") == "cudnn-9.19");
    CHECK(named("", o).algorithm->name == std::string("flash_v3"));
    CHECK(contains(message_of<UsageError>([&] { named("math", o); }), "leave one of the two out"));
    o.roles["like"] = "math";
    CHECK(contains(message_of<UsageError>([&] { named("flash_v2", o); }), "is a kernel on the program standard"));
}

TEST_CASE("names of kernels are refused with the nearest one", "[library]") {
    CHECK(contains(message_of<UsageError>([] { as_named_kernel("--like", "pytorch-2.11:fish"); }),
                   "cudnn, flash, efficient, math, flex and typed"));
    CHECK(contains(message_of<UsageError>([] { as_named_kernel("--like", "cudnn-9.1"); }), "did you mean cudnn-9.19"));
    CHECK(contains(message_of<UsageError>([] { as_named_kernel("--like", "pytorch"); }), "did you mean pytorch-2.11"));
}

TEST_CASE("a run says where another library's answer differs", "[library]") {
    const auto others = [](const Options& o) {
        const Request r = resolve(o, computation::attention);
        return other_answers(r.problem, r.gpu);
    };
    CHECK(others(options_with({{"causal", "true"}})).empty());
    const auto corner = others(options_with({{"seq-q", "64"}, {"seq-k", "128"}, {"causal", "true"}}));
    REQUIRE(corner.size() == 1);
    CHECK(contains(corner[0], "jax-0.11"));
    CHECK(contains(corner[0], "--causal-corner top-left"));
    // In the corner of PyTorch and JAX all queries see a key.
    const Options causal = options_with({{"seq-q", "128"}, {"seq-k", "64"}, {"causal", "true"}});
    CHECK(others(causal).size() == 1);
    const auto hidden = others(options_with(
        {{"seq", "128"}, {"window-left", "8"}, {"window-right", "0"}, {"seq-k", "64"}, {"causal-corner", "top-left"}}));
    REQUIRE(hidden.size() == 2);
    CHECK(contains(hidden[0], "flash-attn-2.8"));
    CHECK(contains(hidden[1], "56 queries see no key. Their output is 0 here, the mean of V in jax-0.11:xla"));
    CHECK(contains(hidden[1], "without the mask in pytorch-2.11:cudnn and jax-0.11:cudnn"));
    // What takes no f32 has no other answer in f32.
    const auto in_f32 = others(options_with({{"seq", "128"},
                                             {"window-left", "8"},
                                             {"window-right", "0"},
                                             {"seq-k", "64"},
                                             {"causal-corner", "top-left"},
                                             {"dtype", "f32"}}));
    REQUIRE(in_f32.size() == 1);
    CHECK_FALSE(contains(in_f32[0], "cudnn"));
}

TEST_CASE("variants name kernels, libraries and their settings", "[library][flags]") {
    const Variant math = variant_from("pytorch-2.11:math:br=64@H200");
    CHECK(math.like == "pytorch-2.11:math");
    CHECK(math.label == "pytorch-2.11:math:br=64@H200");
    CHECK(math.settings == Settings{{"br", "64"}, {"gpu", "H200"}});
    CHECK(variant_from("pytorch-2.11:br=64").like == "pytorch-2.11");
    CHECK(variant_from("pytorch-2.11@A100").settings == Settings{{"gpu", "A100"}});
    CHECK(named(variant_from("pytorch-2.11@A100"), Options()).algorithm->name == std::string("flash_v2"));
    CHECK(variant_from("xla").algorithm->name == std::string("standard"));
}
