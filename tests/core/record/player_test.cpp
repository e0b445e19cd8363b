#include "core/record/player.hpp"

#include <map>
#include <numeric>
#include <optional>

#include "core/machine/mode.hpp"
#include "tests/support/programs.hpp"

using namespace tilescope;
using namespace tilescope::testing;

namespace {

/// What the machine really held after every event: contents of tiles as they were reported, and the tensors.
struct Witness : Everything {
    struct TileSeen {
        TileInfo info;
        Index block, written;
        std::vector<float> data;
    };
    struct Moment {
        Event event;  // the event that led here
        Index launch;
        std::string kernel;
        Counters total;
        std::map<TileId, TileSeen> tiles;
        std::vector<std::vector<float>> tensors;
        std::vector<Traffic> traffic;
        std::vector<std::vector<Touched>> touched;  // per tensor, in any order
    };

    explicit Witness(const Gpu& gpu) : gpu_(gpu) {}
    std::vector<Moment> moments;

    void heard(const Event& e, TileData data) override {
        const auto step = static_cast<Index>(moments.size());
        Moment m = moments.empty() ? Moment{e, -1, "", {}, {}, {}, {}, {}} : moments.back();
        m.event = e;
        m.event.tile = nullptr;
        if (e.kind() == Kind::launch) ++m.launch, m.kernel = kernel;
        m.total.add(e.cost, e.times);
        m.traffic.resize(gpu_.tensors().size());
        m.touched.resize(gpu_.tensors().size());
        if (e.kind() == Kind::release)
            m.tiles.erase(e.out);
        else if (e.out != no_tile)
            m.tiles[e.out] = {*e.tile, e.block, step, {data.begin(), data.end()}};
        if (e.kind() == Kind::load || e.kind() == Kind::store) touch(m, e, step);
        m.tensors.clear();
        for (const TensorInfo& t : gpu_.tensors()) m.tensors.push_back(contents(t));
        moments.push_back(std::move(m));
    }

  private:
    static void touch(Moment& m, const Event& e, Index step) {
        Traffic& traffic = m.traffic[e.region.tensor];
        (e.kind() == Kind::load ? traffic.read : traffic.write) += (e.cost.hbm_read + e.cost.hbm_write) * e.times;
        auto& list = m.touched[e.region.tensor];
        auto found = std::find_if(list.begin(), list.end(), [&](const Touched& t) { return t.region == e.region; });
        if (found == list.end()) found = list.insert(list.end(), {.region = e.region});
        ++(e.kind() == Kind::load ? found->loads : found->stores);
        (e.kind() == Kind::load ? found->last_load : found->last_store) = step;
    }

    const Gpu& gpu_;
};

/// What is wrong with the player's state; "" where the witness saw the same state.
std::string wrong(const Player& player, const Witness::Moment& m) {
    const MachineState& s = player.state();
    const bool in_launch = m.event.kind() == Kind::launch;
    if (s.launch != m.launch || s.kernel != m.kernel || s.block != (in_launch ? -1 : m.event.block)) return "place";
    if (s.line != m.event.line || s.source_line != m.event.source_line) return "line";
    if (!(s.total == m.total)) return difference(s.total, m.total);
    if (s.sram_used != m.event.sram_used || s.registers_used != m.event.registers_used) return "bytes in use";
    if (s.tiles.size() != m.tiles.size()) return "number of tiles";
    for (const TileState& t : s.tiles) {
        const RecordedTile& info = player.trace().tiles()[t.tile];
        const auto found = m.tiles.find(info.id);
        if (found == m.tiles.end()) return "a tile that is not there";
        const Witness::TileSeen& seen = found->second;
        if (info.block != seen.block || info.rows != seen.info.rows || info.cols != seen.info.cols ||
            info.dtype != seen.info.dtype || info.space != seen.info.space || t.written != seen.written)
            return "what is said about tile " + info.name;
        if (!same_bits(player.values(t), seen.data)) return "contents of tile " + info.name;
    }
    for (TensorId t = 0; t < m.tensors.size(); ++t) {
        if (!(s.tensors[t].traffic == m.traffic[t])) return "traffic";
        if (s.tensors[t].touched != m.touched[t]) return "touched regions";
        Index last_store = -1;
        for (const Touched& r : m.touched[t]) last_store = std::max(last_store, r.last_store);
        if (s.tensors[t].last_store != last_store) return "last store";
        if (!same_bits(player.values(t), m.tensors[t])) return "contents of tensor " + player.trace().tensors()[t].name;
    }
    return "";
}

struct Recorded {
    std::unique_ptr<Trace> trace;
    Counters total;
    std::vector<Traffic> traffic;
};

Recorded record(unsigned seed, Mode mode) {
    Gpu gpu(small_gpu(), mode, 1);
    Recorded r{std::make_unique<Trace>(gpu), {}, {}};
    gpu.listen(*r.trace);
    RandomProgram(seed).run(gpu);
    r.total = gpu.total();
    for (std::size_t t = 0; t < gpu.tensors().size(); ++t) r.traffic.push_back(gpu.traffic(static_cast<TensorId>(t)));
    return r;
}

/// A recording that is long enough for several keyframes, and short enough to keep all its states.
Recorded record_long(unsigned& seed, Mode mode) {
    for (;; ++seed)
        if (Recorded r = record(seed, mode); r.trace->size() > 1500 && r.trace->size() < 6000) return r;
}

/// The states after 0, 1, 2, ... steps, each reached by a single step.
std::vector<MachineState> states(const Trace& trace) {
    Player player(trace);
    std::vector<MachineState> out;
    for (Index k = 0; k <= trace.size(); ++k) {
        player.seek(k);
        out.push_back(player.state());
    }
    return out;
}

}  // namespace

