#include "core/machine/gpu.hpp"

#include <atomic>
#include <chrono>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "core/machine/launch_info.hpp"
#include "core/machine/mode.hpp"
#include "tests/support/programs.hpp"
#include "tests/support/seeds.hpp"

using namespace tilescope;
using namespace tilescope::testing;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::EndsWith;
using Catch::Matchers::StartsWith;

namespace {

/// What a run counted, taken from the Gpu.
struct Counted {
    Counters total;
    std::vector<Traffic> traffic;
    std::vector<LaunchInfo> launches;
    Bytes sram_peak, register_peak;

    explicit Counted(const Gpu& gpu)
        : total(gpu.total()),
          launches(gpu.launches()),
          sram_peak(gpu.peak(Space::sram)),
          register_peak(gpu.peak(Space::registers)) {
        for (std::size_t t = 0; t < gpu.tensors().size(); ++t) traffic.push_back(gpu.traffic(static_cast<TensorId>(t)));
    }
};

/// What a run counted, taken from its events; and whether the events agree with each other.
struct Sum : Everything {
    Counters total;
    std::map<TensorId, Traffic> traffic;
    Bytes sram_peak = 0, register_peak = 0;
    Index open_blocks = 0, live_tiles = 0, faults = 0;

    void heard(const Event& e, TileData data) override {
        total.add(e.cost, e.times);
        sram_peak = std::max(sram_peak, e.sram_used);
        register_peak = std::max(register_peak, e.registers_used);
        if (e.kind() == Kind::load) traffic[e.region.tensor].read += e.times * e.cost.hbm_read;
        if (e.kind() == Kind::store) traffic[e.region.tensor].write += e.times * e.cost.hbm_write;
        open_blocks += (e.kind() == Kind::block_begin) - (e.kind() == Kind::block_end);
        if (e.kind() == Kind::alloc || (e.kind() == Kind::load && ids_.insert(e.out).second)) ++live_tiles;
        if (e.kind() == Kind::alloc) ids_.insert(e.out);
        if (e.kind() == Kind::release) --live_tiles;
        if (e.kind() == Kind::block_begin) ids_.clear();
        faults += e.kind() == Kind::block_end && live_tiles != 0;
        faults += open_blocks != (e.kind() != Kind::launch && e.kind() != Kind::block_end);
        faults += live_tiles == 0 && e.sram_used + e.registers_used != 0;
        faults += !data.empty() && !e.tile;
    }

  private:
    std::set<TileId> ids_;
};

std::string disagreement(const Counted& a, const Counted& b) {
    std::string out = difference(a.total, b.total);
    for (std::size_t t = 0; t < a.traffic.size(); ++t)
        if (!(a.traffic[t] == b.traffic[t])) out += "traffic of tensor " + std::to_string(t) + "; ";
    if (a.sram_peak != b.sram_peak) out += "SRAM peak; ";
    if (a.register_peak != b.register_peak) out += "register peak; ";
    for (std::size_t k = 0; k < a.launches.size(); ++k) {
        const LaunchInfo &l = a.launches[k], &m = b.launches[k];
        if (l.thread_blocks != m.thread_blocks) out += "blocks of launch " + std::to_string(k) + "; ";
        if (l.sram_peak != m.sram_peak || l.register_peak != m.register_peak)
            out += "peaks of launch " + std::to_string(k) + "; ";
    }
    return out;
}

std::string disagreement(const Counted& counted, const Sum& events) {
    std::string out = difference(counted.total, events.total);
    for (const auto& [tensor, traffic] : events.traffic)
        if (!(traffic == counted.traffic[tensor])) out += "traffic of tensor " + std::to_string(tensor) + "; ";
    if (counted.sram_peak != events.sram_peak) out += "SRAM peak; ";
    if (counted.register_peak != events.register_peak) out += "register peak; ";
    if (events.faults) out += std::to_string(events.faults) + " events contradict each other; ";
    return out;
}

Counted run(const RandomProgram& program, Mode mode, int threads) {
    Gpu gpu(small_gpu(), mode, threads);
    program.run(gpu);
    return Counted(gpu);
}

std::string disagreement_with_events(const RandomProgram& program, Mode mode) {
    Gpu gpu(small_gpu(), mode, 1);
    Sum sum;
    gpu.listen(sum);
    program.run(gpu);
    return disagreement(Counted(gpu), sum);
}

/// Calls check(seed), which returns "" or what is wrong, for `count` seeds.
template <class F>
void for_seeds(unsigned count, F check) {
    for (unsigned seed = 0; seed < seeds(count); ++seed)
        if (const std::string wrong = check(seed); !wrong.empty()) FAIL("seed " << seed << ": " << wrong);
}

}  // namespace

