// Q, K and V in 8 bits: what is stored, which scales are read, how much is lost, and who refuses.
#include <algorithm>
#include <cmath>

#include "algorithms/contract/choices.hpp"
#include "algorithms/contract/exact.hpp"
#include "algorithms/contract/packed.hpp"
#include "algorithms/contract/registry.hpp"
#include "algorithms/contract/scales.hpp"
#include "core/machine/conversions.hpp"
#include "lab/flags/request.hpp"
#include "lab/flags/small_run.hpp"
#include "lab/run/experiment.hpp"
#include "lab/run/reference.hpp"
#include "lab/workload/rounding.hpp"
#include "tests/support/harness.hpp"
#include "tests/support/problems.hpp"

using namespace tilescope;
using namespace tilescope::lab;

namespace {

Case plain(Dtype dtype, const char* scales) {
    Case c{{}, {16, 16}, 1};
    c.problem.batch = 2, c.problem.heads = 4, c.problem.kv_heads = 2;
    c.problem.seq_q = c.problem.seq_k = 48, c.problem.dim = c.problem.dim_v = 16;
    c.problem.dtype = dtype;
    set_scales(c.problem, scales);
    return c;
}

const Algorithm& flash_v2() { return *find_algorithm("flash_v2"); }

double rms(const Case& c, const Inputs& in) {
    return error_of(*flash_v2().computes, c.problem, in, run(flash_v2(), c, roomy(), numeric_mode, in).output().data, 1)
        .rms;
}

}  // namespace

TEST_CASE("a scale makes the greatest value of its group the greatest of the type", "[eight_bits]") {
    struct Scaled {
        const char* scales;
        std::size_t slices;  // of scales: heads of K and V, also for Q
        Index rows;          // that share one
    };
    for (const Dtype type : {Dtype::e4m3, Dtype::e5m2})
        for (const auto& [scales, slices, rows] :
             {Scaled{"tensor", 1, 48}, {"head", 4, 48}, {"20", 4, 20}, {"token", 4, 1}, {"100", 4, 48}}) {
            const Case c = plain(type, scales);
            const Inputs in = inputs_for(flash_v2(), c);
            for (const char* const name : {"Q", "K", "V"}) {
                INFO(name << " in " << name_of(type) << ", " << scales);
                const std::vector<float> stored = contents(*in.at(name)), real = contents(exact(in, name));
                const std::vector<float> factors = contents(*in.at(scales_tensor(name)));
                const auto blocks = static_cast<std::size_t>(ceil_div(Index{48}, rows));
                REQUIRE(factors.size() == slices * blocks);
                std::vector<float> greatest(factors.size());
                for (std::size_t k = 0; k < stored.size(); ++k) {
                    const std::size_t slice = k / (stored.size() / slices), row = k / 16 % 48;
                    const std::size_t group = slice * blocks + row / static_cast<std::size_t>(rows);
                    greatest[group] = std::max(greatest[group], std::abs(stored[k]));
                    float nearest = real[k] / factors[group];
                    round_to(type, &nearest, 1);
                    if (stored[k] != nearest) FAIL(real[k] << " is stored as " << stored[k]);
                }
                for (const float x : greatest) CHECK(x == largest(type));
            }
        }
}

TEST_CASE("values without a scale are stored as they are, and zeros have a scale of 1", "[eight_bits]") {
    const Case c = plain(Dtype::e4m3, "none");
    const Inputs in = inputs_for(flash_v2(), c);
    CHECK_FALSE(in.contains("K_scale"));
    const std::vector<float> stored = contents(*in.at("K")), real = contents(exact(in, "K"));
    for (std::size_t k = 0; k < stored.size(); ++k) {
        float nearest = real[k];
        round_to(Dtype::e4m3, &nearest, 1);
        if (stored[k] != nearest) FAIL(real[k] << " is stored as " << stored[k]);
    }
    const Case scaled = plain(Dtype::e4m3, "head");
    const auto zeros = std::make_shared<Storage>(Dtype::f32, 4, 48, 16);
    zeros->write(0, std::vector<float>(static_cast<std::size_t>(zeros->size())));
    const Inputs of_zeros =
        stored_inputs(scaled.problem, flash_v2().tensors(scaled.problem, scaled.tiling), {{"K", zeros}});
    for (const float x : contents(*of_zeros.at("K"))) CHECK(x == 0);
    for (const float x : contents(*of_zeros.at("K_scale"))) CHECK(x == 1);
}

