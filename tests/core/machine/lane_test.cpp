// Lanes and rings change who issues an operation and what memory is charged for slots, but nothing that is counted.
#include "core/machine/lane.hpp"

#include <map>
#include <set>
#include <sstream>

#include "core/machine/counters.hpp"
#include "core/machine/launch_info.hpp"
#include "core/machine/tensor_info.hpp"
#include "core/record/outline.hpp"
#include "core/record/player.hpp"
#include "core/record/trace_file.hpp"
#include "tests/support/folder.hpp"
#include "tests/support/laned.hpp"

using namespace tilescope;
using namespace tilescope::testing;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;

namespace {

struct Ran {
    Counters total;
    std::vector<Traffic> traffic;
    std::vector<float> o;
    Bytes sram, registers;
};

Ran run(const Laned& l, Mode mode, const GpuSpec& spec = small_gpu()) {
    Gpu gpu(spec, mode, 1);
    run_laned(gpu, l);
    Ran ran{gpu.total(), {}, contents(gpu.tensors()[3]), gpu.peak(Space::sram), gpu.peak(Space::registers)};
    for (TensorId t = 0; t < 4; ++t) ran.traffic.push_back(gpu.traffic(t));
    return ran;
}

Trace recorded(const Laned& l) {
    Gpu gpu(small_gpu(), numeric_mode, 1);
    Trace trace(gpu);
    gpu.listen(trace);
    run_laned(gpu, l);
    return trace;
}

template <class Error>
std::string refusal(const std::function<void(Block&, const Hbm&)>& body, const GpuSpec& spec = small_gpu()) {
    return message_of<Error>([&] {
        Gpu gpu(spec, count_mode, 1);
        const Hbm x = gpu.add({"X", Role::input, Dtype::f32, 1, 64, 8});
        in_block(gpu, [&](Block& b) { body(b, x); });
    });
}

/// The slots that tiles are loaded into, by all thread blocks.
std::vector<Index> slots_of(const Laned& l) {
    struct Heard : Listener {
        std::vector<Index> slots;
        void on(const Event& e, TileData) override {
            if (e.kind() == Kind::load && e.tile->within != no_tile) slots.push_back(e.tile->slot);
        }
    } heard;
    Gpu gpu(small_gpu(), exact_mode, 1);
    gpu.listen(heard);
    run_laned(gpu, l);
    return heard.slots;
}

}  // namespace

TEST_CASE("lanes and a ring: the same counts, values and promises, and places charged at once", "[lane]") {
    for (const Index keys : {40, 48, 16, 7})
        for (const Mode mode : {count_mode, exact_mode, numeric_mode}) {
            INFO(keys << " keys");
            const Ran with = run({.keys = keys}, mode), without = run({.keys = keys, .lanes = false}, mode);
            CHECK(difference(with.total, without.total) == "");
            CHECK(with.traffic == without.traffic);
            CHECK(same_bits(with.o, without.o));
            // Four slots of 16 x 8, and two Q; two consumers of 4 warps, with 64 registers of 4 bytes a thread.
            CHECK(with.sram == 4 * (4 * 16 * 8 + 2 * 8 * 8));
            CHECK(with.registers == 2 * 4 * 32 * 64 * 4);
            const Ran open = run({.keys = keys, .registers = 0}, mode);
            CHECK(open.registers == without.registers);
        }
}

TEST_CASE("a ring of half tiles charges its slots, and holds the whole tiles among them", "[lane]") {
    for (const Mode mode : {count_mode, exact_mode, numeric_mode}) {
        const Ran halves = run({.slots = 5, .pieces = 2}, mode), without = run({.lanes = false}, mode);
        CHECK(difference(halves.total, without.total) == "");
        CHECK(halves.traffic == without.traffic);
        CHECK(same_bits(halves.o, without.o));
        CHECK(halves.sram == 4 * (5 * 8 * 8 + 2 * 8 * 8));  // five slots of 8 x 8, and two Q
    }
    // K and V are there at the same time: four halves. Three have room for one whole tile.
    CHECK_THAT(message_of<Misuse>([] { run({.slots = 3, .pieces = 2}, count_mode); }),
               StartsWith("load: slot 0 of ring KV still holds K: it has 1 slot"));
    CHECK(slots_of({.keys = 32, .slots = 5, .pieces = 2}) == std::vector<Index>{0, 1, 0, 1, 0, 1, 0, 1});
}

