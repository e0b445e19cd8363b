// --model and --phase: what they set, and that every other flag overrides them.
#include "lab/flags/model.hpp"

#include <CLI/CLI.hpp>
#include <cmath>

#include "core/machine/error.hpp"
#include "lab/flags/describe.hpp"
#include "lab/flags/parse.hpp"
#include "lab/flags/request.hpp"
#include "lab/flags/variant.hpp"
#include "lab/workload/model_presets.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/folder.hpp"

using namespace tilescope;
using namespace tilescope::lab;
using Catch::Matchers::ContainsSubstring;

namespace {

/// The options of a command line with these words.
Options typed(const std::vector<std::string>& words) {
    CLI::App app("", "prog");
    Options options;
    add_problem_options(app, options);
    parse(app, words);
    return options;
}

Request request(const Options& options, const char* algorithm = "flash_v2") {
    return resolve(options, *find_algorithm(algorithm));
}
Problem problem(const std::vector<std::string>& words) { return request(typed(words)).problem; }

std::string refusal(const std::vector<std::string>& words, const char* algorithm = "flash_v2") {
    return message_of<UsageError>([&] { request(typed(words), algorithm); });
}

Problem layer(Index heads, Index kv_heads, Index seq_q, Index seq_k, Index dim, Index dim_v, Dtype dtype) {
    Problem p;
    p.heads = heads, p.kv_heads = kv_heads, p.seq_q = seq_q, p.seq_k = seq_k, p.dim = dim, p.dim_v = dim_v;
    p.dtype = dtype;
    if (seq_q > 1) p.mask = Mask::causal();
    return p;
}

}  // namespace

TEST_CASE("a model's layer has the published numbers, in both phases", "[models]") {
    // Typed by hand, not copied from the files.
    struct Published {
        const char* name;
        Index heads, kv_heads, dim, seq;
        Dtype dtype;
    };
    const Published all[] = {
        {"gemma-2b", 8, 1, 256, 8192, Dtype::bf16},     {"gpt-2", 12, 12, 64, 1024, Dtype::f16},
        {"gpt-3-175b", 96, 96, 128, 2048, Dtype::f16},  {"llama-3-70b", 64, 8, 128, 8192, Dtype::bf16},
        {"llama-3-8b", 32, 8, 128, 8192, Dtype::bf16},  {"mistral-7b", 32, 8, 128, 4096, Dtype::bf16},
        {"qwen2.5-7b", 28, 4, 128, 32768, Dtype::bf16},
    };
    for (const auto& [name, heads, kv_heads, dim, seq, dtype] : all) {
        INFO(name);
        CHECK(problem({"--model", name}) == layer(heads, kv_heads, seq, seq, dim, dim, dtype));
        CHECK(problem({"--model", name, "--phase", "decode"}) == layer(heads, kv_heads, 1, seq, dim, dim, dtype));
    }
    CHECK(models().size() == std::size(all) + 1);
    CHECK(problem({"--model", "deepseek-v3"}) == layer(128, 128, 4096, 4096, 192, 128, Dtype::bf16));
    Problem latent = layer(128, 1, 1, 4096, 576, 512, Dtype::bf16);
    latent.scale = 1 / std::sqrt(192.0);
    CHECK(problem({"--model", "deepseek-v3", "--phase", "decode"}) == latent);
}

TEST_CASE("every number of a model has a source", "[models]") {
    CHECK(embedded_models().size() == models().size());
    for (const EmbeddedFile& file : embedded_models())
        CHECK(file.name == model_named(file.name.substr(0, file.name.size() - 5)).name + ".json");
    for (const Model& m : models()) {
        INFO(m.name);
        CHECK_FALSE(m.title.empty());
        CHECK(m.numbers.size() >= 4);
        for (const ModelNumber& n : m.numbers) CHECK(n.source.size() > 10);
        for (const Phase phase : phases) CHECK(m.in(phase).seq > 0);
    }
}

TEST_CASE("a model may be named in short, if it is clear which is meant", "[models]") {
    CHECK(model_named("Mistral").name == "mistral-7b");
    CHECK(model_named("llama 3_8B").name == "llama-3-8b");
    CHECK(model_named("gpt-2").name == "gpt-2");
    CHECK(typed({"--model", "qwen"}).model == "qwen2.5-7b");
    CHECK_THAT(refusal({"--model", "gpt"}), ContainsSubstring("write one of gpt-2, gpt-3-175b"));
    CHECK_THAT(refusal({"--model", ""}), ContainsSubstring("unknown model"));
    CHECK_THAT(
        refusal({"--model", "lama-3-70b"}),
        ContainsSubstring("--model lama-3-70b: unknown model, did you mean llama-3-70b? There are deepseek-v3, "));
}