TEST_CASE("a part of a problem has the values before they are rounded", "[eight_bits]") {
    Options o;
    o.dtype = "e4m3", o.heads = 1, o.seq = 8, o.dim = 4;
    Request r = resolve(o, flash_v2());
    const auto keys = std::make_shared<Storage>(Dtype::f32, 1, 8, 4);
    std::vector<float> values;
    for (Index k = 0; k < keys->size(); ++k) values.push_back(1000 + static_cast<float>(k));  // e4m3 ends at 448
    keys->write(0, values);
    r.inputs["K"] = keys;
    const Inputs part = inputs_for_part(o, r, flash_v2())(r.problem);
    CHECK(contents(exact(part, "K")) == values);
    CHECK(contents(*part.at("K_scale")).at(0) == 1031 / largest(Dtype::e4m3));
}

TEST_CASE("a thread block reads the scales of its head once", "[eight_bits][closed_forms]") {
    for (const auto& [type, tensors] : {std::pair{Dtype::e4m3, 3}, {Dtype::f16, 2}}) {
        Case c = plain(type, "head");
        c.problem.kv_dtype = Dtype::e4m3;
        const Outcome o = run(flash_v2(), c, roomy(), count_mode);
        Bytes read = 0;
        for (const TensorInfo& t : o.tensors)
            if (t.name.ends_with("_scale")) read += o.moved(t.name).read;
        CHECK(read == 4 * tensors * 8 * 3);  // 8 heads of 3 row blocks
        const Prediction p = flash_v2().predict(c.problem, c.tiling, roomy());
        CHECK(o.counters.hbm_read == p.hbm_read);
        CHECK(o.counters.other_flops == p.other_flops);
    }
}

TEST_CASE("scales of blocks are read with their rows, whatever the tiles are", "[eight_bits][closed_forms]") {
    struct Scaled {
        const char* scales;
        Count each_q, each_k;  // scales that a head's three row blocks read of Q, and its nine tiles of K, or of V
    };
    // Tiles have 16 rows; blocks of 20 rows are 0, 0 and 1, then 1 and 2 of three tiles.
    for (const auto& [scales, each_q, each_k] :
         {Scaled{"token", 48, 3 * 48}, {"8", 6, 3 * 6}, {"16", 3, 9}, {"32", 3, 9}, {"20", 5, 3 * 5}, {"100", 3, 9}}) {
        INFO(scales);
        const Case c = plain(Dtype::e4m3, scales);
        const Outcome o = run(flash_v2(), c, roomy(), count_mode);
        CHECK(o.moved("Q_scale").read == 8 * 4 * each_q);
        CHECK(o.moved("K_scale").read == 8 * 4 * each_k);
        CHECK(o.moved("V_scale").read == 8 * 4 * each_k);
        // Without several scales in a tile of keys, all that is multiplied is each scale of Q by one of K.
        const Count plain_flops = run(flash_v2(), plain(Dtype::e4m3, "none"), roomy(), count_mode).counters.other_flops;
        const Count more = o.counters.other_flops - plain_flops;
        if (each_k == 9) CHECK(more == 8 * 3 * each_q);
        if (scales == std::string_view("token")) CHECK(more == 8 * (2 * 48 * 48 + 9 * 31));
    }
}

TEST_CASE("smaller groups lose less where a few values are large", "[eight_bits][numbers]") {
    const auto error = [](const char* scales, Distribution d) {
        Case c = plain(Dtype::f16, scales);
        c.problem.kv_dtype = Dtype::i8;  // whole numbers have no exponents of their own
        c.problem.seq_q = c.problem.seq_k = 256, c.problem.dim = c.problem.dim_v = 64;
        return rms(c, inputs_for(flash_v2(), c, d));
    };
    const double tensor = error("tensor", Distribution::outliers), head = error("head", Distribution::outliers),
                 block = error("64", Distribution::outliers), token = error("token", Distribution::outliers);
    CHECK(head <= tensor);
    CHECK(block < head);
    CHECK(token < 0.7 * block);
    CHECK(error("token", Distribution::normal) < error("head", Distribution::normal));
}

// With tiles of keys that have several scales of V, P is rounded after it is multiplied by them: a weight of 1 is no
// longer exact, and small weights still have numbers.
TEST_CASE("scales of tokens lose no more of P than others do", "[eight_bits][numbers]") {
    for (const Dtype type : {Dtype::e4m3, Dtype::e5m2})
        for (const char* const scales : {"token", "5", "16"}) {
            INFO(name_of(type) << ", " << scales);
            Case head = plain(type, "head"), c = plain(type, scales);
            const double best = rms(head, as_stored(head, inputs_for(flash_v2(), head)));
            CHECK(rms(c, as_stored(c, inputs_for(flash_v2(), c))) < 1.7 * best);
        }
}

