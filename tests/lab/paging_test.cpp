// K and V in pages compared with K and V in one piece: the same bits, and the table is read once for each page of a
// tile.
#include "lab/workload/paging.hpp"

#include <numeric>
#include <set>

#include "algorithms/contract/choices.hpp"
#include "algorithms/contract/page_pool.hpp"
#include "core/machine/storage.hpp"
#include "lab/gpu/gpu_presets.hpp"
#include "lab/model/timing.hpp"
#include "lab/workload/packing.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/folder.hpp"
#include "tests/support/problems.hpp"

using namespace tilescope;
using namespace tilescope::lab;

namespace {

std::vector<const Algorithm*> paging_ones() {
    std::vector<const Algorithm*> found;
    for (const Algorithm& a : algorithms())
        if (a.supports.has(Feature::pages)) found.push_back(&a);
    return found;
}

/// Any sizes. Every second case has a window, every third packed heads; pages divide tiles, tiles divide pages, or
/// neither.
Case in_pages(std::uint64_t seed) {
    Case c = seed % 2 == 0 ? random_case(seed) : window_case(seed);
    Problem& p = c.problem;
    p.softmax = Softmax::safe;
    c.tiling.splits = static_cast<Index>(1 + seed % 6);
    const Index sizes[] = {1, c.tiling.bc, 2 * c.tiling.bc, static_cast<Index>(1 + seed % 13), 256};
    p.pages.size = sizes[seed % 5];
    p.pages.order = seed % 4 < 2 ? PageOrder::identity : PageOrder::permuted;
    if (p.batch > 1 && seed % 7 < 4 && p.seq_k >= p.pages.size)
        p.pages.shared = std::min(p.seq_k, p.pages.size * static_cast<Index>(1 + seed % 4));
    if (seed % 3 == 0) p.heads *= 2, p = packed(p);
    return c;
}

Experiment experiment(const Algorithm& a, const Problem& p, const Tiling& t) { return {&a, p, t, roomy()}; }

Problem in_one_piece(Problem p) {
    p.pages = {};
    return p;
}

const TensorReport& tensor(const Report& r, std::string_view name) {
    for (const TensorReport& t : r.tensors)
        if (t.name == name) return t;
    throw std::logic_error("no such tensor");
}

/// Reference: 4 bytes for each page of each tile in which any row sees a key.
Bytes table_bytes(const Problem& p, const Tiling& t) {
    Count entries = 0;
    for (Index i = 0; i < p.seq_q; i += t.br)
        for (Index j = 0; j < p.seq_k; j += t.bc) {
            const Index end = std::min(j + t.bc, p.seq_k);
            bool seen = false;
            for (Index r = i; r < std::min(i + t.br, p.seq_q); ++r)
                for (Index k = j; k < end; ++k) seen |= p.sees(r, k);
            std::set<Index> pages;
            for (Index k = j; seen && k < end; ++k) pages.insert(k / p.pages.size);
            entries += static_cast<Count>(pages.size());
        }
    return 4 * entries * p.batch_heads();
}

bool sees_nothing(const Mask& m) { return m.left() && m.right() && *m.left() + *m.right() < 0; }

}  // namespace

TEST_CASE("every page of a sequence has a place of its own, but for those that all share", "[pages]") {
    for (const PageOrder order : page_orders)
        for (const Index batch : {1, 2, 5})
            for (const Index keys : {1, 15, 16, 17, 160, 1000})
                for (const Index shared : {0, 16, 40, 160}) {
                    const PagePool pool({16, std::min(shared, keys), order}, batch, keys);
                    std::set<Index> places;
                    for (Index s = 0; s < batch; ++s)
                        for (Index n = 0; n < pool.of_a_sequence(); ++n) {
                            const Index at = pool.entry(s, n);
                            CHECK((at >= 0 && at < pool.pages()));
                            CHECK(places.insert(at).second == (s == 0 || n >= pool.shared()));
                            if (n < pool.shared()) CHECK(at == pool.entry(0, n));
                        }
                    CHECK(static_cast<Index>(places.size()) == pool.pages());
                    CHECK(pool.shared() == (batch > 1 ? std::min(shared, keys) / 16 : 0));
                }
    // In permuted pages, neighbours are never adjacent.
    const PagePool pool({16, 0, PageOrder::permuted}, 1, 1600);
    for (Index n = 1; n < 100; ++n) CHECK(std::abs(pool.entry(0, n) - pool.entry(0, n - 1)) > 1);
}

TEST_CASE("counts of K and V in pages are the closed forms', and those of running all of it", "[pages]") {
    REQUIRE(paging_ones().size() == 2);
    for (std::uint64_t seed = 1; seed <= seeds(1500); ++seed)
        for (const Algorithm* a : paging_ones()) {
            const Case c = in_pages(seed);
            INFO(to_string(*a, c));
            const Report r = count(experiment(*a, c.problem, c.tiling)),
                         plain = count(experiment(*a, in_one_piece(c.problem), c.tiling));
            const Prediction forms = a->predict(c.problem, c.tiling, roomy());
            CHECK(r.counters.hbm_read == forms.hbm_read);
            CHECK(r.counters.hbm_write == forms.hbm_write);
            CHECK(r.counters.exps == forms.exps);
            CHECK(r.counters.matmul_flops == forms.matmul_flops);
            CHECK(r.counters.other_flops == forms.other_flops);
            for (const char* same : {"Q", "K", "V", "O", "LSE"}) {
                CHECK(tensor(r, same).traffic.read == tensor(plain, same).traffic.read);
                CHECK(tensor(r, same).traffic.write == tensor(plain, same).traffic.write);
            }
            CHECK(r.counters.hbm_read == plain.counters.hbm_read + tensor(r, "table").traffic.read);
            if (seed > 300) continue;
            if (!sees_nothing(c.problem.mask))
                CHECK(tensor(r, "table").traffic.read == table_bytes(c.problem, c.tiling));
            Gpu exact(roomy(), exact_mode, 1);
            run_program(exact, *a, c.problem, c.tiling, {});
            CHECK(exact.total() == r.counters);
        }
}

