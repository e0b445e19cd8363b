#include "device/survey.hpp"

#include <algorithm>

#include "algorithms/contract/block_mask.hpp"
#include "algorithms/contract/packed.hpp"

namespace tilescope::device {
namespace {

struct Shape {
    Index batch, heads, kv_heads, seq_q, seq_k;
    bool causal = false;
    Index splits = 4;     ///< for the algorithms that cut the keys into parts
    bool packed = false;  ///< whether heads that share K and V are packed, where a kernel packs them
};

Problem problem_of(const KernelVariant& v, const Shape& s) {
    Problem p;
    p.batch = s.batch, p.heads = s.heads, p.kv_heads = s.kv_heads;
    p.seq_q = s.seq_q, p.seq_k = s.seq_k, p.mask = s.causal ? Mask::causal() : Mask();
    p.dtype = v.dtype;
    if (v.dim > 0) p.dim = v.dim;
    if (v.dim_v > 0) p.dim_v = v.dim_v;
    return p;
}

bool equal(const KernelCase& a, const KernelCase& b) {
    return a.variant == b.variant && a.splits == b.splits && same_problem(a, b);
}

class Cases {
  public:
    void add(const Algorithm& a, const KernelVariant& v, const Shape& s, std::optional<double> scale = {}) {
        KernelCase c{&a, &v, problem_of(v, s), has_splits(a.knobs) ? s.splits : 0};
        c.problem.scale = scale;
        if (s.packed && a.packs && v.serves(packed(c.problem))) c.problem = packed(c.problem);
        add_once(c);
    }
    void add(const Algorithm& a, const KernelVariant& v, void (*vary)(Problem&)) {
        KernelCase c{&a, &v, problem_of(v, {2, 4, 2, 200, 300}), has_splits(a.knobs) ? 3 : 0};
        vary(c.problem);
        add_once(c);
    }
    /// Cases of the same problem together, in the order in which the problems first came up.
    std::vector<KernelCase> by_problem() const {
        std::vector<KernelCase> sorted;
        std::vector<bool> taken(all_.size());
        for (std::size_t k = 0; k < all_.size(); ++k)
            for (std::size_t j = k; j < all_.size(); ++j) {
                if (taken[j] || !same_problem(all_[j], all_[k])) continue;
                sorted.push_back(all_[j]);
                taken[j] = true;
            }
        return sorted;
    }

  private:
    void add_once(const KernelCase& c) {
        if (std::ranges::none_of(all_, [&](const KernelCase& other) { return equal(c, other); })) all_.push_back(c);
    }