TEST_CASE("every state is what the machine held at that moment", "[player]") {
    int played = 0;
    for (unsigned seed = 0; played < 100; ++seed) {
        Gpu gpu(small_gpu(), numeric_mode, 1);
        Trace trace(gpu);
        Witness witness(gpu);
        gpu.listen(trace);
        gpu.listen(witness);
        Gpu counted(small_gpu(), count_mode, 1);
        RandomProgram(seed).run(counted);
        if (counted.total().thread_blocks > 25) continue;
        RandomProgram(seed).run(gpu);
        if (trace.size() > 600) continue;
        ++played;
        CAPTURE(seed, trace.size());
        Player player(trace);
        REQUIRE(player.size() == static_cast<Index>(witness.moments.size()));
        // Forwards, then backwards.
        for (Index k = 1; k <= player.size(); ++k) {
            player.seek(k);
            if (const auto w = wrong(player, witness.moments[static_cast<std::size_t>(k - 1)]); !w.empty())
                FAIL("after " << k << " steps: " << w);
        }
        for (Index k = player.size(); k >= 1; k -= 3) {
            player.seek(k);
            if (const auto w = wrong(player, witness.moments[static_cast<std::size_t>(k - 1)]); !w.empty())
                FAIL("back after " << k << " steps: " << w);
        }
    }
}

TEST_CASE("a seek in any order equals a replay from the start", "[player]") {
    const Mode mode = GENERATE(numeric_mode, exact_mode);
    unsigned seed = 0;
    for (int round = 0; round < 3; ++round, ++seed) {
        const Recorded r = record_long(seed, mode);
        CAPTURE(seed, r.trace->size());
        const std::vector<MachineState> expected = states(*r.trace);
        const auto check = [&](Player& player, Index k) {
            player.seek(k);
            if (!(player.state() == expected[static_cast<std::size_t>(k)])) FAIL("state after " << k << " steps");
        };
        std::vector<Index> order(expected.size());
        std::iota(order.begin(), order.end(), 0);
        std::shuffle(order.begin(), order.end(), std::mt19937(seed));
        Player shuffled(*r.trace), backwards(*r.trace);
        for (const Index k : order) check(shuffled, k);
        for (Index k = r.trace->size(); k >= 0; --k) check(backwards, k);
        for (std::size_t k = 0; k < order.size(); k += 50) {
            Player fresh(*r.trace);
            check(fresh, order[k]);
        }
        // The states have to differ from each other, or these checks would prove nothing.
        for (std::size_t k = 1; k < expected.size(); ++k)
            if (expected[k] == expected[k - 1]) FAIL("nothing happened in step " << k - 1);
    }
}

TEST_CASE("the last state is the run's result", "[player]") {
    const Mode mode = GENERATE(numeric_mode, exact_mode);
    for (unsigned seed = 200; seed < 230; ++seed) {
        const Recorded r = record(seed, mode);
        Player player(*r.trace);
        player.seek(player.size());
        const MachineState& s = player.state();
        CHECK(difference(s.total, r.total) == "");
        CHECK(s.tiles.empty());
        CHECK(s.sram_used + s.registers_used == 0);
        for (std::size_t t = 0; t < r.traffic.size(); ++t) CHECK((s.tensors[t].traffic == r.traffic[t]));
    }
}

TEST_CASE("a seek stays within the recording", "[player]") {
    const Recorded r = record(1, numeric_mode);
    Player player(*r.trace);
    const MachineState start = player.state();
    CHECK(player.last_step() == nullptr);
    CHECK(start.launch == -1);
    CHECK(start.block == -1);
    player.seek(-5);
    CHECK((player.state() == start));
    player.seek(player.size() + 5);
    CHECK(player.position() == player.size());
    CHECK(player.last_step() == &(*r.trace)[player.size() - 1]);
    player.seek(0);
    CHECK((player.state() == start));
}

