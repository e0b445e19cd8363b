#include "tests/support/problems.hpp"

#include <cmath>
#include <cstring>
#include <ostream>
#include <random>
#include <sstream>

#include "algorithms/contract/block_mask.hpp"
#include "algorithms/contract/choices.hpp"
#include "algorithms/contract/exact.hpp"
#include "algorithms/contract/hidden_rows.hpp"
#include "algorithms/contract/pass_lists.hpp"
#include "algorithms/contract/scales.hpp"
#include "lab/model/mapping.hpp"
#include "lab/run/experiment.hpp"

namespace tilescope {
using namespace lab;
namespace {

constexpr Dtype dtypes[] = {Dtype::f32, Dtype::f16, Dtype::bf16};

/// Gives the same numbers for a seed with every standard library, unlike std::uniform_int_distribution.
class Random {
  public:
    explicit Random(std::uint64_t seed) : engine_(seed) {}
    Index between(Index least, Index most) {
        return least + static_cast<Index>(engine_() % static_cast<std::uint64_t>(most - least + 1));
    }
    /// Every order of magnitude is equally likely.
    Index magnitude(Index least, Index most) {
        const double share = static_cast<double>(between(0, 1 << 20)) / (1 << 20), low = static_cast<double>(least);
        return static_cast<Index>(std::lround(low * std::pow(static_cast<double>(most) / low, share)));
    }
    bool one_in(Index n) { return between(1, n) == 1; }

