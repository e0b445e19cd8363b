// Lists of passes, as in unfused graphs.
#include <cmath>

#include "algorithms/contract/pass_lists.hpp"
#include "algorithms/contract/pseudo_code.hpp"
#include "algorithms/contract/validate.hpp"
#include "core/machine/error.hpp"
#include "lab/flags/request.hpp"
#include "lab/run/experiment.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/harness.hpp"
#include "tests/support/problems.hpp"

using namespace tilescope;
using namespace tilescope::lab;

namespace {

const Algorithm& standard() { return *find_algorithm("standard"); }

/// Bytes per score.
struct Moved {
    double read, written;
};

/// What a list of passes moves to and from HBM, per score, by tensor.
std::map<std::string, Moved> moved(const char* passes, bool causal = false) {
    Options o;
    o.seq = 512, o.heads = 2, o.passes = passes, o.br = "128", o.bc = "128";
    if (causal) o.causal = true;
    const double scores = 512 * 512 * 2;
    std::map<std::string, Moved> all;
    for (const TensorReport& t : count(experiment_of(standard(), resolve(o, standard()))).tensors)
        all[t.name] = {static_cast<double>(t.traffic.read) / scores, static_cast<double>(t.traffic.write) / scores};
    return all;
}

std::string refusal(const std::string& text) {
    try {
        passes_from(text);
    } catch (const BadValue& e) {
        return e.allowed;
    }
    return "";
}

double error(const Case& c, const Inputs& in) {
    const Outcome out = run(standard(), c, roomy(), numeric_mode, in);
    return error_of(computation::attention, c.problem, in, out.output().data).max_abs;
}

}  // namespace

// Counters of PyTorch 2.11 on an H200, 2026-11-28: kernels of 16 x 4,096 scores of d = 64, bytes a score.
TEST_CASE("lists of PyTorch's graphs move what its kernels move", "[standard][passes]") {
    const auto is = [](const Moved& m, double read, double written) { return m.read == read && m.written == written; };
    auto typed = moved("typed");
    CHECK(is(typed["S"], 2, 2));         // nvjet writes 2 bytes, the multiplication reads 2
    CHECK(is(typed["S_scaled"], 2, 2));  // the multiplication writes 2 bytes, the softmax reads 2
    CHECK(is(typed["P"], 2, 2));
    CHECK(typed.size() == 7);
    auto masked = moved("typed", true);
    CHECK(is(masked["S_masked"], 2, 2));
    auto eager = moved("transformers");
    CHECK(is(eager["P"], 4, 4));
    CHECK(is(eager["P_converted"], 2, 2));
    auto math = moved("math");
    CHECK(is(math["S"], 8, 4));     // read by the softmax and by isneginf
    CHECK(is(math["seen"], 1, 1));  // a bool per score
    CHECK(is(math["P"], 4, 4));
    CHECK(is(math["P_cleared"], 8, 4));  // read by the copy in f16 and by the product
    CHECK(is(math["P_copied"], 0, 2));
    CHECK(math["K_converted"].written == 64 * 4 / 512.0);
    auto xla = moved("xla");
    CHECK(is(xla["S"], 4, 4));
    CHECK(is(xla["P"], 2, 2));
}

TEST_CASE("a list is read and written as the same text", "[passes]") {
    for (const NamedPasses& named : pass_lists) {
        CHECK(name_of(passes_from(named.name)) == named.passes);
        CHECK((passes_from(named.passes) == passes_from(named.name)));
    }
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
        const PassList list = passes_case(seed).problem.passes;
        INFO(name_of(list));
        CHECK((passes_from(name_of(list)) == list));
    }
}

TEST_CASE("what is no graph of attention is refused, with why", "[passes]") {
    const std::pair<const char*, const char*> wrong[] = {
        {"", "which is no pass"},
        {"product/softmax/product/", "which is no pass"},
        {"product/sofmax/product", "has sofmax, which is no pass: they are product, scale"},
        {"product/softmax", "ends behind softmax, where product, or"},
        {"product/product", "has product behind product, where softmax, or"},
        {"mask/product/softmax/product", "has mask, where product, or convert and scale"},
        {"product/mask/scale/softmax/product", "has scale behind mask, where softmax, or max"},
        {"scale/product/scale/softmax/product", "has scale twice"},
        {"product/max/exp/divide/product", "has divide behind exp, where sum must"},
        {"product/exp/sum/product", "has product behind sum, where divide"},
        {"product/softmax/seen/clear/product", "has clear behind seen, where any must"},
        {"product/softmax/product/softmax", "has softmax where nothing can follow"},
        {"product+softmax/product", "has product+softmax: one launch does"},
        {"product+max/exp/sum/divide/product", "has product+max: one launch does"},
        {"product/max+exp/sum/divide/product", "has max+exp: one launch does"},
        {"product:f8/softmax/product", "has f8 behind a colon"},
        {"product/max:f16/exp/sum/divide/product", "has max:f16, which writes f32"},
        {"product/max/softmax/product", "has softmax behind max, where exp must stand"},
        {"product/softmax/clear/product", "has clear behind softmax, where product, or what is left of seen"},
        {"product/softmax/seen:f32/any/clear/product", "has seen:f32, which writes bytes"},
    };
    for (const auto& [text, why] : wrong) {
        INFO(text << ": " << refusal(text));
        CHECK(refusal(text).find(why) != std::string::npos);
    }
    Problem p;
    p.passes = passes_from("product:bf16/softmax/product");
    CHECK_THROWS_WITH(tilescope::validate(p),
                      Catch::Matchers::Contains("types must be f32, or as Q, K and V are: f16"));
    p.passes = passes_from("product/softmax/product:f32");
    CHECK_THROWS_WITH(tilescope::validate(p),
                      Catch::Matchers::Contains("try passes product/softmax/product:f32/convert"));
    p.passes = passes_from("typed"), p.scores = Dtype::f32;
    CHECK_THROWS_WITH(tilescope::validate(p), Catch::Matchers::Contains("passes say types themselves"));
    p.scores.reset(), p.passes = passes_from("product/max/exp/sum/divide/product"), p.softmax = Softmax::naive;
    CHECK_THROWS_WITH(tilescope::validate(p), Catch::Matchers::Contains("is of a pass softmax"));
    p.softmax = Softmax::safe, p.passes = passes_from("math"), p.scale = -1;
    CHECK_THROWS_WITH(tilescope::validate(p), Catch::Matchers::Contains("has no root for Q and for K"));
}