TEST_CASE("packed heads have the scales of the heads one by one", "[eight_bits][packing]") {
    for (const char* const name : {"flash_v2", "split_kv"})
        for (const char* const scales : {"token", "5", "16", "head"}) {
            INFO(name << ", " << scales);
            const Algorithm& a = *find_algorithm(name);
            Case c = plain(Dtype::e4m3, scales);
            c.problem.heads = 6, c.problem.seq_q = 7;
            const Inputs in = inputs_for(a, c);
            Case together = c;
            together.problem = packed(c.problem);
            const auto output = [&](const Case& each) {
                return execute({&a, each.problem, each.tiling, roomy()}, in).outputs.at("O");
            };
            CHECK(distance(*output(c), *output(together)) <= allowed_distance(Dtype::bf16));
            const Counters n = run(a, together, roomy(), count_mode).counters;
            const Prediction p = a.predict(together.problem, together.tiling, roomy());
            CHECK(n.hbm_read == p.hbm_read);
            CHECK(n.other_flops == p.other_flops);
        }
}

TEST_CASE("what says nothing of scales is refused, and so are scales of blocks in pages", "[eight_bits][flags]") {
    const auto refused = [](const char* scales, std::optional<Index> page = {}) {
        Options o;
        o.dtype = "f16", o.kv_dtype = "e4m3", o.page_size = page;
        try {
            o.scales = scales;
            resolve(o, flash_v2());
        } catch (const UsageError& e) {
            return std::string(e.what());
        }
        return std::string();
    };
    for (const char* const fine : {"none", "tensor", "head", "token", "1", "64", "1000000"}) CHECK(refused(fine) == "");
    CHECK(refused("0") ==
          "--scales 0: must be head, tensor, none or token, or how many rows share a scale; try "
          "--scales 64");
    for (const char* const bad : {"-3", "1.5", "64x", "99999999999999999999"}) {
        INFO(bad);
        CHECK(refused(bad).starts_with("--scales "));
    }
    CHECK(refused("tokens").ends_with("try --scales token"));
    CHECK(refused("token", 16).starts_with("--scales token: "));
    CHECK(refused("64", 16).ends_with("try --scales head"));
    CHECK(refused("head", 16) == "");
    Problem p;
    CHECK((set_scales(p, "1") && name_of_scales(p) == "token"));
    CHECK((set_scales(p, "64") && name_of_scales(p) == "64" && p.scale_block == 64));
    CHECK((set_scales(p, "head") && p == Problem()));
}

TEST_CASE("eight bits halve what flash_v2 moves, beside its scales", "[eight_bits]") {
    const Case wide = plain(Dtype::bf16, "head"), narrow = plain(Dtype::e4m3, "none");
    const Counters a = run(flash_v2(), wide, roomy(), count_mode).counters,
                   b = run(flash_v2(), narrow, roomy(), count_mode).counters;
    CHECK(a.hbm_read == 2 * b.hbm_read);
    CHECK(a.hbm_write == b.hbm_write);  // O is bf16 beside 8 bits
    CHECK(a.matmul_flops == b.matmul_flops);
    CHECK(a.other_flops == b.other_flops);
}

TEST_CASE("references compute with the values before rounding", "[eight_bits][numbers]") {
    const Case narrow = plain(Dtype::e4m3, "head");
    const Inputs in = inputs_for(flash_v2(), narrow);
    const double rounded_inputs = rms(narrow, in), rounded_weights = rms(narrow, as_stored(narrow, in));
    CHECK(rounded_inputs > 1.5 * rounded_weights);  // with the stored values, only P and O are rounded
    CHECK(rounded_weights > 0);
    Case mixed = narrow;
    mixed.problem.q_dtype = Dtype::f16;  // P stays in f16: what is lost is K's and V's rounding
    const Inputs of_mixed = inputs_for(flash_v2(), mixed);
    CHECK(rms(mixed, of_mixed) < rounded_inputs);
    CHECK(rms(mixed, as_stored(mixed, of_mixed)) < 0.02 * rounded_weights);
    Case more_exponents = narrow;
    more_exponents.problem.dtype = Dtype::e5m2;  // a bit less of mantissa: twice the error
    const double ratio = rms(more_exponents, inputs_for(flash_v2(), more_exponents)) / rounded_inputs;
    CHECK(ratio > 1.6);
    CHECK(ratio < 2.4);
}

