// Tests for every algorithm of the registry: one source in every mode, the same counts, and the right numbers.
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "algorithms/contract/accumulator.hpp"
#include "algorithms/contract/block_mask.hpp"
#include "algorithms/contract/exact.hpp"
#include "algorithms/contract/pseudo_code.hpp"
#include "algorithms/contract/refusal.hpp"
#include "core/machine/conversions.hpp"
#include "core/machine/out_of_chip_memory.hpp"
#include "core/record/profile.hpp"
#include "lab/run/reference.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/folder.hpp"
#include "tests/support/gradients.hpp"
#include "tests/support/problems.hpp"
#include "tests/support/seeds.hpp"

using namespace tilescope;
using namespace tilescope::lab;

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

std::vector<Case> cases(std::uint64_t random) {
    std::vector<Case> all = corner_cases();
    for (const Case& c : typed_cases()) all.push_back(c);
    for (const Case& c : hidden_row_cases()) all.push_back(c);
    for (std::uint64_t seed = 1; seed <= seeds(random); ++seed) all.push_back(random_case(seed));
    return all;
}

template <class F>
void for_all(std::uint64_t random, F&& f) {
    for (const Case& each : cases(random))
        for (const Algorithm& a : algorithms()) {
            const Case c = as_supported(a, each);
            INFO(to_string(a, c));
            f(a, c);
        }
}

bool safe(const Algorithm& a, const Problem& p) {
    const bool has_naive = a.name == std::string("softmax_naive");
    return !has_naive && (a.name != std::string("standard") || p.softmax == Softmax::safe);
}

/// Adds up events, and remembers which operations happened on which line of the pseudo-code.
struct Witness : Listener {
    void begin(const LaunchMark& m) override { total.add(m.cost, 1); }
    void begin(const BlockMark& m) override { total.add(m.cost, m.times); }
    void visit(const LineMark& m) override { lines[m.line]; }
    void on(const Event& e, TileData data) override {
        total.add(e.cost, e.times);
        has_data = has_data || !data.empty();
        lines[e.line].insert(e.operation->name);
    }
    Counters total;
    std::map<std::uint16_t, std::set<std::string>> lines;
    bool has_data = false;
};

std::string text(const TileUse& t) {
    return t.name + " [" + std::to_string(t.rows) + " x " + std::to_string(t.cols) + "] in " + name_of(t.space);
}

/// Whether rules other than that for hidden rows show a key to a query, straight from what they say.
bool is_seen(const Problem& p, Index row, Index key) {
    const Index place = row + first_place(p);
    const BlockMask* blocks = p.mask.blocks();
    const Documents* documents = p.mask.documents();
    return (!p.mask.right() || key <= place + *p.mask.right()) && (!p.mask.left() || key >= place - *p.mask.left()) &&
           (!documents || documents->at(place) == documents->at(key)) && (!blocks || blocks->sees(row, key));
}

/// The scaled logits of a query row with the keys that it sees, in double precision.
std::vector<double> logits(const Problem& p, const Inputs& in, Index slice, Index row) {
    const double scale = p.scale ? *p.scale : 1 / std::sqrt(static_cast<double>(p.dim));
    const Index kv = slice / p.heads * p.kv_heads + slice % p.heads / (p.heads / p.kv_heads);
    std::vector<float> q(static_cast<std::size_t>(p.dim)), k(static_cast<std::size_t>(p.seq_k * p.dim));
    exact(in, "Q").read(slice, {row, 1}, {0, p.dim}, q.data());
    exact(in, "K").read(kv, {0, p.seq_k}, {0, p.dim}, k.data());
    std::vector<double> all(static_cast<std::size_t>(p.seq_k)), seen;
    for (std::size_t c = 0; c < all.size(); ++c) {
        for (std::size_t x = 0; x < q.size(); ++x) all[c] += static_cast<double>(q[x]) * k[c * q.size() + x];
        all[c] *= scale;
        if (is_seen(p, row, static_cast<Index>(c))) seen.push_back(all[c]);
    }
    if (!seen.empty() || p.mask.hidden_rows() == HiddenRows::zero) return seen;
    return p.mask.hidden_rows() == HiddenRows::mean ? std::vector<double>(all.size()) : all;
}