TEST_CASE("any list counts what its closed form says, in every mode, and computes attention",
          "[standard][passes][closed_forms]") {
    for (std::uint64_t seed = 1; seed <= 150; ++seed) {
        Case c = as_supported(standard(), passes_case(seed));
        INFO(to_string(standard(), c) << ", mask " << c.problem.mask.name());
        tilescope::validate(c.problem);
        for (const GpuSpec& gpu : machines(standard(), c)) {
            const Prediction predicted = standard().predict(c.problem, c.tiling, gpu);
            const Outcome counted = run(standard(), c, gpu, count_mode);
            CHECK(counted.counters.hbm_read == predicted.hbm_read);
            CHECK(counted.counters.hbm_write == predicted.hbm_write);
            CHECK(counted.counters.matmul_flops == predicted.matmul_flops);
            CHECK(counted.counters.exps == predicted.exps);
            CHECK(counted.counters.other_flops == predicted.other_flops);
            CHECK(difference(counted, run(standard(), c, gpu, exact_mode)) == "");
        }
        c.problem.dtype = Dtype::f32;
        const Inputs in = inputs_for(standard(), c);
        CHECK(error(c, in) < 1e-4 * static_cast<double>(c.problem.dropout.factor()));
    }
}

TEST_CASE("a list that says what standard does is standard", "[standard][passes]") {
    for (std::uint64_t seed = 1; seed <= 30; ++seed) {
        Case c = as_supported(standard(), score_case(seed));
        const Inputs in = inputs_for(standard(), c);
        const Outcome own = run(standard(), c, roomy(), numeric_mode, in);
        c.problem.passes = passes_from("product+scale+cap+bias+mask/softmax/product");
        INFO(to_string(standard(), c));
        Outcome listed = run(standard(), c, roomy(), numeric_mode, in);
        CHECK(listed.counters.hbm_read == own.counters.hbm_read);
        CHECK(listed.counters.hbm_write == own.counters.hbm_write);
        // The list has a multiplication of its own where the product has a factor.
        CHECK(listed.counters.other_flops ==
              own.counters.other_flops + c.problem.batch_heads() * c.problem.seq_q * c.problem.seq_k);
        c.problem.passes = passes_from("product/softmax/product");
        CHECK(difference(run(standard(), c, roomy(), numeric_mode, in), own) == "");
    }
}

TEST_CASE("the pseudo-code of a list says that it is not the three launches above", "[standard][passes]") {
    Problem p;
    CHECK(code_for(standard(), p).size() == 8);
    p.passes = passes_from("typed");
    const auto code = code_for(standard(), p);
    REQUIRE(code.size() == 11);
    CHECK_THAT(code[8].code, Catch::Matchers::StartsWith("not three launches, but those of the list"));
}

TEST_CASE("rows that see no key come out as zeros, with a pass that looks for them and without", "[standard][passes]") {
    for (const char* passes : {"typed", "transformers", "math", "xla", "product/mask/max/exp/sum/divide/product"}) {
        Case c;
        c.problem.batch = 1, c.problem.heads = c.problem.kv_heads = 1, c.problem.seq_q = 40, c.problem.seq_k = 20;
        c.problem.dim = c.problem.dim_v = 8, c.problem.mask = Mask::causal();
        c.problem.passes = passes_from(passes), c.tiling = {16, 8};
        const std::vector<float> o =
            contents(*run(standard(), c, roomy(), numeric_mode, inputs_for(standard(), c)).output().data);
        INFO(passes);
        CHECK(std::count(o.begin(), o.begin() + 20 * 8, 0.0f) == 20 * 8);
        CHECK(std::count_if(o.begin() + 20 * 8, o.end(), [](float x) { return x != 0 && std::isfinite(x); }) == 20 * 8);
    }
}
