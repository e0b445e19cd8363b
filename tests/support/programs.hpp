// Random tile programs.
#pragma once

#include "tests/support/harness.hpp"

namespace tilescope::testing {

/// A random program: several launches of nested loops over loads, stores and arithmetic. Some loops promise that their
/// tiles cost the same. The promises are kept, because only positions in `each` loops and axes decide how much is done.
/// Thread blocks write to slices of their own, so that any number of threads computes the same.
class RandomProgram {
  public:
    explicit RandomProgram(unsigned seed) : random_(seed) {
        launches_.resize(static_cast<std::size_t>(pick(1, 3)));
        for (Launch& l : launches_) make(l);
    }

    void run(Gpu& gpu) const {
        const bool data = gpu.mode().data;
        const auto input = [&](const char* name, Dtype dtype, Index cols, unsigned seed) {
            if (!data) return gpu.add({name, Role::input, dtype, 1, rows, cols, nullptr});
            return gpu.add(filled(name, Role::input, dtype, 1, rows, cols, random_floats(rows * cols, seed)));
        };
        const Hbm in[] = {input("X", Dtype::f32, 5, 1), input("Y", Dtype::f16, 3, 2)};
        const Hbm out[] = {gpu.add({"Z", Role::output, Dtype::f32, most_blocks(), rows, 5, nullptr}),
                           gpu.add({"W", Role::scratch, Dtype::bf16, most_blocks(), rows, 3, nullptr})};
        for (const Launch& l : launches_) {
            const auto body = [&](Block& b, auto... at) {
                std::vector<Span> around{at...};
                for (const Node& n : l.body) execute(b, n, around, in, out);
            };
            if (l.axes.size() == 1) gpu.launch("one", {l.axes[0]}, [&](Block& b, Span i) { body(b, i); });
            if (l.axes.size() == 2)
                gpu.launch("two", {l.axes[0], l.axes[1]}, [&](Block& b, Span i, Span j) { body(b, i, j); });
            if (l.axes.size() == 3)
                gpu.launch("three", {l.axes[0], l.axes[1], l.axes[2]},
                           [&](Block& b, Span i, Span j, Span k) { body(b, i, j, k); });
        }
    }

  private:
    static constexpr Index rows = 12;
    enum class Kind { uniform, each, load, softmax, product, store };
    struct Node {
        Kind kind;
        std::uint16_t line;
        std::size_t around;       ///< the enclosing loop or axis whose tile gives the rows to work on
        std::size_t which;        ///< a random number; its remainders choose tensor, space, ...
        Tiles tiles{0, 1};        ///< of a loop
        bool limited = false;     ///< whether the loop's range depends on the position in `decider`
        bool repeated = false;    ///< whether the operation is repeated, by the position in `decider`
        std::size_t decider = 0;  ///< an enclosing `each` loop or axis
        std::vector<Node> body = {};
    };
    struct Launch {
        std::vector<Axis> axes;
        std::vector<Node> body;
    };

    Index pick(Index from, Index to) { return std::uniform_int_distribution<Index>(from, to)(random_); }
    bool chance(Index percent) { return pick(1, 100) <= percent; }

    void make(Launch& l) {
        const Index axes = pick(1, 3), longest = axes == 1 ? rows : axes == 2 ? 5 : 3;
        std::vector<bool> promised;
        for (Index a = 0; a < axes; ++a) {
            const Tiles tiles{pick(1, longest), pick(1, 4)};  // braces, so that the numbers are drawn in this order
            promised.push_back(chance(60));
            l.axes.push_back(promised.back() ? uniform(tiles) : each(tiles));
        }
        l.body = nodes(promised, 0);
    }

    std::vector<Node> nodes(const std::vector<bool>& promised, int depth) {
        std::vector<Node> out(static_cast<std::size_t>(pick(1, depth == 0 ? 4 : 2)));
        for (Node& n : out) n = node(promised, depth);
        return out;
    }

    Node node(const std::vector<bool>& promised, int depth) {
        Node n;
        n.kind = static_cast<Kind>(depth < 3 && chance(50) ? pick(0, 1) : pick(2, 5));
        n.line = static_cast<std::uint16_t>(++line_);
        n.around = static_cast<std::size_t>(pick(0, static_cast<Index>(promised.size()) - 1));
        n.which = static_cast<std::size_t>(pick(0, 1000));
        std::vector<std::size_t> free;
        for (std::size_t k = 0; k < promised.size(); ++k)
            if (!promised[k]) free.push_back(k);
        if (!free.empty()) {
            n.decider = free[static_cast<std::size_t>(pick(0, static_cast<Index>(free.size()) - 1))];
            n.limited = chance(40);
            n.repeated = chance(40);
        }
        std::vector<bool> inner = promised;
        if (n.kind <= Kind::each) {
            n.tiles = Tiles{pick(0, depth == 0 ? rows : 7), pick(1, 5)};
            inner.push_back(n.kind == Kind::uniform);
        }
        if (n.kind <= Kind::each || (depth < 3 && chance(40))) n.body = nodes(inner, depth + 1);
        return n;
    }

    static void execute(Block& b, const Node& n, std::vector<Span>& around, const Hbm* in, const Hbm* out) {
        b.at(n.line);
        const Index position = around[n.decider].begin;
        const auto inside = [&] {
            for (const Node& m : n.body) execute(b, m, around, in, out);
        };
        if (n.kind <= Kind::each) {
            const auto body = [&](Span s) {
                around.push_back(s);
                inside();
                around.pop_back();
            };
            Tiles tiles = n.tiles;
            if (n.limited) tiles = n.which % 2 ? tiles.upto(position) : tiles.from(position);
            return n.kind == Kind::uniform ? b.uniform(tiles, body) : b.each(tiles, body);
        }
        const Span rows_here = around[n.around];
        const std::size_t t = n.which % 2;
        const Index times = n.repeated ? 1 + position % 3 : 1;
        const Space space = n.which / 2 % 2 ? Space::sram : Space::registers;
        Tile x = b.load(in[t], rows_here, space);
        for (Index k = 0; k < times; ++k) compute(b, n, x, rows_here, in[t], out[t]);
        inside();
    }

    static void compute(Block& b, const Node& n, Tile& x, Span rows_here, const Hbm& in, const Hbm& out) {
        if (n.kind == Kind::load) b.reload(x, in, rows_here, {0, in.cols()});
        if (n.kind == Kind::softmax) {
            Tile m = b.alloc_registers("m", x.rows(), 1);
            row_max(b, m, x);
            exp_minus(b, x, m);
        }
        if (n.kind == Kind::product) {
            Tile y = b.load(in, rows_here);
            Tile s = b.alloc("S", x.rows(), x.rows(), n.which % 3 ? Space::registers : Space::sram);
            b.matmul(s, x, y, Trans::b, 0.5f);
        }
        if (n.kind == Kind::store) b.store(x, out.slice(b.index()), rows_here);
    }

    Index most_blocks() const {
        Index most = 1;
        for (const Launch& l : launches_) {
            Index blocks = 1;
            for (const Axis& a : l.axes) blocks *= a.tiles.count();
            most = std::max(most, blocks);
        }
        return most;
    }

    std::mt19937 random_;
    int line_ = 0;
    std::vector<Launch> launches_;
};

}  // namespace tilescope::testing