template <class F>
void for_rows(const Problem& p, F&& f) {
    for (Index slice = 0; slice < p.batch_heads(); ++slice)
        for (Index row = 0; row < p.seq_q; ++row) f(slice, row);
}

double greatest(const Storage& x) {
    double m = 0;
    for (const float v : contents(x)) m = std::max(m, std::abs(static_cast<double>(v)));
    return m;
}

double greatest_logit(const Problem& p, const Inputs& in) {
    double m = 0;
    for_rows(p, [&](Index slice, Index row) {
        for (const double s : logits(p, in, slice, row)) m = std::max(m, std::abs(s));
    });
    return m;
}

/// Half the distance from 1 to the next number.
double unit_roundoff(Dtype t) {
    switch (t) {
        case Dtype::f32:
            return 0x1p-24;
        case Dtype::f16:
            return 0x1p-11;
        case Dtype::e4m3:
            return 0x1p-4;
        case Dtype::e5m2:
            return 0x1p-3;
        default:
            return 0x1p-8;
    }
}

/// What a weight below the smallest normal number of the type loses at most.
double tiny_of(Dtype t) {
    return t == Dtype::f16 ? 0x1p-25 : t == Dtype::e4m3 ? 0x1p-10 : t == Dtype::e5m2 ? 0x1p-17 : 0;
}

/// The error of O from combining parts by their LSE in f32: weights exp(LSE_s - LSE) are off by a factor of up to
/// e^(2 u |LSE|), and O by this share of the distance between parts.
double rounding_of_lse(const Outcome& o, const Inputs& in) {
    double most = 0;
    for (const TensorInfo& t : o.tensors)
        if (t.name == "LSE_s")
            for (const float x : contents(*t.data))
                if (std::isfinite(x)) most = std::max(most, std::abs(static_cast<double>(x)));
    return 2 * greatest(exact(in, "V")) * std::expm1(2 * 0x1p-24 * most);
}

/// How far the output may be off. In f32, 1e-5: sums of up to 70 terms near 1, with some room. In the narrow types each
/// rounding moves O, which is an average of rows of V, by at most u max|V| (u: the unit roundoff). P is rounded once,
/// and O every time that it is written. Stored logits change their softmax by e^(2 u max|S|) - 1. P below the smallest
/// normal number loses up to tiny_of() a key instead. Softmax itself rounds once; its numbers are at most 1.
double allowed(const Algorithm& a, const Case& c, const Outcome& o, const Inputs& in, double max_logit) {
    const Problem& p = c.problem;
    const double u = unit_roundoff(p.query_type());
    if (a.computes == &computation::softmax) return p.dtype == Dtype::f32 ? 1e-5 : u + 1e-5;
    const double lse = rounding_of_lse(o, in);
    if (p.query_type() == Dtype::f32) return greatest(exact(in, "V")) * 1e-5 + 1e-5 + lse;
    bool stores_logits = false;
    for (const TensorInfo& t : o.tensors) stores_logits |= t.role == Role::scratch && t.meaning == Meaning::score;
    const bool once = o.moved("O").write <= o.tensor("O").bytes();
    const double roundings = 1 + (once ? 1 : static_cast<double>(ceil_div(p.seq_k, c.tiling.bc)));
    const double softmax = stores_logits ? std::expm1(2 * unit_roundoff(p.score_type()) * max_logit) : 0;
    const double tiny = tiny_of(p.query_type()) * static_cast<double>(p.seq_k);
    return greatest(exact(in, "V")) * (1.1 * roundings * u + softmax + tiny) + lse + 1e-5;
}