TEST_CASE("an empty recording has one state", "[player]") {
    Gpu gpu(small_gpu(), numeric_mode, 1);
    const Trace trace(gpu);
    Player player(trace);
    player.seek(1);
    CHECK(player.size() == 0);
    CHECK(player.position() == 0);
    CHECK_FALSE(player.next(enters_line));
    CHECK_FALSE(player.previous(enters_line));
}

TEST_CASE("tensors show what was stored so far, where stores overlap too", "[player]") {
    Gpu gpu(small_gpu(), numeric_mode, 1);
    Trace trace(gpu);
    Witness witness(gpu);
    gpu.listen(trace);
    gpu.listen(witness);
    const Hbm y = gpu.add({"Y", Role::output, Dtype::bf16, 2, 6, 5, nullptr});
    gpu.launch("test", {each(Tiles(1, 1))}, [&](Block& b, Span) {
        float next = 1.001f;
        // Some regions are stored a second time, after a region that overlaps them. Some are parts of rows.
        for (const auto& [slice, rows, cols] :
             {std::tuple(0, Span{0, 4}, Span{0, 5}), std::tuple(0, Span{2, 4}, Span{1, 3}),
              std::tuple(0, Span{0, 4}, Span{0, 5}), std::tuple(1, Span{0, 6}, Span{4, 1}),
              std::tuple(0, Span{2, 4}, Span{1, 3}), std::tuple(1, Span{5, 1}, Span{0, 5})}) {
            Tile t = b.alloc_registers("t", rows.size, cols.size, next++);
            b.store(t, y.slice(slice), rows, cols);
        }
    });
    Player player(trace);
    for (const Index step : {24, 1, 13, 9, 10, 5, 4, 20, 3, 24, 12}) {
        player.seek(std::min<Index>(step, player.size()));
        CAPTURE(step);
        CHECK(wrong(player, witness.moments.at(static_cast<std::size_t>(player.position() - 1))) == "");
    }
    player.seek(player.size());
    CHECK(same_bits(player.values(0), contents(gpu.tensors()[0])));
}

TEST_CASE("tiles leave the chip in any order", "[player]") {
    Gpu gpu(small_gpu(), numeric_mode, 1);
    Trace trace(gpu);
    Witness witness(gpu);
    gpu.listen(trace);
    gpu.listen(witness);
    in_block(gpu, [](Block& b) {
        std::optional<Tile> first(b.alloc("first", 1, 1, Space::sram, Dtype::f32, 1));
        std::optional<Tile> second(b.alloc("second", 1, 2, Space::sram, Dtype::f32, 2));
        Tile third = b.alloc("third", 1, 3, Space::sram, Dtype::f32, 3);
        first.reset();
        Tile fourth = b.alloc("fourth", 1, 4, Space::sram, Dtype::f32, 4);
        second.reset();
        exp(b, third);
    });
    Player player(trace);
    for (Index k = 1; k <= player.size(); ++k) {
        player.seek(k);
        CHECK(wrong(player, witness.moments[static_cast<std::size_t>(k - 1)]) == "");
    }
}

TEST_CASE("a recording without values plays without contents", "[player]") {
    const Recorded r = record(5, exact_mode);
    Player player(*r.trace);
    REQUIRE(player.next([](const Step& s) { return s.event.out != no_tile; }));
    CHECK(player.values(player.state().tiles.at(0)).empty());
    CHECK(player.values(0).empty());
}

TEST_CASE("next and previous go to just after the step that is looked for", "[player]") {
    unsigned seed = 0;
    const Recorded r = record_long(seed, numeric_mode);
    const Trace& trace = *r.trace;
    const auto moves = [](const Step& s) { return s.moves_data(); };
    const auto check = [&](auto wanted) {
        std::vector<Index> after;  // the positions at which to stop
        for (Index k = 0; k < trace.size(); ++k)
            if (wanted(trace[k])) after.push_back(k + 1);
        Player player(trace);
        std::vector<Index> forwards, backwards;
        while (player.next(wanted)) forwards.push_back(player.position());
        if (!after.empty()) CHECK(player.position() == after.back());  // the player stays at the last one
        player.seek(trace.size() + 1);
        if (!after.empty() && after.back() == trace.size()) backwards.push_back(trace.size());
        while (player.previous(wanted)) backwards.push_back(player.position());
        std::reverse(backwards.begin(), backwards.end());
        CHECK(forwards == after);
        CHECK(backwards == after);
        return after.size();
    };
    CHECK(check(enters_line) > 5);
    CHECK(check(moves) > 5);
    CHECK(check(is(Kind::block_begin)) > 1);
    CHECK(check(is(Kind::block_end)) > 1);
    CHECK(check(is(Kind::launch)) == trace.launches().size());
    const std::uint16_t line = trace[*trace.find_forward(0, moves)].event.line;
    CHECK(check(visits(line)) > 0);
    CHECK(check([](const Step&) { return true; }) == static_cast<std::size_t>(trace.size()));
    CHECK(check([](const Step&) { return false; }) == 0);
}