TEST_CASE("folded, exact and numeric runs count the same", "[gpu][random]") {
    Count folded_flops = 0;
    for_seeds(10000, [&](unsigned seed) {
        const RandomProgram program(seed);
        const Counted folded = run(program, count_mode, 1), exact = run(program, exact_mode, 1);
        folded_flops += folded.total.flops();
        std::string wrong = disagreement(folded, exact);
        if (seed % 4 == 0) wrong += disagreement(exact, run(program, numeric_mode, 1));
        return wrong;
    });
    CHECK(folded_flops > static_cast<Count>(seeds(1'000'000)));  // the programs compute something
}

TEST_CASE("events add up to the counters", "[gpu][random]") {
    for_seeds(1000, [](unsigned seed) {
        const RandomProgram program(seed);
        return disagreement_with_events(program, count_mode) + disagreement_with_events(program, exact_mode) +
               (seed % 4 ? "" : disagreement_with_events(program, numeric_mode));
    });
}

TEST_CASE("results and counts do not depend on the number of threads", "[gpu][random][threads]") {
    for_seeds(100, [](unsigned seed) {
        const RandomProgram program(seed);
        Gpu one(small_gpu(), numeric_mode, 1);
        program.run(one);
        std::string wrong;
        for (const int threads : {2, 3, 8}) {
            Gpu many(small_gpu(), numeric_mode, threads);
            program.run(many);
            wrong += disagreement(Counted(one), Counted(many));
            for (std::size_t t = 0; t < one.tensors().size(); ++t)
                if (!same_bits(contents(one.tensors()[t]), contents(many.tensors()[t])))
                    wrong += "contents with " + std::to_string(threads) + " threads; ";
        }
        return wrong;
    });
}

TEST_CASE("a weighted fold counts by hand what it should", "[gpu]") {
    const Mode mode = GENERATE(count_mode, exact_mode, numeric_mode);
    Gpu gpu(small_gpu(), mode, 1);
    const Hbm x = gpu.add({"X", Role::input, Dtype::f16, 3, 10, 8, nullptr});
    gpu.launch("test", {uniform(3), uniform(Tiles(10, 4))}, [&](Block& b, Span s, Span i) {
        Tile q = b.load(x.of(s), i);
        b.uniform(Tiles(10, 3), [&](Span j) {
            Tile k = b.load(x.of(s), j);
            Tile p = b.alloc_registers("p", i.size, j.size);
            b.matmul(p, q, k, Trans::b);
        });
        b.each(Tiles(2, 1), [&](Span) { exp(b, q); });
    });
    // In each of 3 slices: 10 rows once as q, and 3 times as k (for tiles of 4, 4 and 2 rows), 16 bytes a row.
    CHECK(gpu.total().hbm_read == 3 * (10 + 3 * 10) * 16);
    CHECK((gpu.traffic(0) == Traffic{3 * 40 * 16, 0}));
    CHECK(gpu.total().matmul_flops == 3 * 2 * 10 * 10 * 8);
    CHECK(gpu.total().exps == 3 * 2 * 10 * 8);
    CHECK(gpu.total().thread_blocks == 9);
    CHECK(gpu.total().launches == 1);
    CHECK(gpu.peak(Space::sram) == (4 + 3) * 16);
    CHECK(gpu.peak(Space::registers) == 4 * 3 * 4);
}