/// How far gradients may be off, relative to the sum of absolute values of their terms. In f32, 1e-5. In the narrow
/// types, a rounding for each of P, dP, dS and O, and one for every time that the gradient is written. Plus the error
/// of P from an LSE in f32. P or dS below the smallest normal f16 loses up to 2^-25 times the number that it is
/// multiplied with.
std::map<std::string, double> allowed_of_gradients(const Case& c, const Outcome& o, const Inputs& in) {
    const Problem& p = c.problem;
    std::map<std::string, double> most;
    double lse = 0;
    for (const float x : contents(*in.at("LSE")))
        if (std::isfinite(x)) lse = std::max(lse, std::abs(static_cast<double>(x)));
    const double u = p.dtype == Dtype::f32 ? 0 : unit_roundoff(p.dtype);
    const auto of = [&](const char* name) { return greatest(*in.at(name)); };
    const double terms = static_cast<double>(std::max(p.seq_q * p.heads / p.kv_heads, p.seq_k));
    const double tiny = p.dtype != Dtype::f16 ? 0
                                              : 0x1p-25 * terms * (1 + std::abs(static_cast<double>(p.logit_scale()))) *
                                                    std::max({1.0, of("Q"), of("K"), of("dO")}) *
                                                    (1 + 2 * static_cast<double>(p.dim_v) * of("dO") * of("V"));
    for (const auto& [name, size] : testing::PlainAttention(p, in).gradients().sizes) {
        const auto trips = static_cast<double>(o.moved(name).write / o.tensor(name).bytes());
        most[name] = size * (1.1 * u * (4 + trips) + 1e-5 + std::expm1(0x1p-22 * lse)) + tiny + 1e-9;
    }
    return most;
}

OutputError error_of(const Algorithm& a, const Case& c, const Outcome& o, const Inputs& in) {
    return error_of(*a.computes, c.problem, in, o.output().data, 1);
}

/// The allowed error of an output by its name: row statistics to 1e-4 of their size.
double allowed(const Algorithm& a, const Case& c, const Outcome& o, const Inputs& in, double max_logit,
               const std::string& name) {
    if (a.computes == &computation::attention_backward) return allowed_of_gradients(c, o, in).at(name);
    return name == a.computes->output ? allowed(a, c, o, in, max_logit) : 1e-4;
}

/// Compares every output that the computation defines with the reference.
void check_outputs(const Algorithm& a, const Case& c, const Outcome& o, const Inputs& in, double max_logit) {
    Outputs outputs;
    for (const TensorInfo& t : o.tensors)
        if (t.role == Role::output) outputs[t.name] = t.data;
    const OutputErrors errors = compare_with_reference(*a.computes, c.problem, in, {outputs}, 1)[0];
    CHECK(errors.size() == outputs.size());
    for (const auto& [name, e] : errors) {
        INFO(name);
        CHECK(e.not_finite == 0);
        CHECK(e.finite_instead == 0);
        CHECK(e.elements == outputs.at(name)->size());
        if (name == a.computes->output) CHECK(e.compared == e.elements);
        CHECK(e.max_abs <= allowed(a, c, o, in, max_logit, name));
    }
}

/// Logits of 10240 + 0 to 6 steps in even rows and -10240 + 0 to 6 steps in odd ones. A step is 1 in f32 and 64 in the
/// narrow types, so that the types hold every logit exactly.
Inputs large_logits(const Algorithm& a, const Case& c) {
    Inputs in = random_inputs(a.tensors(c.problem, c.tiling), c.seed, Distribution::normal);
    const float step = c.problem.dtype == Dtype::f32 ? 1 : 64;
    for (auto& [name, tensor] : in) {
        std::vector<float> x(static_cast<std::size_t>(tensor->size()));
        for (Index k = 0; k < tensor->size(); ++k) {
            const Index row = k / tensor->cols() % tensor->rows(), col = k % tensor->cols();
            const float sign = row % 2 ? -1 : 1, wave = static_cast<float>(row % 7);
            float v = 0;
            if (name == "X") v = sign * 10240 + step * static_cast<float>(col % 7);
            if (name == "Q") v = col == 0 ? sign * 128 : col == 1 ? step : 0;
            if (name == "K") v = col == 0 ? 80 : col == 1 ? wave : 0;
            x[static_cast<std::size_t>(k)] = v;
        }
        if (name == "X" || name == "Q" || name == "K") tensor->write(0, x);
    }
    return with_saved(a, c.problem, in);
}

/// The RMS error of one head's rows of O after they are rounded to `dtype` once.
double rms_of_rounding(const Case& c, const Inputs& in) {
    const Problem& p = c.problem;
    double sum = 0;
    const std::vector<double> o = reference_rows(computation::attention, p, in, 0, {0, p.seq_q});
    for (const double exact : o) {
        float x = static_cast<float>(exact);
        round_to(p.dtype, &x, 1);
        sum += (x - exact) * (x - exact);
    }
    return std::sqrt(sum / static_cast<double>(o.size()));
}

}  // namespace