TEST_CASE("an event says which lane issued it, and a tile where it has its place", "[lane]") {
    struct Heard : Listener {
        std::map<std::string, std::set<std::string>> by;  // names of each lane's operations
        void on(const Event& e, TileData) override {
            by[e.lane ? e.lane->name : ""].insert(e.operation->name);
            if (e.lane && e.lane->name == std::string("WG1")) CHECK(e.lane->spec.turns);
        }
    } heard;
    Gpu gpu(small_gpu(), exact_mode, 1);
    gpu.listen(heard);
    run_laned(gpu, {.keys = 64});
    CHECK(heard.by["producer"] == std::set<std::string>{"load"});
    CHECK(heard.by["WG1"] == heard.by["WG2"]);
    CHECK(heard.by["WG1"].count("matmul") == 1);
    CHECK(heard.by["WG1"].count("store") == 1);
    CHECK(heard.by[""] == std::set<std::string>{"alloc", "release"});
    CHECK(slots_of({.keys = 64}) == std::vector<Index>{0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3});
}

TEST_CASE("who issues is known to the outline", "[lane]") {
    Gpu gpu(small_gpu(), count_mode, 1);
    Outline outline;
    gpu.listen(outline);
    run_laned(gpu, {});
    std::vector<std::string> by;
    for (const Deed& d : outline.launches()[0].blocks[0].passages[1].deeds)
        if (by.empty() || by.back() != d.lane) by.emplace_back(d.lane);
    CHECK(by == std::vector<std::string>{"producer", "WG1", "WG2"});
}

TEST_CASE("a run with lanes is recorded, stepped back and forth, written and read", "[lane][trace]") {
    const Trace trace = recorded({});
    CHECK(trace.lanes() == std::vector<std::string>{"WG1", "WG2", "producer"});
    Player player(trace), fresh(trace);
    player.seek(trace.size());
    CHECK(player.state().total == run({}, numeric_mode).total);
    for (Index n = trace.size(); n >= 0; n -= 7) {
        player.seek(n);
        fresh.seek(0), fresh.seek(n);
        CHECK(player.state() == fresh.state());
    }
    const auto by_second = [&](const Step& s) { return s.lane == 1; };
    player.seek(0);
    REQUIRE(player.next(by_second));
    CHECK(trace.tiles()[player.last_step()->tile()].name == "Q");

    std::ostringstream out, again;
    write_trace(out, "{}", trace);
    std::istringstream in(out.str());
    const ReadTrace read = read_trace(in, "lanes.json");
    CHECK(divergence(trace, read.trace) == "");
    CHECK(read.trace.lanes() == trace.lanes());
    CHECK(read.trace.tiles() == trace.tiles());
    write_trace(again, "{}", read.trace);
    CHECK(again.str() == out.str());
    for (Index n = 0; n < trace.size(); ++n) CHECK(read.trace[n].lane == trace[n].lane);

    // A tile that claims a slot of another thread block.
    std::string wrong = out.str();
    const std::size_t at = wrong.rfind("\"within\":");
    wrong.replace(at, wrong.find_first_of(",}", at) - at, "\"within\":0");
    std::istringstream broken(wrong);
    CHECK_THAT(message_of<UsageError>([&] { read_trace(broken, "lanes.json"); }),
               ContainsSubstring("within: tile 0 is of another thread block, or elsewhere"));
}