TEST_CASE("a launch runs a block for every position of its grid, the first axis outermost", "[gpu]") {
    Gpu gpu(small_gpu(), exact_mode, 1);
    std::vector<std::array<Index, 4>> seen;
    gpu.launch("test", {each(Tiles(3, 2)), uniform(2), each(Tiles(6, 2).from(1))},
               [&](Block& b, Span i, Span j, Span k) {
                   seen.push_back({b.index(), i.begin, j.begin, k.begin});
               });
    std::vector<std::array<Index, 4>> expected;
    for (Index i : {0, 2})
        for (Index j : {0, 1})
            for (Index k : {2, 4}) expected.push_back({static_cast<Index>(expected.size()), i, j, k});
    CHECK((seen == expected));
    CHECK(gpu.total().thread_blocks == 8);
    gpu.launch("empty", {each(Tiles(0, 2))}, [](Block&, Span) { FAIL("there is no block"); });
    CHECK(gpu.total().launches == 2);
    CHECK(gpu.total().thread_blocks == 8);
    CHECK_THROWS_AS(gpu.launch("arity", {uniform(2), uniform(2)}, [](Block&, Span) {}), std::logic_error);
}

TEST_CASE("a folded launch runs one block of each kind, at its place in the grid", "[gpu]") {
    struct Seen {
        Index block, i, j;
        Count times;
        bool operator==(const Seen&) const = default;
    };
    Gpu gpu(small_gpu(), count_mode, 1);
    Log log;
    gpu.listen(log);
    std::vector<Seen> seen;
    gpu.launch("test", {uniform(Tiles(7, 2)), each(Tiles(2, 1))}, [&](Block& b, Span i, Span j) {
        Tile t = b.alloc_registers("t", 1, 1);
        seen.push_back({b.index(), i.begin, j.begin, log.all.back().event.times});
    });
    CHECK((seen == std::vector<Seen>{{0, 0, 0, 3}, {1, 0, 1, 3}, {6, 6, 0, 1}, {7, 6, 1, 1}}));
}

TEST_CASE("every launch keeps its own blocks and peaks", "[gpu]") {
    Gpu gpu(small_gpu(), GENERATE(numeric_mode, exact_mode, count_mode), GENERATE(1, 3));
    const auto launch = [&](const char* kernel, Index blocks, Index floats) {
        gpu.launch(kernel, {uniform(blocks)}, [&](Block& b, Span) {
            Tile s = b.alloc("s", floats, 1, Space::sram), r = b.alloc_registers("r", 2 * floats, 1);
        });
    };
    launch("large", 5, 10);
    launch("small", 3, 2);
    launch("empty", 0, 100);
    REQUIRE(gpu.launches().size() == 3);
    const Bytes sram[] = {40, 8, 0};
    const Count blocks[] = {5, 3, 0};
    for (std::size_t k = 0; k < 3; ++k) {
        const LaunchInfo& l = gpu.launches()[k];
        CHECK(l.thread_blocks == blocks[k]);
        CHECK(l.sram_peak == sram[k]);
        CHECK(l.register_peak == 2 * sram[k]);
    }
    CHECK(std::string(gpu.launches()[1].kernel) == "small");
    CHECK(gpu.peak(Space::sram) == 40);
    CHECK(gpu.peak(Space::registers) == 80);
}

TEST_CASE("an empty grid is launched with any number of threads and in any mode", "[gpu]") {
    Gpu gpu(small_gpu(), GENERATE(numeric_mode, exact_mode, count_mode), GENERATE(1, 4));
    gpu.launch("empty", {uniform(Tiles(0, 2))}, [](Block&, Span) { FAIL("there is no block"); });
    CHECK(difference(gpu.total(), {.launches = 1}) == "");
}