  private:
    std::mt19937_64 engine_;
};

Problem sized(Index seq_q, Index seq_k, Index dim, Index dim_v) {
    Problem p;
    p.heads = p.kv_heads = 1;
    p.seq_q = seq_q, p.seq_k = seq_k, p.dim = dim, p.dim_v = dim_v;
    return p;
}

Problem grouped(Problem p, Index batch, Index heads, Index kv_heads) {
    p.batch = batch, p.heads = heads, p.kv_heads = kv_heads;
    return p;
}

}  // namespace

std::vector<Case> corner_cases() {
    const std::vector<Case> shapes = {
        {sized(16, 16, 8, 8), {4, 8}},                       // tiles divide everything
        {sized(13, 17, 5, 5), {4, 6}},                       // ragged both ways
        {sized(9, 23, 4, 4), {4, 5}},                        // more keys than queries
        {sized(23, 9, 4, 4), {5, 4}},                        // causal: the first rows see no key
        {sized(40, 3, 4, 2), {8, 2}},                        // causal: the first row blocks see no key
        {sized(12, 15, 3, 7), {5, 4}},                       // V wider than Q
        {sized(12, 15, 9, 1), {5, 4}},                       // V narrower
        {sized(19, 25, 4, 150), {4, 6}},                     // O has more columns than registers hold
        {sized(1, 19, 6, 6), {1, 4}},                        // one query
        {sized(19, 1, 6, 6), {4, 1}},                        // one key
        {sized(18, 14, 1, 1), {4, 4}},                       // one column
        {sized(1, 1, 1, 1), {1, 1}},                         // one of everything
        {grouped(sized(11, 14, 4, 5), 3, 6, 2), {4, 4}},     // three heads share K and V
        {grouped(sized(10, 10, 4, 4), 2, 5, 5), {3, 4}},     // a batch of heads that share nothing
        {sized(14, 11, 4, 4), {100, 90}},                    // tiles beyond the problem
        {sized(13, 9, 3, 3), {1, 1}},                        // tiles of one score
        {sized(30, 33, 4, 4), {1, 33}},                      // tiles of one row
        {sized(30, 33, 4, 4), {30, 1}},                      // tiles of one column
        {grouped(sized(70, 67, 16, 12), 1, 2, 1), {16, 32}}  // the largest of these
    };
    std::vector<Case> all;
    for (Case c : shapes)
        for (const bool causal : {false, true}) {
            c.problem.mask = causal ? Mask::causal() : Mask();
            c.problem.dtype = dtypes[all.size() % 3];
            c.tiling.splits = static_cast<Index>(all.size() / 2) % 6;  // sometimes more parts than key blocks
            c.seed = all.size() + 1;
            all.push_back(c);
        }
    for (const std::size_t shape : {2U, 3U, 4U, 8U, 12U}) {  // some shapes whose numbers of queries and keys differ
        Case c = all[2 * shape + 1];
        c.problem.corner = Corner::top_left;
        all.push_back(c);
    }
    return all;
}

std::vector<Case> typed_cases() {
    std::vector<Case> all;
    const Case ragged = corner_cases()[3];
    using Types = std::pair<std::optional<Dtype>, std::optional<Dtype>>;  // types of S and P
    for (const auto& [scores, weights] : {Types{Dtype::f32, {}}, {Dtype::f32, Dtype::bf16}, {{}, Dtype::f32}}) {
        Case c = ragged;
        c.problem.dtype = Dtype::bf16, c.problem.scores = scores, c.problem.weights = weights;
        all.push_back(c);
    }
    for (const char* passes : {"typed", "math", "product+scale/mask+max/exp/sum/divide/product"}) {
        Case c = ragged;
        c.problem.dtype = Dtype::f16, c.problem.passes = passes_from(passes), c.problem.mask = Mask::causal();
        all.push_back(c);
    }
    for (const Case& c : eight_bit_cases()) all.push_back(c);
    return all;
}

std::vector<Case> hidden_row_cases() {
    constexpr HiddenRows rules[] = {HiddenRows::mean, HiddenRows::unmasked};
    std::vector<Case> all;
    const auto add = [&](Case c) {
        Problem& p = c.problem;
        p.mask = p.mask.with(rules[all.size() % 2], p.queries(), p.seq_k, p.diagonal());
        if (p.mask.blind()) all.push_back(c);
    };
    const std::vector<Case> shapes = corner_cases();
    for (const std::size_t shape : {3U, 3U, 4U, 4U, 12U, 12U, 15U, 18U}) {  // causal, Nq > Nk among them
        Case c = shapes[2 * shape + 1];
        // The two keys before its own: the first rows of some shapes see none, and the last ones of others.
        if (all.size() % 3 != 0) c.problem.mask = Mask::window(2, -1);
        add(c);
    }
    for (std::uint64_t seed = 1; seed <= 40; ++seed) add(pattern_case(seed));
    return all;
}

std::vector<Case> eight_bit_cases() {
    using Types = std::pair<Dtype, Dtype>;  // of Q, and of K and V
    constexpr Types types[] = {{Dtype::e4m3, Dtype::e4m3},
                               {Dtype::f16, Dtype::e4m3},
                               {Dtype::e5m2, Dtype::e5m2},
                               {Dtype::f32, Dtype::i8},
                               {Dtype::bf16, Dtype::e5m2}};
    const std::vector<Case> shapes = corner_cases();
    // Blocks that divide tiles, that tiles divide, and neither.
    constexpr const char* scales[] = {"token", "head", "5", "3", "none", "2", "tensor", "16"};
    std::vector<Case> all;
    // Ragged both ways, rows that see no key, V narrower, one query, one key, grouped heads, large: causal or not.
    for (const std::size_t shape : {1U, 3U, 6U, 8U, 9U, 12U, 13U, 18U}) {
        Case c = shapes[2 * shape + all.size() % 2];
        const auto& [q, kv] = types[all.size() % std::size(types)];
        c.problem.dtype = q;
        set_scales(c.problem, scales[all.size()]);
        if (kv != q) c.problem.kv_dtype = kv;
        constexpr Index kept[] = {13, 16, 0};
        if (size_of(q) == 1) c.problem.sum_bits = kept[all.size() % std::size(kept)];
        c.problem.rotated = (c.problem.dim & (c.problem.dim - 1)) == 0;
        c.problem.p_scale = all.size() % 2 == 0 ? 16 : 1, c.problem.stale_max = all.size() % 3 == 0 ? 2 : 0;
        all.push_back(c);
    }
    return all;
}

Case random_case(std::uint64_t seed) {
    Random r(seed);
    Problem p;
    p.seq_q = r.magnitude(1, 70);
    p.seq_k = r.magnitude(1, 70);
    p.dim = r.magnitude(1, 24);
    p.dim_v = r.one_in(2) ? p.dim : r.magnitude(1, 24);
    if (seed % 16 == 5) p.dim_v += 128;  // more columns than registers hold
    p.batch = r.between(1, 2);
    p.kv_heads = r.between(1, 2);
    p.heads = p.kv_heads * r.between(1, 2);
    p.dtype = dtypes[r.between(0, 2)];
    if (r.one_in(2)) p.mask = Mask::causal();
    if (r.one_in(4)) p.scale = 0.25;
    if (r.one_in(8)) p.softmax = Softmax::naive;
    Case c{p, {r.magnitude(1, 80), r.magnitude(1, 80)}, seed};
    c.tiling.splits = r.magnitude(1, 24);
    return c;
}

Case as_supported(const Algorithm& algorithm, Case c) {
    if (!algorithm.supports.has(Feature::naive_softmax)) c.problem.softmax = Softmax::safe;
    if (!algorithm.supports.has(Feature::bias)) c.problem.bias = {};
    if (!algorithm.supports.has(Feature::alibi)) c.problem.alibi = 0;
    if (!algorithm.supports.has(Feature::soft_cap)) c.problem.soft_cap = std::nullopt;
    if (!algorithm.supports.has(Feature::dropout)) c.problem.dropout = {};
    if (!algorithm.supports.has(Feature::score_types)) c.problem.scores = c.problem.weights = std::nullopt;
    if (!algorithm.supports.has(Feature::passes)) c.problem.passes = {};
    if (!algorithm.supports.has(Feature::eight_bits) && c.problem.uses(Feature::eight_bits)) {
        c.problem.dtype = c.problem.output_type();
        c.problem.q_dtype = c.problem.kv_dtype = std::nullopt;
        set_scales(c.problem, "head");
        c.problem.rotated = false;
    }
    if (!algorithm.supports.has(Feature::hidden_rows))
        c.problem.mask = c.problem.mask.with(HiddenRows::zero, c.problem.seq_q, c.problem.seq_k, c.problem.diagonal());
    if (!algorithm.supports.has(Feature::accumulator)) c.problem.sum_bits = std::nullopt;
    if (!algorithm.supports.has(Feature::weight_range)) c.problem.p_scale = 1, c.problem.stale_max = 0;
    if (!has_splits(algorithm.knobs)) c.tiling.splits = 0;
    return c;
}

Case window_case(std::uint64_t seed) {
    Case c = random_case(seed);
    Random r(seed + 1'000'000);
    const auto bound = [&]() -> std::optional<Index> {
        return r.one_in(4) ? std::nullopt : std::optional(r.between(0, 40) - 4);
    };
    const auto left = bound(), right = bound();
    c.problem.mask = Mask::window(left, right);
    if (seed % 5 == 0) c.problem.corner = Corner::top_left;
    return c;
}

Case pattern_case(std::uint64_t seed) {
    Random r(seed + 2'000'000);
    Case c = r.one_in(2) ? random_case(seed) : window_case(seed);
    Problem& p = c.problem;
    if (r.one_in(2)) {
        std::vector<Index> lengths;
        for (Index left = p.seq_k; left > 0; left -= lengths.back()) lengths.push_back(r.magnitude(1, left));
        p.mask = p.mask.with(Documents(lengths));
    }
    if (!p.mask.documents() || r.one_in(3)) {
        BlockMask m{"random", r.magnitude(1, 30), r.magnitude(1, 30), 0, 0, {}};
        m.rows = ceil_div(p.seq_q, m.block_rows), m.cols = ceil_div(p.seq_k, m.block_cols);
        const Index share = r.between(1, 4);
        for (Index k = 0; k < m.rows * m.cols; ++k) m.seen.push_back(r.one_in(share));
        p.mask = p.mask.with(m);
    }
    return c;
}

Case score_case(std::uint64_t seed) {
    Case c = seed % 3 == 0 ? window_case(seed) : seed % 3 == 1 ? pattern_case(seed) : random_case(seed);
    Random r(seed + 2'000'000);
    Problem& p = c.problem;
    // A window that holds no key for any query is replaced.
    if (p.mask.left() && p.mask.right() && *p.mask.left() + *p.mask.right() < 0) p.mask = Mask::causal();
    p.batch = r.between(1, 4);
    const auto term = [&] { return BiasTerm{static_cast<BiasTerm::Batch>(r.between(0, 2)), r.one_in(2), r.one_in(2)}; };
    if (r.one_in(2)) p.bias.terms.push_back(term());
    if (p.bias && r.one_in(2)) p.bias.terms.push_back(term());
    if (p.bias.has_groups() && p.batch % 2 == 0) p.bias.group = 2;
    p.alibi = r.one_in(2) ? p.heads : 0;
    if (r.one_in(2)) p.soft_cap = 1.5;
    if (r.one_in(2)) p.dropout = {0.05 * static_cast<double>(r.between(1, 10)), seed, r.one_in(3)};
    return c;
}

namespace {

/// A random list of passes in the form that --passes takes.
std::string random_passes(Random& r) {
    const auto type = [&] { return r.one_in(3) ? ":f32" : ""; };
    std::string list = r.one_in(4) ? "convert:f32/" : "";
    const bool scaled = r.one_in(4);
    if (scaled) list += std::string("scale") + type() + '/';
    list += "product";
    bool with_product = true;  // whether the last pass is in the product's launch
    const auto next = [&](const char* pass, bool may_join) {
        const bool joins = may_join && r.one_in(2);
        list += joins ? "+" : type() + std::string("/");
        list += pass;
        if (!joins) with_product = false;
    };
    for (const char* pass : {"scale", "cap", "bias", "mask"})
        if (r.one_in(2) && !(scaled && pass == std::string_view("scale"))) next(pass, true);
    const bool converts = r.one_in(4);
    if (converts) next("convert", false);
    if (r.one_in(2)) {
        next("softmax", false);
    } else {
        if (r.one_in(3)) next("max", !with_product && !converts);
        if (list.ends_with("/max"))
            list += "/exp";
        else
            next("exp", false);
        next("sum", true);
        list += list.ends_with("/sum") ? "/divide" : type() + std::string("/divide");
    }
    if (r.one_in(3)) list += type() + std::string("/seen/any/clear");
    if (r.one_in(3)) next("convert", false);
    if (r.one_in(4)) next("copy", false);
    return list + type() + (r.one_in(2) ? "/product:f32/convert" : "/product");
}

}  // namespace

Case passes_case(std::uint64_t seed) {
    Case c = score_case(seed);
    Random r(seed + 3'000'000);
    c.problem.passes = passes_from(random_passes(r));
    const bool whole =
        std::any_of(c.problem.passes.begin(), c.problem.passes.end(), [](auto& l) { return l.has(Pass::softmax); });
    if (!whole) c.problem.softmax = Softmax::safe;
    c.problem.scale = 0.1;  // keeps exponentials in the range of 16 bits where no maximum is subtracted
    return c;
}

Case large_case(std::uint64_t seed) {
    Random r(seed);
    const bool causal = r.one_in(3);
    const Index longest = causal ? 20'000 : 1'000'000;
    Problem p;
    p.seq_q = r.magnitude(1000, longest);
    p.seq_k = r.magnitude(1000, longest);
    p.dim = r.magnitude(1, 256);
    p.dim_v = r.one_in(2) ? p.dim : r.magnitude(1, 256);
    p.batch = r.between(1, 3);
    p.kv_heads = r.between(1, 2);
    p.heads = p.kv_heads * r.between(1, 2);
    p.dtype = dtypes[r.between(0, 2)];
    p.mask = causal ? Mask::causal() : Mask();
    Case c{p, {r.magnitude(causal ? 16 : 1, 512), r.magnitude(causal ? 16 : 1, 512)}, seed};
    c.tiling.splits = r.magnitude(1, 300);
    return c;
}

std::ostream& operator<<(std::ostream& out, const Case& c) {
    const Problem& p = c.problem;
    out << "--batch " << p.batch << " --heads " << p.heads << " --kv-heads " << p.kv_heads << " --seq-q " << p.seq_q
        << " --seq-k " << p.seq_k << " --dim " << p.dim << " --dim-v " << p.dim_v << " --dtype " << name_of(p.dtype);
    if (p.q_dtype) out << " --q-dtype " << name_of(*p.q_dtype);
    if (p.kv_dtype) out << " --kv-dtype " << name_of(*p.kv_dtype);
    if (p.rotated) out << " --rotate";
    if (p.sum_bits) out << " --accumulator " << *p.sum_bits;
    if (p.p_scale != 1) out << " --p-scale " << p.p_scale;
    if (p.stale_max != 0) out << " --stale-max " << p.stale_max;
    if (p.scales != Scaling::head) out << " --scales " << name_of_scales(p);
    if (p.mask.is_causal()) out << " --causal";
    if (p.corner != Corner::bottom_right) out << " --causal-corner " << name_of(p.corner);
    if (p.scale) out << " --scale " << *p.scale;
    if (p.scores) out << " --scores " << name_of(*p.scores);
    if (p.weights) out << " --weights " << name_of(*p.weights);
    if (!p.passes.empty()) out << " --passes " << name_of(p.passes);
    if (p.softmax == Softmax::naive) out << " --softmax naive";
    if (p.bias) out << " --bias " << p.bias.name();
    if (p.bias.group > 1) out << " --bias-group " << p.bias.group;
    if (p.alibi > 0) out << " --alibi";
    if (p.soft_cap) out << " --soft-cap " << *p.soft_cap;
    if (p.dropout) out << " --dropout " << p.dropout.p << " --dropout-seed " << p.dropout.seed;
    if (p.dropout.stored) out << " --dropout-mask stored";
    out << " --br " << c.tiling.br << " --bc " << c.tiling.bc;
    if (c.tiling.splits > 0) out << " --splits " << c.tiling.splits;
    return out << " --seed " << c.seed;
}

std::string to_string(const Algorithm& algorithm, const Case& c) {
    std::ostringstream out;
    out << "tilescope run " << algorithm.name << ' ' << as_supported(algorithm, c);
    return out.str();
}

GpuSpec machine(Bytes sram, Bytes registers) {
    GpuSpec g;
    g.name = "machine";
    g.sms = 4;
    g.sram_per_sm = g.sram_per_block = sram;
    g.registers_per_sm = registers;
    g.max_blocks_per_sm = 32;
    return g;
}

GpuSpec roomy() { return machine(Bytes{1} << 40, Bytes{1} << 40); }

const TensorInfo& Outcome::tensor(std::string_view name) const {
    for (const TensorInfo& t : tensors)
        if (t.name == name) return t;
    throw std::logic_error("no tensor " + std::string(name));
}

const Traffic& Outcome::moved(std::string_view name) const {
    return traffic[static_cast<std::size_t>(&tensor(name) - tensors.data())];
}

const TensorInfo& Outcome::output() const {
    for (const Computation* c : computations())
        for (const TensorInfo& t : tensors)
            if (t.role == Role::output && t.name == c->output) return t;
    throw std::logic_error("no output");
}

Outcome run(const Algorithm& algorithm, const Case& c, const GpuSpec& spec, Mode mode, const Inputs& inputs,
            int threads, Listener* listener) {
    Gpu gpu(spec, mode, threads);
    if (listener) gpu.listen(*listener);
    run_program(gpu, algorithm, c.problem, c.tiling, inputs);
    Outcome o{gpu.total(), {}, {}, gpu.peak(Space::sram), gpu.peak(Space::registers), gpu.launches(), gpu.notes()};
    for (const TensorInfo& t : gpu.tensors()) {
        o.traffic.push_back(gpu.traffic(static_cast<TensorId>(o.tensors.size())));
        o.tensors.push_back(t);
    }
    return o;
}

std::vector<GpuSpec> machines(const Algorithm& a, const Case& c) {
    const Outcome o = run(a, c, roomy(), count_mode);
    std::vector<GpuSpec> all = {roomy(), machine(o.sram_peak, o.register_peak)};
    const GpuSpec short_of_a_row = machine(o.sram_peak, 4 * (c.problem.seq_k + 2) - 1);
    if (fits(a, c.problem, c.tiling, short_of_a_row)) all.push_back(short_of_a_row);
    return all;
}

std::string difference(const Outcome& a, const Outcome& b) {
    std::string out;
    const auto compare = [&](const std::string& what, Count x, Count y) {
        if (x != y) out += what + ": " + std::to_string(x) + " and " + std::to_string(y) + "; ";
    };
    for (const auto& [name, member] : Counters::fields) compare(name, a.counters.*member, b.counters.*member);
    for (std::size_t t = 0; t < a.tensors.size(); ++t) {
        compare(a.tensors[t].name + " read", a.traffic[t].read, b.traffic[t].read);
        compare(a.tensors[t].name + " written", a.traffic[t].write, b.traffic[t].write);
        compare(a.tensors[t].name + " reduced", a.traffic[t].reduce, b.traffic[t].reduce);
    }
    compare("launches", static_cast<Count>(a.launches.size()), static_cast<Count>(b.launches.size()));
    for (std::size_t l = 0; l < std::min(a.launches.size(), b.launches.size()); ++l) {
        const LaunchInfo &x = a.launches[l], &y = b.launches[l];
        compare(x.kernel + std::string("'s thread blocks"), x.thread_blocks, y.thread_blocks);
        compare(x.kernel + std::string("'s SRAM peak"), x.sram_peak, y.sram_peak);
        compare(x.kernel + std::string("'s register peak"), x.register_peak, y.register_peak);
    }
    compare("SRAM peak", a.sram_peak, b.sram_peak);
    compare("register peak", a.register_peak, b.register_peak);
    if (a.notes != b.notes) out += "notes; ";
    return out;
}

OutputError error_of(const Computation& c, const Problem& p, const Inputs& in, std::shared_ptr<const Storage> output,
                     int threads, Control* control) {
    return compare_with_reference(c, p, in, {{{c.output, std::move(output)}}}, threads, control).at(0).at(c.output);
}

Inputs inputs_for(const Algorithm& algorithm, const Case& c, Distribution distribution) {
    return inputs_of(algorithm, c.problem, c.seed, distribution);
}

Inputs as_stored(const Case& c, Inputs in) {
    for (const char* const name : {"Q", "K", "V"}) {
        const auto exact = in.find(exact_name(name)), scales = in.find(scales_tensor(name));
        if (exact == in.end()) continue;
        const Storage& stored = *in.find(std::string_view(name))->second;
        const auto values = std::make_shared<Storage>(Dtype::f32, stored.slices(), stored.rows(), stored.cols());
        std::vector<float> x = contents(stored);
        const std::vector<float> scale = scales == in.end() ? std::vector<float>{1} : contents(*scales->second);
        const Index sharing = stored.slices() / (scales == in.end() ? 1 : scales->second->slices());
        const Index each = scales == in.end() ? stored.rows() : rows_of_a_scale(c.problem, name);
        const Index blocks = ceil_div(stored.rows(), each);
        for (Index k = 0; k < stored.size(); ++k) {
            const Index row = k / stored.cols(), slice = row / stored.rows();
            const Index of = slice / sharing * blocks + row % stored.rows() / each;
            x[static_cast<std::size_t>(k)] *= scale[scales == in.end() ? 0 : static_cast<std::size_t>(of)];
        }
        values->write(0, x);
        exact->second = values;
    }
    return in;
}

std::vector<float> contents(const Storage& tensor) {
    std::vector<float> out(static_cast<std::size_t>(tensor.size()));
    tensor.read(0, out);
    return out;
}

bool same_bits(const Storage& a, const Storage& b) {
    const std::vector<float> x = contents(a), y = contents(b);
    return x.size() == y.size() && std::memcmp(x.data(), y.data(), x.size() * sizeof(float)) == 0;
}

double distance(const Storage& a, const Storage& b) {
    const std::vector<float> x = contents(a), y = contents(b);
    double most = 0;
    for (std::size_t k = 0; k < x.size(); ++k) {
        if (std::isnan(x[k]) || std::isnan(y[k])) return NAN;
        if (x[k] != y[k]) most = std::max(most, std::abs(static_cast<double>(x[k]) - static_cast<double>(y[k])));
    }
    return most;
}

double allowed_distance(Dtype t) { return t == Dtype::f32 ? 2e-5 : t == Dtype::f16 ? 0x1p-8 : 0x1p-5; }

}  // namespace tilescope