TEST_CASE("any other flag beats the model, before it and behind it", "[models][flags]") {
    const std::vector<std::pair<std::string, std::string>> flags = {
        {"heads", "16"}, {"kv-heads", "4"}, {"dim", "64"},       {"dim-v", "32"}, {"dtype", "f32"}, {"seq", "100"},
        {"seq-q", "7"},  {"seq-k", "9"},    {"causal", "false"}, {"scale", "2"},  {"batch", "3"}};
    Options model;
    set_flag(model, "model", "llama-3-70b");
    const Problem before = request(model).problem;
    for (const auto& [flag, value] : flags) {
        INFO("--" << flag);
        const std::string word = "--" + flag + "=" + value;
        const Problem first = problem({word, "--model", "llama-3-70b"});
        CHECK(problem({"--model", "llama-3-70b", word}) == first);
        CHECK(first != before);
        Options alone;
        set_flag(alone, flag, value);
        Options both = model;
        set_flag(both, flag, value);
        CHECK(request(both).problem == first);
        set_flag(alone, "model", "llama-3-70b");
        CHECK(alone == both);
        clear_flag(both, flag);
        CHECK(request(both).problem == before);
    }
}

TEST_CASE("what the model leaves to follow follows the flags", "[models][flags]") {
    CHECK(problem({"--model", "gpt-2", "--heads", "5"}).kv_heads == 5);
    CHECK(problem({"--model", "llama-3-8b", "--dim", "64"}).dim_v == 64);
    CHECK(problem({"--model", "deepseek-v3", "--dim", "64"}).dim_v == 128);
    CHECK_THAT(refusal({"--model", "llama-3-8b", "--heads", "4"}), ContainsSubstring("--kv-heads 8: must divide"));
}

TEST_CASE("the phase decides the lengths and the mask", "[models][flags]") {
    const auto lengths = [](std::vector<std::string> words) {
        words.insert(words.end(), {"--model", "llama-3-8b"});
        const Problem p = problem(words);
        return std::tuple(p.seq_q, p.seq_k, p.mask.is_causal());
    };
    CHECK(lengths({"--phase", "prefill", "--seq", "2k"}) == std::tuple(2048, 2048, true));
    CHECK(lengths({"--phase", "decode", "--seq", "2k"}) == std::tuple(1, 2048, false));
    // The queries of a chunk of a prompt, or of a few tokens at once, are the last of the sequence. A mask hides later
    // keys from each.
    CHECK(lengths({"--seq-q", "512", "--seq-k", "4k"}) == std::tuple(512, 4096, true));
    CHECK(lengths({"--phase", "decode", "--seq-q", "4", "--seq", "2k"}) == std::tuple(4, 2048, true));
    CHECK(lengths({"--phase", "decode", "--causal"}) == std::tuple(1, 8192, true));
    CHECK(lengths({"--seq-q", "1"}) == std::tuple(1, 8192, false));
}

TEST_CASE("a model fills in once, and nothing without a model", "[models][flags]") {
    Options o;
    o.seq = 5, o.phase = "decode";
    CHECK(with_model(o) == o);
    o.model = "deepseek-v3";
    CHECK(with_model(with_model(o)) == with_model(o));
    CHECK(flags_of(o) == std::vector<std::string>{"--model", "deepseek-v3", "--phase", "decode", "--seq", "5"});
    CHECK(typed(flags_of(o)) == o);
    o.causal = false;
    CHECK(typed(flags_of(o)) == o);
}

TEST_CASE("a request says whose layer it is, and whether flags changed it", "[models][flags]") {
    const auto said = [](const std::vector<std::string>& words) {
        const Request r = request(typed(words));
        return describe(r, computation::attention);
    };
    CHECK(said({}).starts_with("batch 1, heads 8, "));
    CHECK(said({"--model", "gpt-2"}) ==
          "gpt-2, prefill: batch 1, heads 12, seq 1024, dim 64, f16, causal, scale 0.125");
    CHECK(said({"--model", "gpt-2", "--phase", "decode", "--seq", "9", "--batch", "2"}) ==
          "gpt-2, decode: batch 2, heads 12, seq_q 1, seq_k 9, dim 64, f16, scale 0.125");
    CHECK(said({"--model", "gpt-2", "--heads", "12", "--kv-heads", "12", "--causal"}).starts_with("gpt-2, prefill"));
    for (const char* word : {"--heads=6", "--dim=32", "--dim-v=32", "--dtype=f32", "--scale=2", "--causal=false"})
        CHECK(said({word, "--model", "gpt-2"}).starts_with("gpt-2 (changed), prefill: "));
}

TEST_CASE("where a model has no part it is refused", "[models][flags]") {
    CHECK_THAT(refusal({"--phase", "decode"}), ContainsSubstring("--phase decode: is a phase of a model"));
    CHECK_THAT(refusal({"--model", "gpt-2"}, "softmax_safe"), ContainsSubstring("--model: means nothing to a softmax"));
    CHECK_THAT(refusal({"--phase", "decode"}, "softmax_safe"), ContainsSubstring("--phase: means nothing"));
    CHECK_THAT(refusal({"--phase", "train"}), ContainsSubstring("--phase train: must be prefill or decode"));
    Options files;
    files.model = "gpt-2", files.q = files.k = files.v = "none.npy";
    CHECK_THAT(message_of<UsageError>([&] { request(files); }), ContainsSubstring("the files have sizes of their own"));
}
