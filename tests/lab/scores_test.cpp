// What changes scores, on its way through flags, files, recordings and the model of the L2.
#include <nlohmann/json.hpp>

#include "core/time/l2.hpp"
#include "lab/flags/options.hpp"
#include "lab/flags/request.hpp"
#include "lab/gpu/gpu_presets.hpp"
#include "lab/report/experiment_json.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/problems.hpp"

using namespace tilescope;
using namespace tilescope::lab;

namespace {

Problem asked(const std::vector<std::pair<const char*, const char*>>& flags) {
    Options o;
    for (const auto& [name, value] : flags) set_flag(o, name, value);
    return resolve(o, *find_algorithm("flash_v2")).problem;
}

/// By head: the slice of a bias that a run loads.
struct Loaded : Listener {
    std::map<Index, Index> slice_of;
    Index heads_before = 0;
    Needs needs() const override { return {.exact = true}; }
    void begin(const BlockMark& m) override { head = m.at[0].begin; }
    void end(const BlockMark&) override {}
    using Listener::begin, Listener::end;
    void on(const Event& e, TileData) override {
        if (e.kind() == Kind::load && e.meaning == Meaning::bias) slice_of[head] = e.region.slice;
    }
    Index head = 0;
};

}  // namespace

TEST_CASE("a bias is written by its axes", "[scores][flags]") {
    for (const char* name : {"k", "qk", "hk", "hqk", "bk", "bqk", "bhqk", "gk", "ghqk", "bk+ghqk", "k+k"}) {
        const auto terms = Bias::terms_from(name);
        REQUIRE(terms);
        CHECK(Bias{*terms}.name() == name);
    }
    for (const char* name : {"", "q", "kq", "qkk", "bgk", "hbk", "k+", "+k", "k+k+k", "K", "hqk "})
        CHECK_FALSE(Bias::terms_from(name));
}

TEST_CASE("flags of scores make a problem, and a probability of 0 none of dropout", "[scores][flags]") {
    const Problem p = asked({{"batch", "6"},
                             {"bias", "bk+ghqk"},
                             {"bias-group", "3"},
                             {"alibi", "true"},
                             {"soft-cap", "30"},
                             {"dropout", "0.25"},
                             {"dropout-seed", "18446744073709551615"},
                             {"dropout-mask", "stored"}});
    CHECK(p.bias.name() == "bk+ghqk");
    CHECK(p.bias.group == 3);
    CHECK(p.alibi == p.heads);
    CHECK(p.soft_cap == 30);
    CHECK(p.dropout == Dropout{0.25, ~std::uint64_t{0}, true});
    CHECK(asked({{"dropout", "0"}, {"dropout-seed", "4"}, {"dropout-mask", "stored"}}) == asked({}));
}

TEST_CASE("recordings say what is done to scores, and read it back", "[scores][recording]") {
    for (std::uint64_t seed = 1; seed <= seeds(300); ++seed) {
        const Algorithm& a = *find_algorithm(seed % 2 ? "flash_v2" : "standard");
        Case c = as_supported(a, score_case(seed));
        c.problem.scale = std::nullopt;
        if (c.problem.mask.hides()) c.problem.mask = Mask::causal();
        const Experiment e{&a, c.problem, c.tiling, gpu_preset("A100-40GB")};
        const auto json = nlohmann::ordered_json::parse(to_json(e).dump());
        INFO(json.at("problem").dump());
        CHECK(json.at("problem").contains("bias") == static_cast<bool>(c.problem.bias));
        CHECK(json.at("problem").contains("dropout") == static_cast<bool>(c.problem.dropout));
        CHECK((experiment_from(json, "a recording").problem == c.problem));
    }
}

TEST_CASE("the L2 finds the slices of a bias where heads load them", "[scores][l2]") {
    for (const char* name : {"k", "qk", "hqk", "hk", "bk", "bqk", "bhqk", "gk", "gqk", "ghqk"}) {
        INFO(name);
        Case c;
        Problem& p = c.problem;
        p.batch = 6, p.heads = p.kv_heads = 3, p.seq_q = 5, p.seq_k = 7, p.dim = p.dim_v = 2;
        p.bias = {*Bias::terms_from(name), Bias{*Bias::terms_from(name)}.has_groups() ? Index{2} : Index{1}};
        c.tiling = {5, 7};
        const Algorithm& a = *find_algorithm("flash_v2");
        Loaded loaded;
        run(a, c, roomy(), exact_mode, {}, 1, &loaded);
        REQUIRE(loaded.slice_of.size() == 18);
        for (const TensorDecl& t : a.tensors(p, c.tiling)) {
            if (t.meaning != Meaning::bias) continue;
            const Sharing s{t.heads_per_slice, t.slices, t.round, t.slices * t.round / p.batch_heads()};
            for (const auto& [head, slice] : loaded.slice_of) CHECK(s.slice(head) == slice);
        }
    }
}

TEST_CASE("a pattern leaves a bias to chance", "[scores][inputs]") {
    Case c;
    c.problem.bias = {*Bias::terms_from("qk"), 1};
    c.problem.seq_q = c.problem.seq_k = 16;
    const Algorithm& a = *find_algorithm("flash_v2");
    const Inputs drawn = inputs_for(a, c), patterned = inputs_for(a, c, Distribution::sink);
    CHECK(same_bits(*drawn.at("bias"), *patterned.at("bias")));
    CHECK_FALSE(same_bits(*drawn.at("Q"), *patterned.at("Q")));
}
