// What events say: pairs of begin and end, operands, meaning, and place in the matrix.
#include "core/machine/event.hpp"

#include <set>

#include "core/machine/mode.hpp"
#include "core/text/message.hpp"
#include "tests/support/harness.hpp"

using namespace tilescope;
using namespace tilescope::testing;
using Catch::Matchers::ContainsSubstring;

namespace {

/// Writes launches as (), thread blocks as [], loops as {} and loads as l.
struct Brackets : Listener {
    std::string said;
    void begin(const LaunchMark& m) override { said += std::string(m.kernel) + "("; }
    void end(const LaunchMark&) override { said += ")"; }
    void begin(const BlockMark& m) override {
        said += "[" + std::to_string(m.at[0].begin) + "x" + std::to_string(m.times) + " ";
    }
    void end(const BlockMark&) override { said += "]"; }
    void begin(const LoopMark& m) override {
        said += std::string(m.tiles.name()) + "{" + (m.promise == Promise::uniform ? "u" : "e");
    }
    void turn(const TurnMark& m) override { said += " " + std::to_string(m.index) + "x" + std::to_string(m.times); }
    void end(const LoopMark&) override { said += "}"; }
    void on(const Event& e, TileData) override { said += e.kind() == Kind::load ? "l" : ""; }
};

TensorInfo tensor(const char* name, Role role, Index rows, Index cols, Meaning meaning, Index slices = 1,
                  Index heads_per_slice = 1) {
    return {name, role, Dtype::f32, slices, rows, cols, nullptr, meaning, heads_per_slice};
}

}  // namespace

TEST_CASE("launches, blocks, loops and turns begin and end in pairs", "[event]") {
    const auto run = [](Mode mode) {
        Gpu gpu(small_gpu(), mode, 1);
        Brackets heard;
        gpu.listen(heard);
        const Hbm x = gpu.add({"X", Role::input, Dtype::f32, 1, 4, 2, nullptr});
        gpu.launch("k", {uniform(2, "head")}, [&](Block& b, Span) {
            b.uniform(Tiles(5, 2, "j"), [&](Span) { Tile t = b.load(x, {0, 2}); });
            b.each(Tiles(2, 1, "i"), [](Span) {});
        });
        return heard.said;
    };
    const std::string block = "j{u 0x1l 1x1l 2x1l}i{e 0x1 1x1}]";
    CHECK(run(exact_mode) == "k([0x1 " + block + "[1x1 " + block + ")");
    CHECK(run(count_mode) == "k([0x2 j{u 0x4l 2x2l}i{e 0x2 1x2}])");
}

TEST_CASE("a listener that needs what the mode has not is refused", "[event]") {
    struct Needy : Brackets {
        Needs wanted;
        Needs needs() const override { return wanted; }
    } exact, data;
    exact.wanted.exact = true;
    data.wanted.data = true;
    Gpu folded(small_gpu(), count_mode, 1), shapes(small_gpu(), exact_mode, 1), numbers(small_gpu(), numeric_mode, 1);
    CHECK_THROWS_WITH(folded.listen(exact), ContainsSubstring("every thread block"));
    CHECK_NOTHROW(shapes.listen(exact));
    CHECK_THROWS_WITH(shapes.listen(data), ContainsSubstring("contents"));
    CHECK_NOTHROW(numbers.listen(data));
}

TEST_CASE("a tile of scores knows its queries and its keys", "[event]") {
    Gpu gpu(small_gpu(), exact_mode, 1);
    Log log;
    gpu.listen(log);
    const Hbm Q = gpu.add(tensor("Q", Role::input, 12, 4, Meaning::query, 6));
    const Hbm K = gpu.add(tensor("K", Role::input, 20, 4, Meaning::key, 2, 3));
    const Hbm V = gpu.add(tensor("V", Role::input, 20, 5, Meaning::value, 2, 3));
    gpu.launch("k", {uniform(Tiles(1, 1))}, [&](Block& b, Span) {
        const Span head{4, 1}, i{4, 4}, j{10, 5};
        Tile q = b.load(Q.of(head), i), k = b.load(K.of(head), j), v = b.load(V.of(head), j);
        Tile s = b.alloc_registers("S", 4, 5), o = b.alloc_registers("O", 4, 5), m = b.alloc_registers("m", 4, 1);
        Tile c = b.alloc_registers("c", 4, 1);
        b.matmul(s, q, k, Trans::b, 0.5f);
        copy(b, c, m);
        row_max(b, m, s);
        exp_minus(b, s, m);
        scale_rows(b, o, c);
        b.matmul(o, s, v, Trans::none);
    });
    const auto products = log.of(Kind::product);
    REQUIRE(products.size() == 2);
    const Event &score = products[0].event, &output = products[1].event;
    CHECK(score.operation == find_operation("matmul"));
    CHECK(score.meaning == Meaning::score);
    CHECK((score.region == Region{no_tensor, 4, {4, 4}, {10, 5}}));
    CHECK_FALSE(score.reads[0].transposed);
    CHECK(score.reads[1].transposed);
    CHECK(score.alpha == 0.5f);
    CHECK(output.meaning == Meaning::output);
    CHECK((output.region == Region{no_tensor, 4, {4, 4}, {0, 5}}));
    CHECK_FALSE(output.reads[1].transposed);
    const Log::Entry maximum = log.of(Kind::reduce).at(0);
    CHECK(maximum.event.meaning == Meaning::statistic);
    CHECK((maximum.event.region == Region{no_tensor, 4, {4, 4}, {0, 1}}));
    // The region's slice is the key head that a group of heads shares. The exponential keeps the region of its operand.
    CHECK(log.of(Kind::load).at(1).event.region.slice == 1);
    CHECK((log.of(Kind::map).at(1).event.region == score.region));
    // c was copied from a tile of zeros. Scaling rows by c shows that c holds one number per row.
    for (const Log::Entry& e : log.of(Kind::release))
        if (e.tile == "c") CHECK(e.event.meaning == Meaning::statistic);
}

