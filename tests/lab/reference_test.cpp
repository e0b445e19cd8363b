#include "lab/run/reference.hpp"

#include <cmath>
#include <limits>

#include "lab/run/judgement.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/problems.hpp"

using namespace tilescope;
using namespace tilescope::lab;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

const Algorithm& of(const Computation& c) {
    return *find_algorithm(&c == &computation::softmax ? "softmax_safe" : "flash_v2");
}

/// exp(s - max s) / sum, straight from the definition.
std::vector<long double> softmax(std::vector<long double> s) {
    long double most = -infinity, sum = 0;
    for (const long double x : s) most = std::max(most, x);
    for (long double& x : s) sum += x = std::exp(x - most);
    for (long double& x : s) x /= sum;
    return s;
}

/// One row of the output by plain loops in long double, over the visible keys.
std::vector<long double> plain_row(const Computation& computing, const Problem& p, const Inputs& in, Index slice,
                                   Index row) {
    if (&computing == &computation::softmax) {
        const std::vector<float> x = contents(*in.at("X"));
        const auto first = x.begin() + (slice * p.seq_q + row) * p.seq_k;
        return softmax({first, first + p.seq_k});
    }
    const std::vector<float> Q = contents(*in.at("Q")), K = contents(*in.at("K")), V = contents(*in.at("V"));
    const auto at = [](const std::vector<float>& x, Index s, Index rows, Index r, Index cols, Index c) {
        return static_cast<long double>(x[static_cast<std::size_t>((s * rows + r) * cols + c)]);
    };
    const Index batch = slice / p.heads, head = slice % p.heads, group = p.heads / p.kv_heads;
    const Index kv = batch * p.kv_heads + head / group;
    const long double scale = p.scale ? *p.scale : 1 / std::sqrt(static_cast<long double>(p.dim));
    std::vector<long double> s, o(static_cast<std::size_t>(p.dim_v));
    for (Index key = 0; key < p.seq_k; ++key) {
        if (p.mask.hides() && key > row + first_place(p)) break;
        s.push_back(0);
        for (Index x = 0; x < p.dim; ++x)
            s.back() += scale * at(Q, slice, p.seq_q, row, p.dim, x) * at(K, kv, p.seq_k, key, p.dim, x);
    }
    s = softmax(s);
    for (std::size_t key = 0; key < s.size(); ++key)
        for (Index x = 0; x < p.dim_v; ++x)
            o[static_cast<std::size_t>(x)] += s[key] * at(V, kv, p.seq_k, static_cast<Index>(key), p.dim_v, x);
    return o;
}

/// All rows of the reference.
std::vector<double> all_rows(const Computation& computing, const Problem& p, const Inputs& in) {
    std::vector<double> all;
    for (Index slice = 0; slice < p.batch_heads(); ++slice)
        for (const double x : reference_rows(computing, p, in, slice, {0, p.seq_q})) all.push_back(x);
    return all;
}

std::shared_ptr<Storage> stored(const Problem& p, Index cols, const std::vector<double>& values) {
    auto s = std::make_shared<Storage>(Dtype::f32, p.batch_heads(), p.seq_q, cols);
    s->write(0, std::vector<float>(values.begin(), values.end()));
    return s;
}

Case large_enough_for_many_blocks() {
    Case c;
    c.problem.batch = 2;
    c.problem.heads = c.problem.kv_heads = 2;
    c.problem.seq_q = 300, c.problem.seq_k = 40;
    c.problem.dim = c.problem.dim_v = 8;
    c.problem.dtype = Dtype::f32;
    c.tiling = {16, 16};
    return c;
}

}  // namespace

TEST_CASE("reference: it is what plain loops in long double compute", "[reference]") {
    std::vector<Case> cases = corner_cases();
    for (std::uint64_t seed = 1; seed <= 40; ++seed) cases.push_back(random_case(seed));
    for (const Case& c : cases)
        for (const Computation* each : computations()) {
            if (each == &computation::attention_backward) continue;  // backward_test.cpp tests it
            const Computation& computing = *each;
            const Inputs in = inputs_for(of(computing), c, Distribution::outliers);
            const Problem& p = c.problem;
            INFO(to_string(of(computing), c));
            double worst = 0;
            for (Index slice = 0; slice < p.batch_heads(); ++slice)
                for (Index row = 0; row < p.seq_q; ++row) {
                    const auto expected = plain_row(computing, p, in, slice, row);
                    const auto actual = reference_rows(computing, p, in, slice, {row, 1});
                    REQUIRE(actual.size() == expected.size());
                    for (std::size_t k = 0; k < actual.size(); ++k)
                        worst = std::max(worst, static_cast<double>(std::abs(actual[k] - expected[k])));
                }
            CHECK(worst < 2e-13);  // outputs are below 50, logits below 2,000
        }
}