TEST_CASE("a uniform loop whose tiles differ breaks its promise", "[gpu][promise]") {
    Gpu gpu(small_gpu(), GENERATE(exact_mode, numeric_mode), GENERATE(1, 2));
    std::uint32_t line = 0;
    /// The message about work(block, x, y, number of the tile), or "".
    const auto said = [&](auto work) -> std::string {
        try {
            line = __LINE__ + 4;
            gpu.launch("test", {each(Tiles(2, 1))}, [&](Block& b, Span) {
                b.at(6);
                Tile x = b.alloc_registers("x", 2, 2), y = b.alloc_registers("y", 2, 2);
                b.uniform(Tiles(8, 2), [&](Span j) { work(b, x, y, j.begin / 2); });
            });
        } catch (const BrokenPromise& e) {
            return e.what();
        }
        return "";
    };
    const auto blames = [&](const std::string& message, const char* costs) {
        const auto place = "uniform at source line " + std::to_string(line);
        CHECK_THAT(message, StartsWith(place) && ContainsSubstring("gpu_test.cpp") &&
                                ContainsSubstring("pseudo-code line 6") && EndsWith(costs));
    };
    blames(said([](Block& b, Tile& x, Tile&, Index j) {
               for (Index k = 0; k < (j == 2 ? 2 : 1); ++k) exp(b, x);
           }),
           "tile 2 costs 32 register_read_bytes where tile 0 costs 16");
    blames(said([](Block& b, Tile& x, Tile& y, Index j) { j == 3 ? add_log(b, x, y) : add(b, x, y); }),
           "tile 3 costs 8 other_flops where tile 0 costs 4");
    // Another operation at the same cost does not break the promise.
    CHECK(said([](Block& b, Tile& x, Tile& y, Index j) { j == 1 ? add(b, x, y) : update_max(b, x, y); }) == "");
    // Counts of different kinds do not make up for each other.
    CHECK_THAT(said([](Block& b, Tile& x, Tile& y, Index j) {
                   exp(b, x);
                   j == 1 ? exp(b, x) : add(b, x, y);
               }),
               ContainsSubstring("tile 1 costs"));
}

TEST_CASE("a uniform loop that loads another type breaks its promise", "[gpu][promise]") {
    Gpu gpu(small_gpu(), exact_mode, 1);
    const Hbm x = gpu.add({"X", Role::input, Dtype::f32, 1, 8, 2, nullptr});
    const Hbm h = gpu.add({"H", Role::input, Dtype::f16, 1, 8, 2, nullptr});
    // Loads go into registers, so that only the bytes from HBM differ.
    const auto lie = [&] {
        gpu.launch("test", {each(Tiles(1, 1))}, [&](Block& b, Span) {
            b.uniform(Tiles(8, 2), [&](Span j) { Tile t = b.load(j.begin == 2 ? h : x, j, Space::registers); });
        });
    };
    CHECK_THROWS_WITH(lie(), ContainsSubstring("tile 1 costs 8 hbm_read_bytes where tile 0 costs 16"));
}

TEST_CASE("a uniform grid axis whose blocks differ breaks its promise", "[gpu][promise]") {
    const int threads = GENERATE(1, 3);
    Gpu gpu(small_gpu(), GENERATE(exact_mode, numeric_mode), threads);
    const auto work = [](Block& b, bool more) {
        b.at(4);
        Tile x = b.alloc_registers("x", 2, 2), y = b.alloc_registers("y", 2, 2);
        more ? add_log(b, x, y) : add(b, x, y);
    };
    const auto lie = [&] { gpu.launch("liar", {uniform(8)}, [&](Block& b, Span i) { work(b, i.begin == 5); }); };
    CHECK_THROWS_AS(lie(), BrokenPromise);
    CHECK_THROWS_WITH(lie(), ContainsSubstring("liar") && ContainsSubstring("other_flops") &&
                                 ContainsSubstring("block 5") && ContainsSubstring("costs 8"));
    // A ragged tile may cost something else, and so may blocks at different positions of the other axis.
    CHECK_NOTHROW(gpu.launch("honest", {uniform(Tiles(7, 2)), each(Tiles(3, 1))},
                             [&](Block& b, Span i, Span j) { work(b, (i.size == 2) == (j.begin == 1)); }));
    CHECK_THROWS_AS(gpu.launch("liar", {uniform(Tiles(7, 2)), each(Tiles(3, 1))},
                               [&](Block& b, Span i, Span j) { work(b, i.begin == j.begin); }),
                    BrokenPromise);
}

TEST_CASE("each promises nothing", "[gpu][promise]") {
    Gpu gpu(small_gpu(), GENERATE(exact_mode, numeric_mode, count_mode), 1);
    gpu.launch("test", {each(Tiles(5, 1))}, [&](Block& b, Span i) {
        Tile x = b.alloc_registers("x", 1, 1);
        b.each(Tiles(4, 1), [&](Span j) {
            for (Index k = 0; k < i.begin + j.begin; ++k) exp(b, x);
        });
    });
    CHECK(gpu.total().exps == 4 * (0 + 1 + 2 + 3 + 4) + 5 * (0 + 1 + 2 + 3));
}