TEST_CASE("every algorithm describes itself completely", "[registry]") {
    std::set<std::string> names;
    std::set<std::pair<const Computation*, int>> rungs;
    for (const Algorithm& a : algorithms()) {
        INFO(a.name);
        CHECK(names.insert(a.name).second);
        CHECK(rungs.insert({a.computes, a.lineage.rung}).second);
        CHECK(find_algorithm(a.name) == &a);
        CHECK_FALSE((idea_of(a).empty() || std::string(a.paper.source).empty()));
        REQUIRE_FALSE(a.code.empty());
        for (std::size_t k = 0; k < a.code.size(); ++k) {
            CHECK(a.code[k].number > (k == 0 ? 0 : a.code[k - 1].number));
            CHECK_FALSE(std::string(a.code[k].code).empty());
        }
        std::set<std::string> tensors;
        for (const TensorDecl& t : a.tensors({}, {64, 64})) CHECK(tensors.insert(t.name).second);
        CHECK(tensors.count(a.computes->output) == 1);
    }
    for (const Algorithm& a : algorithms())
        if (a.lineage.formerly) {
            INFO(a.lineage.formerly);
            CHECK(names.insert(a.lineage.formerly).second);  // the former name is no other algorithm's, now or before
            CHECK(find_algorithm(a.lineage.formerly) == &a);
        }
    CHECK(find_algorithm("safe_softmax") == find_algorithm("three_pass"));
    CHECK(find_algorithm("online_softmax") == find_algorithm("two_pass"));
    CHECK(find_algorithm("Flash_v1") == nullptr);
    CHECK(find_algorithm("") == nullptr);
    CHECK(names.size() >= 10);
}

TEST_CASE("every algorithm counts the same folded, exact and numeric", "[registry]") {
    for_all(seeds(120), [](const Algorithm& a, const Case& c) {
        const Inputs in = as_stored(c, inputs_for(a, c));
        for (const GpuSpec& gpu : machines(a, c)) {
            INFO("registers " << gpu.registers_per_sm << " B, SRAM " << gpu.sram_per_block << " B");
            const Outcome folded = run(a, c, gpu, count_mode);
            CHECK(difference(folded, run(a, c, gpu, exact_mode)) == "");
            CHECK(difference(folded, run(a, c, gpu, numeric_mode, in)) == "");
        }
    });
}

TEST_CASE("less memory than the counted peaks is not enough, in any mode", "[registry]") {
    for_all(20, [](const Algorithm& a, const Case& c) {
        const Outcome o = run(a, c, roomy(), count_mode);
        const Inputs in = as_stored(c, inputs_for(a, c));
        for (const Mode mode : {count_mode, exact_mode, numeric_mode}) {
            if (o.sram_peak > 0)
                CHECK_THROWS_AS(run(a, c, machine(o.sram_peak - 1, o.register_peak), mode, in), OutOfChipMemory);
            // These two programs keep whole rows. With fewer registers, they read rows again instead.
            if (a.name == std::string("standard") || a.name == std::string("standard_backward")) continue;
            CHECK_THROWS_AS(run(a, c, machine(o.sram_peak, o.register_peak - 1), mode, in), OutOfChipMemory);
        }
    });
}

TEST_CASE("events add up to the counts, name lines that exist, and change nothing", "[registry]") {
    for_all(20, [](const Algorithm& a, const Case& c) {
        const Inputs in = as_stored(c, inputs_for(a, c));
        std::set<std::uint16_t> numbers;
        for (const CodeLine& line : a.code) numbers.insert(line.number);
        for (const Mode mode : {count_mode, exact_mode, numeric_mode}) {
            Witness witness;
            const Outcome heard = run(a, c, roomy(), mode, in, 2, &witness), unheard = run(a, c, roomy(), mode, in, 2);
            CHECK(difference(heard, unheard) == "");
            CHECK(witness.total == heard.counters);
            CHECK(witness.has_data == mode.data);
            for (const auto& [line, operations] : witness.lines) {
                CAPTURE(line);
                CHECK(numbers.count(line) == 1);
            }
            for (std::size_t t = 0; mode.data && t < heard.tensors.size(); ++t)
                CHECK(same_bits(*heard.tensors[t].data, *unheard.tensors[t].data));
        }
    });
}