    std::vector<KernelCase> all_;
};

// ---- the full survey ----

enum class Which : std::uint8_t { every, first };

/// A shape for the kernels of one storage type.
struct Entry {
    Shape shape;
    Which which;
    Index dim = 0;               ///< 0: every head dimension that there are kernels for, d != dv too
    const char* only = nullptr;  ///< an algorithm; nullptr: all
    const char* but_not = nullptr;
};

/// Few queries a head against a long cache, for the algorithm that cuts it into parts.
constexpr Entry decoding(Which which, Index dim, Shape shape) { return {shape, which, dim, "split_kv"}; }

constexpr Shape square(Index heads, Index seq, bool causal = false) { return {1, heads, heads, seq, seq, causal}; }

constexpr auto every = Which::every, first = Which::first;

/// fp32. One thread block per head (flash_v1, chunked) and N x N in HBM (standard) limit the longest sequences.
constexpr Entry fp32[] = {
    {square(16, 1024), every},
    {square(16, 4096, true), every},
    {square(64, 256), first, 64},
    {square(64, 256), first, 128},
    {square(1, 1000), first, 64},
    {square(16, 1000, true), first, 128},
    {square(1, 1024), first, 64},
    {square(64, 1024, true), first, 64},
    {{4, 16, 16, 1024, 1024}, first, 128},
    {{1, 16, 4, 1024, 1024, true}, first, 64},
    {{2, 16, 4, 1000, 1000}, first, 128},
    {{1, 16, 16, 1000, 4097, true}, first, 64},
    {{1, 16, 16, 4097, 1000}, first, 128},
    {square(64, 4096), first, 64},
    {{2, 64, 64, 4096, 4096}, first, 64},  // every SM has a head: the ladder's speeds
    {{2, 64, 64, 4096, 4096, true}, first, 64},
    {square(16, 4096), first, 128},
    {square(1, 4096), first, 64},
    {square(16, 4097, true), first, 64},
    {square(4, 4097), first, 128},
    {square(4, 16384), first, 64},
    {square(4, 16384, true), first, 64},
    {square(4, 16384), first, 128, "flash_v2"},
    {square(16, 16384), first, 64, "flash_v2"},
    {square(80, 16384), first, 64, "standard"},  // S and P: 172 GB
    decoding(every, 64, {1, 8, 8, 1, 8192, false, 16}),
    decoding(every, 128, {1, 32, 8, 1, 16384, false, 16, true}),
    decoding(first, 128, {1, 32, 8, 1, 16384, false, 8}),
    decoding(every, 64, {2, 16, 4, 1, 5001, true, 9, true}),  // the last part is short, and its last tile
    decoding(every, 64, {2, 16, 4, 3, 4097, true, 6}),
    decoding(every, 128, {2, 16, 4, 5, 4097, false, 6, true}),
};

/// The backward passes. Reference values need all rows and keys, in double: longer sequences take minutes.
constexpr Entry backward[] = {
    {square(16, 1024), every},          {square(16, 1024, true), every},
    {square(16, 4096, true), every},    {square(64, 256), first, 64},
    {square(4, 1000, true), first, 64}, {square(132, 512), first, 64},
    {square(1, 1024), first, 64},       {{1, 16, 4, 1024, 1024, true}, first, 64},
    {{2, 8, 2, 500, 1000}, first, 64},  {{1, 16, 16, 1000, 500, true}, first, 64},
    {square(4, 4097), first, 64},       {square(16, 4096), first, 64},
    {square(16, 4096), first, 128},
};

/// f16, bf16 and e4m3.
constexpr Entry narrow[] = {
    {square(16, 1024), every},
    {square(16, 4096, true), every},
    {square(64, 256), first, 64},
    {square(1, 1000, true), first, 64},
    {square(16, 1000), first, 128},
    {{1, 16, 4, 1024, 1024, true}, first, 128},
    {{1, 16, 16, 1000, 4097, true}, first, 64},
    {square(64, 4096), first, 64},
    {square(64, 4096), first, 128},
    {square(16, 4097, true), first, 128},
    {square(16, 16384), first, 64, nullptr, "split_kv"},
    {square(16, 16384), first, 128, nullptr, "split_kv"},
    {square(16, 16384, true), first, 64, nullptr, "split_kv"},
    decoding(every, 128, {1, 8, 8, 1, 8192, false, 16}),
    decoding(first, 128, {1, 32, 8, 1, 16384, false, 8}),
    decoding(first, 128, {1, 32, 8, 1, 16384, false, 8, true}),
    decoding(first, 128, {1, 1, 1, 1, 65536, false, 300}),
    decoding(first, 128, {1, 32, 8, 1, 131072, false, 28, true}),
    decoding(first, 128, {4, 32, 8, 1, 8192, false, 7, true}),
    decoding(first, 128, {4, 32, 8, 1, 32768, false, 1, true}),
    decoding(every, 64, {1, 32, 4, 1, 8192, false, 16, true}),
    decoding(every, 128, {2, 16, 4, 1, 5001, true, 9, true}),  // the last part is short, and its last tile
    decoding(every, 64, {2, 16, 4, 3, 4097, true, 6}),
    decoding(every, 128, {2, 16, 4, 5, 4097, false, 6, true}),
};

/// Softmax: batch x heads matrices of seq_q rows and seq_k columns.
constexpr Entry softmax[] = {
    {{1, 16, 16, 1024, 1000}, every}, {{1, 4, 4, 4096, 4096}, every},  {{1, 64, 64, 256, 256}, first},
    {{1, 1, 1, 1000, 1024}, first},   {{1, 1, 1, 4097, 16384}, first}, {{1, 1, 1, 16384, 4097}, first},
    {{4, 16, 16, 1024, 4096}, first},
};

bool wanted(const Entry& e, const Algorithm& a) {
    const std::string_view name = a.name;
    return (!e.only || name == e.only) && (!e.but_not || name != e.but_not);
}

/// The entry's cases of one algorithm and storage type.
void add(Cases& cases, const Entry& e, const Algorithm& a, Dtype dtype) {
    for (const KernelVariant& v : kernels_of(a)) {
        if (v.dtype != dtype || (e.dim > 0 && (v.dim != e.dim || v.dim_v != e.dim))) continue;
        cases.add(a, v, e.shape);
        if (e.which == first) return;
    }
}

// ---- the quick survey ----

constexpr Shape small_attention[] = {
    {1, 1, 1, 1, 1, false, 1},      // one row, one key
    {1, 2, 2, 1, 100, false, 2},    // one row
    {1, 2, 1, 100, 1, true},        // one key, which only the last row sees
    {1, 1, 1, 17, 33, false, 1},    // less than a tile
    {1, 2, 2, 33, 17, true, 2},     // the first 16 rows see nothing
    {1, 2, 1, 65, 129, true, 129},  // a row and a key too many; more parts than a thread block has threads
    {2, 2, 2, 128, 128, false, 2},  // tiles fit exactly
    {1, 4, 2, 200, 300, true, 2},
    {2, 3, 1, 300, 130, true, 5},  // whole row blocks see nothing
    {1, 2, 1, 130, 256, true},     // the first row misses its last tile's last key alone
    {1, 1, 1, 63, 257, false, 3},
    {1, 3, 3, 191, 191, true, 7},
    {1, 6, 2, 129, 64},
    {1, 8, 2, 1, 300, true, 3, true},    // a query of four heads in a tile
    {2, 6, 2, 6, 130, false, 2, true},   // more rows than a tile has
    {1, 20, 1, 1, 70, false, 40, true},  // and more parts than there are key tiles
};

constexpr Shape small_softmax[] = {
    {1, 1, 1, 1, 1}, {1, 2, 2, 17, 33}, {2, 1, 1, 64, 128}, {1, 3, 3, 65, 257}, {1, 1, 1, 3, 1000}, {1, 1, 1, 130, 7},
};

/// Options that only kernels with tables take, each alone and all together.
struct Variation {
    Takes needs;
    void (*apply)(Problem&);
};
constexpr Variation variations[] = {
    {Takes::masks, [](Problem& p) { p.mask = Mask::window(70, {}); }},
    {Takes::masks, [](Problem& p) { p.mask = Mask::window(16, 5); }},
    {Takes::masks,
     [](Problem& p) {
         p.mask = Mask::window({}, {}).with(Documents({100, 1, 63, 136}));
     }},
    {Takes::masks,
     [](Problem& p) {
         p.mask = Mask::window(40, 0).with(Documents({150, 150}));
     }},
    {Takes::scores,
     [](Problem& p) {
         p.bias = {*Bias::terms_from("hqk"), 1};
     }},
    {Takes::scores,
     [](Problem& p) {
         p.bias = {*Bias::terms_from("bk+ghqk"), 2};
     }},
    {Takes::plain, [](Problem& p) { p.batch = 1, p.mask = Mask::causal(), p.corner = Corner::top_left; }},
    {Takes::masks, [](Problem& p) { p.mask = Mask::window(40, 3), p.corner = Corner::top_left; }},
    {Takes::scores, [](Problem& p) { p.alibi = p.heads, p.mask = Mask::causal(); }},
    {Takes::scores, [](Problem& p) { p.soft_cap = 2; }},
    {Takes::scores,
     [](Problem& p) {
         p.dropout = {0.3, 7};
     }},
    {Takes::scores,
     [](Problem& p) {
         p.mask = Mask::window(100, 3).with(Documents({120, 180}));
         p.bias = {*Bias::terms_from("k+bhqk"), 1}, p.alibi = p.heads, p.soft_cap = 5, p.dropout = {0.1, 1};
     }},
};

/// Adds every kernel that takes a variation, on a problem whose last tiles are short.
void add_variations(Cases& cases, const Algorithm& a, Dtype dtype) {
    if (!a.computes->features.has(Feature::head_dims)) return;
    for (const KernelVariant& v : kernels_of(a))
        for (const Variation& variation : variations)
            if (v.dtype == dtype && v.takes >= variation.needs) cases.add(a, v, variation.apply);
}

/// Pairs the kernels of a storage type with shapes, so that each kernel and each shape occurs.
void add_each(Cases& cases, const Algorithm& a, Dtype dtype, std::span<const Shape> shapes) {
    std::vector<const KernelVariant*> variants;
    for (const KernelVariant& v : kernels_of(a))
        if (v.dtype == dtype) variants.push_back(&v);
    if (variants.empty()) return;
    for (std::size_t k = 0; k < std::max(variants.size(), shapes.size()); ++k)
        cases.add(a, *variants[k % variants.size()], shapes[k % shapes.size()]);
    if (!a.computes->features.has(Feature::head_dims)) return;
    // Logits of thousands; hundreds where P comes from an LSE. This LSE is exact: unlike that of a kernel's own forward
    // pass, it does not cancel what tensor cores lose in sums that large.
    cases.add(a, *variants[0], {1, 2, 2, 100, 200, true}, a.computes == &computation::attention ? 100 : 10);
}

}  // namespace

std::vector<KernelCase> full_survey() {
    Cases cases;
    for (const Algorithm& a : algorithms()) {
        if (!a.computes->features.has(Feature::head_dims)) {
            for (const Entry& e : softmax) add(cases, e, a, Dtype::f32);
            continue;
        }
        if (a.computes == &computation::attention_backward) {
            for (const Dtype t : {Dtype::f32, Dtype::f16, Dtype::bf16})
                for (const Entry& e : backward) add(cases, e, a, t);
            continue;
        }
        for (const Entry& e : fp32)
            if (wanted(e, a)) add(cases, e, a, Dtype::f32);
        for (const Dtype t : {Dtype::f16, Dtype::bf16, Dtype::e4m3})
            for (const Entry& e : narrow)
                if (wanted(e, a)) add(cases, e, a, t);
    }
    return cases.by_problem();
}

std::vector<KernelCase> quick_survey() {
    Cases cases;
    for (const Algorithm& a : algorithms())
        for (const Dtype t : {Dtype::f32, Dtype::f16, Dtype::bf16, Dtype::e4m3}) {
            const bool attention = a.computes->features.has(Feature::head_dims);
            add_each(cases, a, t, attention ? std::span<const Shape>(small_attention) : small_softmax);
            add_variations(cases, a, t);
        }
    return cases.by_problem();
}

}  // namespace tilescope::device