TEST_CASE("a run stops when it is asked to, by a program or from another thread", "[gpu][threads]") {
    const int threads = GENERATE(1, 3);
    Control control;
    Gpu gpu(small_gpu(), exact_mode, threads, &control);
    SECTION("between blocks") {
        const auto run = [&] {
            gpu.launch("test", {each(Tiles(1000, 1))}, [&](Block&, Span i) {
                if (i.begin == 10) control.stop = true;
                while (i.begin > 10 && !control.stop) continue;  // block 10 may take long
            });
        };
        CHECK_THROWS_AS(run(), Interrupted);
        CHECK(control.blocks_total == 1000);
        CHECK(control.blocks_done <= 10 + threads);
    }
    SECTION("within a loop") {
        const bool promised = GENERATE(true, false);
        std::atomic<int> rounds{0};
        const auto run = [&] {
            gpu.launch("test", {each(Tiles(1, 1))}, [&](Block& b, Span) {
                const auto body = [&](Span) {
                    if (++rounds == 3) control.stop = true;
                };
                promised ? b.uniform(Tiles(1000, 1), body) : b.each(Tiles(1000, 1), body);
            });
        };
        CHECK_THROWS_AS(run(), Interrupted);
        CHECK(rounds == 3);
    }
    SECTION("by another thread") {
        std::atomic<bool> ended{false};
        std::thread other([&] {
            while (control.blocks_done < 5 && !ended) std::this_thread::sleep_for(std::chrono::milliseconds(1));
            control.stop = true;
        });
        CHECK_THROWS_AS(gpu.launch("test", {uniform(1'000'000'000)}, [](Block&, Span) {}), Interrupted);
        ended = true;
        other.join();
    }
    control.stop = false;
    CHECK_NOTHROW(gpu.launch("again", {each(Tiles(7, 1))}, [](Block&, Span) {}));
    CHECK(control.blocks_done == 7);
}

TEST_CASE("an exception in a block reaches the caller and leaves nothing running", "[gpu][threads]") {
    const int threads = GENERATE(1, 2, 3, 8);
    Gpu gpu(small_gpu(100, 100), numeric_mode, threads);
    std::atomic<int> running{0}, started{0};
    bool slow = true;
    const auto run = [&](auto fail) {
        gpu.launch("test", {each(Tiles(5000, 1))}, [&](Block& b, Span i) {
            struct Inside {
                std::atomic<int>& n;
                explicit Inside(std::atomic<int>& count) : n(count) { ++n; }
                ~Inside() { --n; }
            } inside(running);
            ++started;
            Tile t = b.alloc("t", 1, 10, Space::sram);
            if (i.begin == 20) fail(b);
            if (i.begin > 20 && slow) std::this_thread::sleep_for(std::chrono::milliseconds(1));
        });
    };
    CHECK_THROWS_WITH(run([](Block&) { throw std::runtime_error("block 20"); }), "block 20");
    CHECK(running == 0);
    const int after = started;
    CHECK(after >= 21);
    CHECK(after < 2000);  // the other threads do not go through the rest of the grid
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    CHECK(started == after);
    CHECK_THROWS_AS(run([](Block& b) { Tile u = b.alloc("u", 1, 20, Space::sram); }), OutOfChipMemory);
    CHECK(running == 0);
    // The Gpu can be used again.
    slow = false;
    CHECK_NOTHROW(run([](Block& b) { Tile u = b.alloc("u", 1, 15, Space::sram); }));
    CHECK(gpu.peak(Space::sram) == 100);
}

TEST_CASE("blocks run in parallel when there are threads, and alone when somebody listens", "[gpu][threads]") {
    std::mutex mutex;
    std::set<std::thread::id> ids;
    const auto launch = [&](Gpu& gpu) {
        ids.clear();
        gpu.launch("test", {each(Tiles(8, 1))}, [&](Block&, Span) {
            {
                const std::scoped_lock lock(mutex);
                ids.insert(std::this_thread::get_id());
            }
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        });
    };
    Gpu gpu(small_gpu(), exact_mode, 4);
    launch(gpu);
    CHECK(ids.size() > 1);
    Sum sum;
    gpu.listen(sum);
    launch(gpu);
    CHECK((ids == std::set{std::this_thread::get_id()}));
    CHECK(sum.total.thread_blocks == 8);
}

TEST_CASE("listeners hear of the blocks that they want", "[gpu]") {
    struct Picky : Sum {
        std::vector<std::pair<Index, Index>> begun, asked;
        bool wants(Index launch, Index block) override {
            asked.push_back({launch, block});
            return launch == 1 && block % 2 == 1;
        }
        void heard(const Event& e, TileData data) override {
            if (e.kind() == Kind::block_begin) begun.push_back({asked.back().first, e.block});
            Sum::heard(e, data);
        }
    };
    const bool only_wanted = GENERATE(false, true);
    Gpu gpu(small_gpu(), Mode{false, false, only_wanted}, 1);
    Picky picky;
    gpu.listen(picky);
    for (int k = 0; k < 2; ++k)
        gpu.launch("test", {uniform(4)}, [](Block& b, Span) {
            Tile t = b.alloc_registers("t", 1, 1);
            exp(b, t);
        });
    CHECK(picky.asked.size() == 8);
    CHECK((picky.begun == std::vector<std::pair<Index, Index>>{{1, 1}, {1, 3}}));
    CHECK(picky.total.launches == 2);
    CHECK(picky.total.exps == 2);
    CHECK(picky.faults == 0);
    CHECK(gpu.total().exps == (only_wanted ? 2 : 8));
    CHECK(gpu.total().thread_blocks == (only_wanted ? 2 : 8));
}

TEST_CASE("a run of chosen blocks goes to them at once, however large the grid is", "[gpu]") {
    struct Chosen : Sum {
        explicit Chosen(std::set<Index> these) : chosen(std::move(these)) {}
        std::set<Index> chosen, begun;
        Index asked = 0;
        bool wants(Index, Index block) override { return chosen.contains(block); }
        Index next_wanted(Index, Index from) override {
            ++asked;
            const auto next = chosen.lower_bound(from);
            return next == chosen.end() ? none_wanted : *next;
        }
        void heard(const Event& e, TileData data) override {
            if (e.kind() == Kind::block_begin) begun.insert(e.block);
            Sum::heard(e, data);
        }
    };
    static constexpr Index n = Index{1} << 40;
    const std::set<Index> these{0, 1, n / 3, n - 1}, others{1, 77};
    Chosen a(these), b(others), beyond({n, 2 * n});
    Gpu gpu(small_gpu(), Mode{false, false, true}, 4);
    for (Listener* l : {&a, &b, &beyond}) gpu.listen(*l);
    gpu.launch("test", {each(Tiles(n, 1))}, [](Block& block, Span i) {
        CHECK(i.begin < n);
        Tile t = block.alloc_registers("t", 1, 1);
        exp(block, t);
    });
    CHECK(a.begun == these);
    CHECK(b.begun == others);
    CHECK(beyond.begun.empty());
    CHECK(gpu.total().thread_blocks == 5);
    CHECK(a.asked == 6);

    Gpu alone(small_gpu(), Mode{false, false, true}, 4);
    alone.launch("test", {each(Tiles(n, 1))}, [](Block&, Span) { FAIL("nobody wants it"); });
    CHECK(alone.total().thread_blocks == 0);
}

TEST_CASE("tensors, notes and the footprint are kept", "[gpu]") {
    Gpu gpu(small_gpu(123, 456), count_mode, 1);
    gpu.add({"X", Role::input, Dtype::f32, 2, 3, 4, nullptr});
    const Hbm h = gpu.add({"H", Role::scratch, Dtype::f16, 1, 5, 4, nullptr});
    CHECK(h.rows() == 5);
    CHECK(h.cols() == 4);
    CHECK(h.dtype() == Dtype::f16);
    CHECK(gpu.tensors().size() == 2);
    CHECK_FALSE(gpu.tensors()[0].data);  // nothing is computed, so no data are kept
    CHECK(gpu.hbm_footprint() == 96 + 40);
    CHECK(gpu.capacity(Space::sram) == 123);
    CHECK(gpu.capacity(Space::registers) == 456);
    gpu.note("once");
    gpu.note("once");
    gpu.note("twice");
    CHECK(gpu.notes() == std::vector<std::string>{"once", "twice"});
}