TEST_CASE("reference: sequences longer than it converts at a time", "[reference]") {
    Case c;
    c.problem.heads = c.problem.kv_heads = 1;
    c.problem.seq_q = 3, c.problem.seq_k = 2500;
    c.problem.dim = c.problem.dim_v = 4;
    for (const bool causal : {false, true}) {
        c.problem.mask = causal ? Mask::causal() : Mask();
        const Inputs in = inputs_for(of(computation::attention), c);
        for (Index row = 0; row < 3; ++row) {
            const auto expected = plain_row(computation::attention, c.problem, in, 0, row);
            const auto actual = reference_rows(computation::attention, c.problem, in, 0, {row, 1});
            for (std::size_t k = 0; k < 4; ++k) CHECK(std::abs(actual[k] - static_cast<double>(expected[k])) < 1e-14);
        }
    }
}

TEST_CASE("reference: rows that see no key are 0, and large logits are no trouble", "[reference]") {
    Case c = corner_cases()[7];
    REQUIRE(c.problem.mask.is_causal());
    const Index blind = c.problem.seq_q - c.problem.seq_k;
    REQUIRE(blind == 14);
    const auto o =
        reference_rows(computation::attention, c.problem, inputs_for(of(computation::attention), c), 0, {0, blind});
    CHECK(o == std::vector<double>(static_cast<std::size_t>(blind * c.problem.dim_v), 0.0));

    Case s;
    s.problem.heads = 1, s.problem.seq_q = 1, s.problem.seq_k = 3, s.problem.dtype = Dtype::f32;
    s.tiling = {1, 3};
    const Inputs in = inputs_for(of(computation::softmax), s);
    in.at("X")->write(0, std::vector<float>{1e30f, -1e30f, 1e30f});
    const auto y = reference_rows(computation::softmax, s.problem, in, 0, {0, 1});
    CHECK(y[0] == 0.5);
    CHECK(y[1] < 1e-300);
    CHECK(y[2] == 0.5);
}

TEST_CASE("reference: errors are those of the elements", "[reference]") {
    const Case c = large_enough_for_many_blocks();
    const Inputs in = inputs_for(of(computation::attention), c);
    const std::vector<double> exact = all_rows(computation::attention, c.problem, in);
    const auto n = static_cast<double>(exact.size());

    std::vector<double> off = exact;  // by 0.5 in one place and 0.25 in three, in different slices and blocks of rows
    off[0] += 0.5, off[1000] -= 0.25, off[5000] += 0.25, off.back() += 0.25;
    std::vector<double> holes = exact;
    holes[3] = not_a_number, holes[4000] = infinity, holes[9000] = -infinity;
    const auto named =
        compare_with_reference(computation::attention, c.problem, in,
                               {{{"O", stored(c.problem, 8, exact)}},
                                {{"O", stored(c.problem, 8, off)}, {"nobody's", stored(c.problem, 8, off)}},
                                {{"O", stored(c.problem, 8, holes)}}},
                               1);
    std::vector<OutputError> errors;
    for (const OutputErrors& of_run : named) {
        CHECK(of_run.size() == 1);  // a name that the computation does not define is not compared
        errors.push_back(of_run.at("O"));
    }
    REQUIRE(errors.size() == 3);
    CHECK(errors[0].max_abs < 1e-6);
    CHECK(errors[0].rms < 1e-7);
    CHECK(errors[0].not_finite == 0);
    CHECK(std::abs(errors[1].max_abs - 0.5) < 1e-6);
    CHECK(std::abs(errors[1].rms - std::sqrt((0.25 + 3 * 0.0625) / n)) < 1e-7);
    CHECK(errors[1].not_finite == 0);
    CHECK(errors[2].not_finite == 3);
    CHECK(errors[2].max_abs < 1e-6);
    for (const OutputError& e : errors) {
        CHECK(e.elements == static_cast<Count>(exact.size()));
        CHECK(e.compared == e.elements - e.not_finite);
        CHECK(e.all_not_finite() == e.not_finite);
        CHECK(e.tells() == (e.not_finite == 0));
    }
}