TEST_CASE("in pages, in any order and shared, attention has the same bits", "[pages]") {
    for (std::uint64_t seed = 1; seed <= seeds(150); ++seed)
        for (const Algorithm* a : paging_ones()) {
            const Case c = in_pages(seed);
            INFO(to_string(*a, c));
            const Inputs inputs = with_shared_prefix(
                random_inputs(a->tensors(unpacked(c.problem), {1, 1}), seed, Distribution::normal), c.problem);
            CHECK(unlike_prefix(inputs, c.problem).empty());
            const Report paged = execute(experiment(*a, c.problem, c.tiling), inputs),
                         plain = execute(experiment(*a, in_one_piece(c.problem), c.tiling), inputs);
            for (const char* name : {"O", "LSE"}) CHECK(same_bits(*paged.outputs.at(name), *plain.outputs.at(name)));
        }
}

TEST_CASE("pages hold what there is room for, and what sequences share is there once", "[pages]") {
    const Algorithm& a = *find_algorithm("split_kv");
    Problem p;
    p.batch = 4, p.heads = 8, p.kv_heads = 2, p.seq_q = 1, p.seq_k = 1000, p.dim = p.dim_v = 64, p.pages = {16, 0};
    const Tiling t = {16, 64, 2};
    const Report own = count(experiment(a, p, t));
    CHECK(tensor(own, "K").bytes == 4 * 63 * 16 * 2 * 64 * 2);  // 63 pages per sequence; the last one has 8 free slots
    CHECK(tensor(own, "table").bytes == 4 * 63 * 4);
    CHECK(memory_of(experiment(a, p, t)) == own.hbm_footprint);
    CHECK(about_pages(p) == "K and V in 252 pages of 16 keys, in order; room for 32 more keys");
    p.pages.shared = 520, p.pages.order = PageOrder::permuted;
    const Report shared = count(experiment(a, p, t));
    CHECK(tensor(shared, "K").bytes == (32 + 4 * 31) * 16 * 2 * 64 * 2);
    CHECK(memory_of(experiment(a, p, t)) == shared.hbm_footprint);
    CHECK(shared.counters == own.counters);  // the counts of thread blocks do not change
    CHECK(about_pages(p) ==
          "K and V in 156 pages of 16 keys, permuted, 32 of which all sequences share; room for 32 more keys");
    p.pages = {};
    CHECK(about_pages(p).empty());
}

TEST_CASE("of pages that all sequences share, DRAM is read once", "[pages]") {
    Problem p;
    p.batch = 8, p.heads = 32, p.kv_heads = 8, p.seq_q = 1, p.seq_k = 1024, p.dim = p.dim_v = 128, p = packed(p);
    const auto read = [&](Index prefix) {
        p.pages = {256, prefix};
        const Experiment e{find_algorithm("flash_v2"), p, {64, 128}, gpu_preset("H100")};
        return count_and_time(e).dram()->read;
    };
    const Bytes kv = 2 * 1024 * 128 * 2 * 8;  // of one sequence
    const auto of_kv = [&](Bytes bytes) { return static_cast<double>(bytes) / static_cast<double>(kv); };
    CHECK_THAT(of_kv(read(0)), Catch::Matchers::WithinAbs(8, 0.05));
    CHECK_THAT(of_kv(read(512)), Catch::Matchers::WithinAbs(8 - 7 * 0.5, 0.05));
    CHECK_THAT(of_kv(read(1024)), Catch::Matchers::WithinAbs(1, 0.05));
}

TEST_CASE("sequences that share pages have to begin alike", "[pages]") {
    Problem p;
    p.batch = 2, p.heads = p.kv_heads = 1, p.seq_q = 4, p.seq_k = 40, p.dim = p.dim_v = 8, p.pages = {16, 20};
    const Inputs drawn = random_inputs(computation::attention.tensors(p), 1, Distribution::normal);
    CHECK(drawn.size() == 3);  // the table is not drawn
    CHECK(unlike_prefix(drawn, p) == "K");
    const Inputs alike = with_shared_prefix(drawn, p);
    CHECK(unlike_prefix(alike, p).empty());
    const auto of = [](const Inputs& inputs, const char* name) { return contents(*inputs.at(name)); };
    CHECK(of(alike, "Q") == of(drawn, "Q"));
    const std::vector<float> k = of(alike, "K"), before = of(drawn, "K");
    constexpr std::size_t sequence = 40 * 8, shared = 16 * 8;
    for (std::size_t n = 0; n < sequence; ++n) {
        CHECK(k[n] == before[n]);
        CHECK(k[sequence + n] == (n < shared ? before[n] : before[sequence + n]));
    }
}