TEST_CASE("a ring and a lane's registers hold what they have room for", "[lane]") {
    CHECK_THAT(message_of<Misuse>([] { run({.slots = 1}, count_mode); }),
               StartsWith("load: slot 0 of ring KV still holds K: it has 1 slot, filled round and round; give the tile "
                          "back before, or give the ring more, at "));
    CHECK_THAT(message_of<OutOfChipMemory>([] { run({.registers = 1}, count_mode); }),
               StartsWith("tile S [8 x 16 f32] does not fit in registers of WG1 at line 3: needs 512 B, 288 of 512 B"));
    CHECK_THAT(message_of<OutOfChipMemory>([] { run({.registers = 200}, count_mode, small_gpu(1 << 20, 1 << 16)); }),
               ContainsSubstring("WG1 [128 x 200 f32] does not fit in registers at line 0"));
    CHECK_THAT(message_of<OutOfChipMemory>([] { run({.slots = 65}, count_mode, small_gpu(1 << 15)); }),
               StartsWith("tile KV [1040 x 8 f32] does not fit in SRAM"));
    const auto misuse = [](const auto& body) { return refusal<Misuse>(body); };
    CHECK_THAT(misuse([](Block& b, const Hbm& x) {
                   Ring ring = b.ring("KV", 2, 16, 8, Dtype::f16);
                   b.load(ring, x, {0, 16});
               }),
               StartsWith("load: slot 0 of ring KV has 256 B, and the tile 512, at "));
    CHECK_THAT(misuse([](Block& b, const Hbm&) { b.ring("KV", 0, 16, 8, Dtype::f16); }),
               StartsWith("ring: KV has no slot, at "));
    CHECK_THAT(misuse([](Block& b, const Hbm&) { b.lane("idle", {.warps = 0}); }),
               StartsWith("lane: idle has no warp, at "));
    CHECK_THAT(misuse([](Block& b, const Hbm&) { b.lane("WG1", {.registers_per_thread = 256}); }),
               StartsWith("lane: WG1 has 256 registers a thread; there are 255 at most"));
    CHECK_THAT(misuse([](Block& b, const Hbm&) { b.lane("WG1", {.registers_per_thread = -1}); }),
               StartsWith("lane: WG1 has -1 registers a thread"));
    CHECK_THAT(misuse([](Block& b, const Hbm&) { b.lane("WG1", {.warps = 6, .turns = true}); }),
               StartsWith("lane: WG1 has 6 warps, and turns are of warpgroups of 4, at "));
    CHECK_THAT(misuse([](Block& b, const Hbm&) { Lane one = b.lane("WG1", {}), again = b.lane("WG1", {}); }),
               StartsWith("lane: WG1 is there already; declare it once a thread block"));
    // Slots are filled in order: the first slot's tile has to be given back before the third tile comes.
    CHECK_THAT(misuse([](Block& b, const Hbm& x) {
                   Ring ring = b.ring("KV", 2, 16, 8, Dtype::f32);
                   Tile first = b.load(ring, x, {0, 16});
                   { Tile second = b.load(ring, x, {16, 16}); }
                   Tile third = b.load(ring, x, {32, 16});
               }),
               StartsWith("load: slot 0 of ring KV still holds X: it has 2 slots, filled round and round"));
}

TEST_CASE("a lane issues what stands in its expression, and nothing else", "[lane]") {
    Gpu gpu(small_gpu(), exact_mode, 1);
    std::vector<std::string> by;
    struct Heard : Listener {
        std::vector<std::string>& by;
        explicit Heard(std::vector<std::string>& to) : by(to) {}
        void on(const Event& e, TileData) override {
            if (e.kind() == Kind::load) by.emplace_back(e.lane ? e.lane->name : "");
        }
    } heard(by);
    gpu.listen(heard);
    const Hbm x = gpu.add({"X", Role::input, Dtype::f32, 1, 64, 8});
    in_block(gpu, [&](Block& b) {
        Lane one = b.lane("one", {}), two = b.lane("two", {});
        b.load(x, {0, 8});
        one->load(x, {0, 8});
        b.load(x, {0, 8});
        two->load(x, {0, 8});
    });
    in_block(gpu, [&](Block& b) { b.load(x, {0, 8}); });
    CHECK(by == std::vector<std::string>{"", "one", "", "two", ""});
}