TEST_CASE("reference: a row with a NaN has no right answer, and no wrong one", "[reference]") {
    Case c;
    c.problem.heads = 1, c.problem.seq_q = 3, c.problem.dtype = Dtype::f32;
    c.problem.seq_k = GENERATE(1, 4, 19);
    const Index cols = c.problem.seq_k, at = GENERATE_COPY(Index{0}, cols / 2, cols - 1);
    c.tiling = {3, cols};
    const Inputs in = inputs_for(of(computation::softmax), c);
    const float nan = static_cast<float>(not_a_number);
    in.at("X")->write(cols + at, std::vector<float>{nan});
    const std::vector<double> y = reference_rows(computation::softmax, c.problem, in, 0, {0, 3});
    CAPTURE(cols, at);
    for (Index k = 0; k < 3 * cols; ++k) CHECK(std::isnan(y[static_cast<std::size_t>(k)]) == (k / cols == 1));

    std::vector<double> output = y;
    for (Index k = 0; k < cols; ++k) output[static_cast<std::size_t>(cols + k)] = k % 2 ? not_a_number : 0.5;
    const OutputError e = error_of(computation::softmax, c.problem, in, stored(c.problem, cols, output));
    CHECK(e.not_finite == 0);
    CHECK(e.max_abs < 1e-6);
    CHECK(e.compared == 2 * cols);
    CHECK(e.finite_instead == (cols + 1) / 2);
    CHECK(e.neither() == cols / 2);
    CHECK(e.all_not_finite() == cols / 2);
    CHECK_FALSE(e.tells());
}

TEST_CASE("reference: the place of a NaN among keys at -inf does not matter", "[reference]") {
    Case c;
    c.problem.heads = c.problem.kv_heads = 1, c.problem.seq_q = c.problem.seq_k = 9,
    c.problem.dim = c.problem.dim_v = 4;
    c.problem.dtype = Dtype::f32;
    const Index at = GENERATE(0, 1, 4, 8);
    const Inputs in = inputs_for(of(computation::attention), c);
    in.at("K")->write(0, std::vector<float>(36, static_cast<float>(-infinity)));
    in.at("K")->write(4 * at, std::vector<float>{static_cast<float>(not_a_number)});
    in.at("Q")->write(0, std::vector<float>(36, 1.0f));
    for (const double o : reference_rows(computation::attention, c.problem, in, 0, {0, 9})) CHECK(std::isnan(o));
}

TEST_CASE("reference: a hidden key has no say, whatever it is", "[reference]") {
    Case c;
    c.problem.heads = c.problem.kv_heads = 1, c.problem.seq_q = c.problem.seq_k = 9,
    c.problem.dim = c.problem.dim_v = 4;
    c.problem.dtype = Dtype::f32, c.problem.mask = Mask::causal();
    const float bad = GENERATE(static_cast<float>(not_a_number), static_cast<float>(infinity));
    const char* const tensor = GENERATE("K", "V");
    Inputs in = inputs_for(of(computation::attention), c);
    const auto rows = [&](const Computation& computes, Index n) {
        return computes.reference(c.problem, in, 0, {0, n}).find(computes.output)->second;
    };
    const std::vector<double> clean = rows(computation::attention, 8);
    in.at(tensor)->write(8 * 4, std::vector<float>(4, bad));  // the last key
    CHECK(rows(computation::attention, 8) == clean);
    const std::vector<double> last = reference_rows(computation::attention, c.problem, in, 0, {8, 1});
    for (const double o : last) CHECK((!std::isfinite(o) || tensor == std::string("K")));

    // Gradients: a row has no influence on dK and dV of a key that it does not see, nor the key on the row's dQ.
    const Algorithm& backward = *find_algorithm("flash_v2_backward");
    in = with_saved(backward, c.problem, inputs_for(backward, c));
    const std::vector<double> dQ = rows(computation::attention_backward, 8);
    in.at(tensor)->write(8 * 4, std::vector<float>(4, bad));
    CHECK(rows(computation::attention_backward, 8) == dQ);
    Inputs first = with_saved(backward, c.problem, inputs_for(backward, c));
    const auto of_keys = [&](const char* name) {
        return computation::attention_backward.reference_of_keys(c.problem, first, 0, {1, 8}).find(name)->second;
    };
    const std::vector<double> dK = of_keys("dK"), dV = of_keys("dV");
    first.at(tensor == std::string("K") ? "Q" : "dO")->write(0, std::vector<float>(4, bad));  // row 0 sees key 0 alone
    CHECK(of_keys("dK") == dK);
    CHECK(of_keys("dV") == dV);
}