TEST_CASE("a line of the pseudo-code costs the same folded and exact", "[registry]") {
    for_all(40, [](const Algorithm& a, const Case& c) {
        Profile folded, exact;
        run(a, c, roomy(), count_mode, {}, 1, &folded);
        run(a, c, roomy(), exact_mode, {}, 1, &exact);
        CHECK(folded.lines().size() == exact.lines().size());
        for (const auto& [number, line] : exact.lines()) {
            CAPTURE(number);
            REQUIRE(folded.lines().count(number) == 1);
            const LineProfile& same = folded.lines().at(number);
            CHECK(line.visits == same.visits);
            CHECK(line.cost == same.cost);
            CHECK(line.traffic == same.traffic);
            std::set<std::string> all, some;
            for (const TileUse& t : line.tiles) all.insert(text(t));
            for (const TileUse& t : same.tiles) some.insert(text(t));
            CHECK(all == some);
        }
    });
}

TEST_CASE("operations happen on lines of the pseudo-code that speak of them", "[registry]") {
    const std::vector<std::pair<const char*, const char*>> words = {
        {"load", " read "},    {"store", " write "}, {"reduce_add", " add "}, {"exp", "exp"},
        {"exp_minus", "exp"},  {"row_max", "max"},   {"row_sum", "rowsum"},   {"update_row_max", "max"},
        {"update_max", "max"}, {"divide_rows", "/"}, {"add_log", "log"}};
    std::map<std::pair<std::string, std::uint16_t>, bool> moved;  // by line that speaks of a read or write
    for_all(0, [&](const Algorithm& a, const Case& c) {
        Witness witness;
        run(a, c, roomy(), exact_mode, {}, 1, &witness);
        for (const CodeLine& line : a.code) {
            const auto found = witness.lines.find(line.number);
            const std::set<std::string> happened =
                found == witness.lines.end() ? std::set<std::string>() : found->second;
            const std::string code = std::string(" ") + line.code;
            INFO("line " << line.number << ": " << code);
            for (const auto& [operation, word] : words) {
                INFO(operation);
                if (happened.count(operation) > 0) CHECK(contains(code, word));
            }
            const bool moves = happened.count("load") + happened.count("store") > 0;
            const bool speaks = contains(code, " read ") || contains(code, " write ");
            if (moves) CHECK(speaks);
            // A line that applies to some types only is not visited for other types.
            if (!c.problem.mask.hides() && found != witness.lines.end()) CHECK(speaks == moves);
            if (speaks) moved[{a.name, line.number}] |= moves;
        }
    });
    for (const auto& [line, ever] : moved) {
        INFO(line.first << ", line " << line.second);
        CHECK(ever);
    }
}

TEST_CASE("every output is right, on any machine", "[registry]") {
    for_all(seeds(200), [](const Algorithm& a, const Case& c) {
        const Inputs in = as_stored(c, inputs_for(a, c));
        const double max_logit = a.computes == &computation::attention ? greatest_logit(c.problem, in) : 0;
        for (const GpuSpec& gpu : machines(a, c)) {
            INFO("registers " << gpu.registers_per_sm << " B");
            const Outcome o = run(a, c, gpu, numeric_mode, in);
            check_outputs(a, c, o, in, max_logit);
        }
    });
}

TEST_CASE("a mask needs nothing of a program that skips and masks tiles", "[registry][mask][numbers]") {
    Count partly = 0, blind = 0;
    const auto each_mask = [&](std::uint64_t n) { return n % 2 ? window_case(n / 2 + 1) : pattern_case(n / 2 + 1); };
    for (std::uint64_t n = 0; n < seeds(300); ++n) {
        const Case each = each_mask(n);
        for (const Algorithm& a : algorithms()) {
            if (!a.supports.has(Feature::mask)) continue;
            const Case c = as_supported(a, each);
            INFO(to_string(a, c) << ", mask " << c.problem.mask.name() << ", case " << n);
            const Inputs in = as_stored(c, inputs_for(a, c));
            const Outcome counted = run(a, c, roomy(), count_mode), o = run(a, c, roomy(), numeric_mode, in);
            CHECK((counted.counters == o.counters));
            const Prediction p = a.predict(c.problem, c.tiling, roomy());
            CHECK(p.hbm_read == counted.counters.hbm_read);
            CHECK(p.hbm_write == counted.counters.hbm_write);
            CHECK(p.matmul_flops == counted.counters.matmul_flops);
            CHECK(p.exps == counted.counters.exps);
            CHECK(p.other_flops == counted.counters.other_flops);
            CHECK(p.hbm_reduce == counted.counters.hbm_reduce);
            if (c.problem.softmax == Softmax::safe) check_outputs(a, c, o, in, 60);
        }
        for (Index row = 0; row < each.problem.seq_q; ++row) {
            Index keys = 0;
            for (Index k = 0; k < each.problem.seq_k; ++k) keys += each.problem.sees(row, k);
            partly += keys > 0 && keys < each.problem.seq_k, blind += keys == 0;
        }
    }
    CHECK(partly > static_cast<Count>(seeds(1500)));
    CHECK(blind > static_cast<Count>(seeds(300)));
}