TEST_CASE("a product says in which type its operands are multiplied", "[event]") {
    Gpu gpu(small_gpu(), exact_mode, 1);
    Log log;
    gpu.listen(log);
    in_block(gpu, [](Block& b) {
        Tile wide = b.alloc_registers("p", 2, 2), narrow = b.alloc("v", 2, 2, Space::sram, Dtype::bf16);
        Tile o = b.alloc_registers("o", 2, 2);
        b.matmul(o, wide, narrow, Trans::none);
        b.matmul(o, narrow, wide, Trans::none);
        b.matmul(o, wide, wide, Trans::none);
    });
    const auto products = log.of(Kind::product);
    CHECK(products.at(0).event.math == Dtype::bf16);
    CHECK(products.at(1).event.math == Dtype::bf16);
    CHECK(products.at(2).event.math == Dtype::f32);
}

TEST_CASE("events name the program's file and line", "[event]") {
    Gpu gpu(small_gpu(), exact_mode, 1);
    Log log;
    gpu.listen(log);
    std::uint32_t line = 0;
    in_block(gpu, [&](Block& b) {
        line = __LINE__ + 1;
        Tile t = b.alloc_registers("t", 1, 1);
        exp(b, t);
    });
    CHECK(log.all.at(0).event.source_line == line);
    CHECK(log.all.at(1).event.source_line == line + 1);
    CHECK_THAT(log.all.at(1).event.source_file, ContainsSubstring("event_test.cpp"));
}

TEST_CASE("every operation has its words, its formula and a name of its own", "[event]") {
    std::vector<std::string> names;
    for (const Operation* o : operations()) {
        INFO(o->name);
        CHECK(find_operation(o->name) == o);
        CHECK(text::language().words(std::string("operation.") + o->name));
        CHECK_FALSE(formula_of(o->effect).empty());
        const bool counts = o->price.exps + o->price.flops > 0;
        if (o->kind != Kind::product) CHECK((*o->unit != 0) == counts);
        names.emplace_back(o->name);
    }
    CHECK(names.size() == 39);
    CHECK(find_operation("mend") == nullptr);
    std::set<std::string> formulas;
    for (int e = 1; e < effect_count; ++e) formulas.emplace(formula_of(static_cast<Effect>(e)));
    CHECK(formulas.size() == static_cast<std::size_t>(effect_count) - 1);  // each effect has its own formula
    CHECK_FALSE(formulas.contains(""));
}

TEST_CASE("what a listener throws as a tile is given back, which a destructor does, ends the run", "[event]") {
    struct Refuses : Listener {
        Index releases = 0, heard_after = 0;
        void begin(const LoopMark&) override { heard_after += releases; }
        void visit(const LineMark&) override { heard_after += releases; }
        void end(const BlockMark&) override { heard_after += releases; }
        void on(const Event& event, TileData) override {
            heard_after += releases;
            if (event.kind() != Kind::release) return;
            ++releases;
            throw std::bad_alloc();
        }
    };
    const auto two_tiles = [](Block& b) {
        const Tile first = b.alloc_registers("first", 1, 1);
        const Tile second = b.alloc_registers("second", 1, 1);
    };
    const std::pair<const char*, std::function<void(Block&)>> ways_on[] = {
        {"an event", [](Block& b) { b.alloc_registers("third", 1, 1); }},
        {"a visit", [](Block& b) { b.at(2); }},
        {"a loop", [](Block& b) { b.each(Tiles(4, 2, "j"), [](Span) {}); }},
        {"nothing", [](Block&) {}}};
    for (const auto& way : ways_on) {
        INFO("followed by " << way.first);
        for (const Mode mode : {count_mode, exact_mode, numeric_mode}) {
            Refuses listener;
            Gpu gpu(small_gpu(), mode, 1);
            gpu.listen(listener);
            const auto launch = [&] {
                gpu.launch("kernel", {{Tiles(4, 2, "i"), Promise::uniform}}, [&](Block& b, Span) {
                    two_tiles(b);
                    way.second(b);
                });
            };
            CHECK_THROWS_AS(launch(), std::bad_alloc);
            CHECK(listener.releases == 1);
            CHECK(listener.heard_after == 0);
        }
    }
}