TEST_CASE("reference: what is -inf in both, and whether inputs were numbers", "[reference]") {
    Case c;
    c.problem.heads = c.problem.kv_heads = 1, c.problem.seq_q = 6, c.problem.seq_k = 4;
    c.problem.dim = c.problem.dim_v = 4;
    c.problem.dtype = Dtype::f32, c.problem.mask = Mask::causal(), c.tiling = {6, 4};
    const Inputs in = inputs_for(of(computation::attention), c);
    const auto report = [&] {
        Report r = execute({&of(computation::attention), c.problem, c.tiling, roomy()}, in);
        r.errors = compare_with_reference(computation::attention, c.problem, in, {r.outputs})[0];
        return r;
    };
    const Report right = report();
    CHECK(describe_error(right, "LSE", right.errors.at("LSE"))
              .starts_with("2 of 6 outputs are -inf in both, as of every row that sees no key; the other 4: max "));
    CHECK(right.errors.at("O").finite_inputs);
    in.at("V")->write(3 * 4, std::vector<float>{static_cast<float>(not_a_number)});
    const Report leaks = report();
    CHECK_FALSE(leaks.errors.at("O").finite_inputs);
    CHECK_THAT(describe_error(leaks, "O", leaks.errors.at("O")),
               Catch::Matchers::ContainsSubstring("multiplies it by the weight 0 of rows that do not see it"));
    CHECK(wrong_outputs(leaks).empty());
    Report own = right;
    Algorithm mine = of(computation::attention);
    mine.lineage.file = "mine.cpp";
    own.experiment.algorithm = &mine;
    CHECK(wrong_outputs(own).empty());
    CHECK(about_wrong_outputs(own).empty());
    CHECK_NOTHROW(fail_where_wrong({wrong_in_short(own), ""}));
    own.errors.at("O").max_abs = 0.11 * own.errors.at("O").largest;
    CHECK(wrong_outputs(own) == std::vector<std::string>{"O"});
    CHECK(wrong_in_short(own) == "flash_v2 computes a wrong O");
    CHECK_THROWS_AS(fail_where_wrong({wrong_in_short(own)}), RunError);
    own.errors = leaks.errors, own.errors.at("O").max_abs = 0;
    CHECK(wrong_outputs(own).empty());  // the inputs are to blame
    own.errors.at("O").finite_inputs = true;
    CHECK(wrong_outputs(own) == std::vector<std::string>{"O"});
    own.errors = right.errors, own.errors.at("LSE").finite_instead = 1;
    CHECK(wrong_outputs(own) == std::vector<std::string>{"LSE"});
}

TEST_CASE("reference: where no number is left, none is told", "[reference]") {
    Case c;
    c.problem.heads = 1, c.problem.seq_q = 3, c.problem.seq_k = 2, c.problem.dtype = Dtype::f32;
    c.tiling = {3, 2};
    const Inputs in = inputs_for(of(computation::softmax), c);
    in.at("X")->write(0, std::vector<float>(6, static_cast<float>(not_a_number)));
    const auto error = [&](const std::vector<double>& y) {
        return error_of(computation::softmax, c.problem, in, stored(c.problem, 2, y));
    };
    Report r;
    r.experiment = {&of(computation::softmax), c.problem, c.tiling, roomy()};
    const auto said = [&](const std::vector<double>& y) { return describe_error(r, "Y", error(y)); };
    const double nan = not_a_number;
    CHECK(said({nan, nan, nan, nan, nan, nan}) ==
          "6 of 6 outputs are NaN or infinite in both; nothing is left to compare");
    CHECK(said({0, nan, nan, nan, nan, nan}) ==
          "1 of 6 outputs is finite where the reference is NaN or infinite; 5 are NaN or infinite in both; nothing is "
          "left to compare");
    CHECK_FALSE(error({0, 0, 0, 0, 0, 0}).tells());

    in.at("X")->write(2, std::vector<float>(4, 1.0f));
    CHECK(said({nan, nan, 0.5, 0.5, 0.5, nan}) ==
          "1 of 6 outputs is NaN or infinite where the reference is not, as where exp() takes a logit above 88.7 from "
          "which its row's maximum was not subtracted, or a number is beyond what its type holds; 2 are NaN or "
          "infinite in both; the other 3: max 0, rms 0");
}

TEST_CASE("reference: nothing depends on threads", "[reference][threads]") {
    const Case c = large_enough_for_many_blocks();
    const Inputs in = inputs_for(of(computation::attention), c);
    std::vector<double> off = all_rows(computation::attention, c.problem, in);
    for (std::size_t k = 0; k < off.size(); ++k) off[k] += 1e-3 * std::sin(static_cast<double>(k * k));
    const auto errors = [&](int threads) {
        return error_of(computation::attention, c.problem, in, stored(c.problem, 8, off), threads);
    };
    const OutputError one = errors(1);
    CHECK(one.rms > 5e-4);
    for (const int threads : {2, 5, 100}) {
        CHECK(errors(threads).rms == one.rms);
        CHECK(errors(threads).max_abs == one.max_abs);
    }
}

TEST_CASE("reference: it can be followed and stopped", "[reference][threads]") {
    const Case c = large_enough_for_many_blocks();
    const Inputs in = inputs_for(of(computation::attention), c);
    const auto output = stored(c.problem, 8, all_rows(computation::attention, c.problem, in));
    Control control;
    error_of(computation::attention, c.problem, in, output, 2, &control);
    CHECK(control.blocks_total.load() > 4);
    CHECK(control.blocks_done.load() == control.blocks_total.load());
    control.stop = true;
    CHECK_THROWS_AS(error_of(computation::attention, c.problem, in, output, 2, &control), Interrupted);
}