TEST_CASE("what an algorithm does not do is refused, and says who does", "[registry][features]") {
    Problem naive;
    naive.softmax = Softmax::naive;
    for (const Algorithm& a : algorithms()) {
        if (a.computes != &computation::attention) continue;
        const auto refusal = refuses(a, naive);
        INFO(a.name);
        CHECK(refusal.has_value() != a.supports.has(Feature::naive_softmax));
        CHECK_FALSE(refuses(a, Problem()).has_value());
        if (!refusal) continue;
        CHECK(refusal->feature == Feature::naive_softmax);
        REQUIRE_FALSE(refusal->instead.empty());
        for (const Algorithm* other : refusal->instead) CHECK_FALSE(refuses(*other, naive));
        CHECK_THROWS_AS(run(a, {naive, {16, 16}}, roomy(), count_mode), UsageError);
    }
}

TEST_CASE("inputs are only read, and every element of every output is written", "[registry]") {
    for (const Dtype t : {Dtype::f32, Dtype::f16, Dtype::bf16}) CHECK(std::isnan(contents(Storage(t, 1, 1, 1))[0]));
    for_all(60, [](const Algorithm& a, const Case& c) {
        const Outcome o = run(a, c, roomy(), numeric_mode, as_stored(c, inputs_for(a, c)));
        for (const TensorInfo& t : o.tensors) {
            INFO(t.name);
            const Traffic& moved = o.moved(t.name);
            if (t.role == Role::input) CHECK(moved.write == 0);
            if (t.role == Role::input && !c.problem.mask.hides()) CHECK(moved.read >= t.bytes());
            if (t.role != Role::output) continue;
            CHECK(moved.write >= t.bytes());
            Count missing = 0;
            for (const float x : contents(*t.data)) missing += std::isnan(x);
            CHECK(missing == 0);
        }
    });
}

TEST_CASE("rows that see no key give 0, and -inf as log-sum-exp", "[registry]") {
    Count blind = 0;
    for_all(100, [&](const Algorithm& a, const Case& c) {
        if (a.computes != &computation::attention) return;
        const Inputs in = as_stored(c, inputs_for(a, c));
        const Outcome o = run(a, c, roomy(), numeric_mode, in);
        const bool has_lse =
            std::any_of(o.tensors.begin(), o.tensors.end(), [](const auto& t) { return t.name == "LSE"; });
        const std::vector<float> out = contents(*o.output().data);
        // Where sums of products keep fewer bits than f32, scores are off by their last one.
        const int bits = a.supports.has(Feature::accumulator) ? sum_bits(c.problem, roomy()) : 0;
        const std::vector<float> lse = has_lse ? contents(*o.tensor("LSE").data) : std::vector<float>{};
        for_rows(c.problem, [&](Index slice, Index row) {
            const std::vector<double> s = logits(c.problem, in, slice, row);
            const Index at = slice * c.problem.seq_q + row, dv = c.problem.dim_v;
            double sum = 0, greatest = 1;
            for (const double x : s) sum += std::exp(x), greatest = std::max(greatest, std::abs(x));
            const double allowed = 1e-5 + (bits > 0 ? std::ldexp(greatest, 1 - bits) : 0);
            if (s.empty()) {
                ++blind;
                for (Index k = 0; k < dv; ++k)
                    if (out[static_cast<std::size_t>(at * dv + k)] != 0) FAIL("O, row " << row);
                if (has_lse && lse[static_cast<std::size_t>(at)] != -infinity) FAIL("LSE, row " << row);
            } else if (has_lse && !(std::abs(lse[static_cast<std::size_t>(at)] - std::log(sum)) <= allowed)) {
                FAIL("LSE, row " << row << " is " << lse[static_cast<std::size_t>(at)] << ", expected "
                                 << std::log(sum));
            }
        });
    });
    CHECK(blind > static_cast<Count>(seeds(5000)));
}