TEST_CASE("a rotation leaves products of rows, and spreads what is large", "[eight_bits][numbers]") {
    for (const Index d : {1, 2, 64}) {
        std::vector<float> x = testing::random_floats(2 * d, 5);
        x[0] = 100;
        const std::vector<float> before = x;
        rotate(x, d);
        double was = 0, is = 0, length = 0, same = 0;
        const auto n = static_cast<std::size_t>(d);
        for (std::size_t k = 0; k < n; ++k) {
            was += static_cast<double>(before[k]) * before[n + k], is += static_cast<double>(x[k]) * x[n + k];
            length += static_cast<double>(x[k]) * x[k], same += static_cast<double>(before[k]) * before[k];
        }
        CHECK(std::abs(is - was) <= 1e-3);
        CHECK(std::abs(length - same) <= 1e-6 * same);
        if (d == 64) CHECK(*std::max_element(x.begin(), x.begin() + 64) < 20);
    }
}

// FlashAttention-3 (arXiv 2407.08608), section 3.3 and table 3: outliers are what rotation is for.
TEST_CASE("rotation helps against outliers, and changes no count", "[eight_bits][numbers]") {
    Case c = plain(Dtype::e4m3, "head");
    c.problem.seq_q = c.problem.seq_k = 256, c.problem.dim = c.problem.dim_v = 64;
    Case turned = c;
    turned.problem.rotated = true;
    const auto error = [](const Case& each, Distribution d) { return rms(each, inputs_for(flash_v2(), each, d)); };
    CHECK(error(turned, Distribution::outliers) < 0.8 * error(c, Distribution::outliers));
    CHECK(error(turned, Distribution::normal) < 1.1 * error(c, Distribution::normal));
    // A Q of more bits is rotated, too.
    Case mixed = c, mixed_and_turned = turned;
    mixed.problem.q_dtype = mixed_and_turned.problem.q_dtype = Dtype::f16;
    CHECK(error(mixed_and_turned, Distribution::normal) < 1.1 * error(mixed, Distribution::normal));
    CHECK(testing::difference(run(flash_v2(), c, roomy(), count_mode).counters,
                              run(flash_v2(), turned, roomy(), count_mode).counters) == "");
    CHECK(flops_of_rotation(turned.problem) == (2 * 4 + 2 * 2) * 256 * 64 * 6);
}

TEST_CASE("all forward attention programs take 8 bits, others say who does", "[eight_bits][features]") {
    for (const Algorithm& a : algorithms()) {
        INFO(a.name);
        const bool forward = a.computes == &computation::attention;
        CHECK(a.supports.has(Feature::eight_bits) == forward);
        Options o;
        o.dtype = "e4m3";
        if (forward) {
            CHECK_NOTHROW(resolve(o, a));
            continue;
        }
        try {
            resolve(o, a);
            FAIL("is not refused");
        } catch (const UsageError& e) {
            const std::string what = e.what();
            CHECK(what.find("--dtype e4m3") != std::string::npos);
            CHECK(what.find("flash_v2") != std::string::npos);
        }
    }
}

TEST_CASE("types that do not meet are refused", "[eight_bits]") {
    const auto refused = [](const char* dtype, const char* q, const char* kv) {
        Options o;
        o.dtype = dtype;
        if (q) o.q_dtype = q;
        if (kv) o.kv_dtype = kv;
        try {
            resolve(o, flash_v2());
        } catch (const UsageError& e) {
            return std::string(e.what());
        }
        return std::string();
    };
    CHECK(refused("e4m3", nullptr, nullptr).empty());
    CHECK(refused("f16", nullptr, "e4m3").empty());
    CHECK(refused("e4m3", "f32", nullptr).empty());
    CHECK(refused("bf16", nullptr, "i8").empty());
    CHECK(refused("f16", nullptr, "bf16").find("--kv-dtype bf16") != std::string::npos);
    CHECK(refused("f16", "e4m3", nullptr).find("--q-dtype e4m3") != std::string::npos);
    CHECK(refused("e4m3", nullptr, "e5m2").find("--kv-dtype e5m2") != std::string::npos);
    Options o;
    o.rotate = true;
    CHECK_THROWS_AS(resolve(o, flash_v2()), UsageError);
    o.dtype = "e4m3";
    CHECK_NOTHROW(resolve(o, flash_v2()));
    o.dim = 48;
    CHECK_THROWS_AS(resolve(o, flash_v2()), UsageError);
    CHECK(refused("i8", nullptr, nullptr).find("--dtype i8") != std::string::npos);
}