TEST_CASE("large logits do no harm to a safe softmax", "[registry][numbers]") {
    for_all(60, [](const Algorithm& a, Case c) {
        c.problem.scale = 1;
        c.problem.softmax = Softmax::safe;
        if (!safe(a, c.problem) || c.problem.uses(Feature::eight_bits)) return;  // 8 bits do not hold these
        const Inputs in = large_logits(a, c);
        for (const GpuSpec& gpu : machines(a, c)) {
            const Outcome o = run(a, c, gpu, numeric_mode, in);
            const OutputError e = error_of(a, c, o, in);
            CHECK(e.not_finite == 0);
            CHECK(e.max_abs <= allowed(a, c, o, in, 0, a.computes->output));  // the type holds the logits exactly
        }
    });
}

TEST_CASE("large logits overflow a naive softmax, which shows and is counted", "[registry]") {
    Count overflown = 0;
    for_all(60, [&](const Algorithm& a, Case c) {
        c.problem.scale = 1;
        c.problem.softmax = Softmax::naive;
        if (safe(a, c.problem) || c.problem.uses(Feature::eight_bits)) return;
        c.problem.passes = {};  // some lists of passes subtract a maximum
        const Inputs in = large_logits(a, c);
        const bool attention = a.computes == &computation::attention;
        Count rows = 0;  // rows that see any logits of +10240
        for_rows(c.problem, [&](Index slice, Index row) {
            const auto is_large = [](double x) { return x > 5000; };
            const std::vector<double> s = attention ? logits(c.problem, in, slice, row) : std::vector<double>{};
            rows += row % 2 == 0 && (!attention || std::any_of(s.begin(), s.end(), is_large));
        });
        for (const GpuSpec& gpu : machines(a, c)) {
            const OutputError e = error_of(a, c, run(a, c, gpu, numeric_mode, in), in);
            CHECK(e.not_finite == rows * (attention ? c.problem.dim_v : c.problem.seq_k));
        }
        overflown += rows;
    });
    CHECK(overflown > 1000);
}

TEST_CASE("results do not depend on the number of threads", "[registry][threads]") {
    for_all(20, [](const Algorithm& a, const Case& c) {
        const Inputs in = as_stored(c, inputs_for(a, c));
        const Outcome one = run(a, c, roomy(), numeric_mode, in, 1);
        for (const int threads : {2, 5}) {
            CAPTURE(threads);
            const Outcome many = run(a, c, roomy(), numeric_mode, in, threads);
            CHECK(difference(one, many) == "");
            for (std::size_t t = 0; t < one.tensors.size(); ++t)
                CHECK(same_bits(*one.tensors[t].data, *many.tensors[t].data));
        }
    });
}

TEST_CASE("no algorithm loses more to rounding than standard, but for the trips of its O",
          "[registry][precision][numbers]") {
    for (const Dtype dtype : {Dtype::f16, Dtype::bf16})
        for (const Index bc : {16, 64})
            for (std::uint64_t seed = 1; seed <= 1 + seeds(1); ++seed) {
                Case c{{}, {64, bc}, seed};
                c.problem.heads = c.problem.kv_heads = 2;
                c.problem.seq_q = c.problem.seq_k = 512;
                c.problem.dtype = dtype;
                const Algorithm& standard = *find_algorithm("standard");
                const Inputs in = inputs_for(standard, c);
                const double worst = error_of(standard, c, run(standard, c, roomy(), numeric_mode, in), in).rms;
                for (const Algorithm& a : algorithms()) {
                    if (a.computes != &computation::attention) continue;
                    const Outcome o = run(a, c, roomy(), numeric_mode, in);
                    // Every time that an unfinished O goes to HBM, it is rounded once more. 2% of room for chance.
                    const double trips = static_cast<double>(o.moved("O").write / o.tensor("O").bytes() - 1);
                    const double rounding = rms_of_rounding(c, in);
                    INFO(to_string(a, c) << ", standard has " << worst << ", O rounded once " << rounding);
                    CHECK(error_of(a, c, o, in).rms <= 1.02 * std::hypot(worst, std::sqrt(trips) * rounding));
                }
            }
}
