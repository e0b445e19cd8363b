// Tensors whose rows lie in pages: a load reads the table first, and finds the rows in any page.
#include "core/machine/mode.hpp"
#include "core/machine/storage.hpp"
#include "tests/support/folder.hpp"
#include "tests/support/harness.hpp"

using namespace tilescope;
using namespace tilescope::testing;

namespace {

constexpr Index pages_of_a_slice = 4;

/// Two slices of `rows` rows: 10 r + c in row r and column c of the first, 1000 more in the second. Pages lie in
/// reverse order, those of the second slice first.
struct Paged {
    Index size, rows;

    std::shared_ptr<Storage> table() const {
        const auto t = std::make_shared<Storage>(Dtype::i32, 2, pages_of_a_slice, 1);
        t->write(0, std::vector<float>{7, 6, 5, 4, 3, 2, 1, 0});
        return t;
    }
    TensorInfo tensor(const char* name, TensorId table, bool data) const {
        TensorInfo t{name, Role::input, Dtype::f32, 2, rows, 2};
        t.pages = {size, 2 * pages_of_a_slice, 1, table};
        if (!data) return t;
        t.pages.pool = std::make_shared<Storage>(Dtype::f32, 1, 2 * pages_of_a_slice * size, 2);
        for (Index s = 0; s < 2; ++s)
            for (Index r = 0; r < rows; ++r) {
                const Index page = 7 - (s * pages_of_a_slice + r / size);
                const float row[] = {value(s, r, 0), value(s, r, 1)};
                t.pages.pool->write(0, {page * size + r % size, 1}, {0, 2}, row);
            }
        return t;
    }
    static float value(Index s, Index r, Index c) { return static_cast<float>(1000 * s + 10 * r + c); }
};

}  // namespace

TEST_CASE("rows of pages are found wherever the pages are", "[pages]") {
    const Paged paged{3, 11};
    Gpu gpu(small_gpu(), numeric_mode, 1);
    const Hbm x = gpu.add(paged.tensor("X", 1, true));
    gpu.add({"table", Role::input, Dtype::i32, 2, pages_of_a_slice, 1, paged.table()});
    const auto out = std::make_shared<Storage>(Dtype::f32, 2, paged.rows, 2);
    const Hbm y = gpu.add({"Y", Role::output, Dtype::f32, 2, paged.rows, 2, out});
    gpu.launch("copy", {each(Tiles(2, 1)), each(Tiles(paged.rows, 4, "i"))}, [&](Block& b, Span s, Span i) {
        Tile t = b.load(x.slice(s.begin), i, {0, 1});
        Tile u = b.load(x.slice(s.begin), i, {1, 1}, Space::registers);
        b.store(t, y.slice(s.begin), i, {0, 1});
        b.reload(t, x.slice(s.begin), i, {1, 1});
        b.store(t, y.slice(s.begin), i, {1, 1});
    });
    for (Index s = 0; s < 2; ++s)
        for (Index r = 0; r < paged.rows; ++r) {
            float row[2];
            out->read(s, {r, 1}, {0, 2}, row);
            CHECK(row[0] == Paged::value(s, r, 0));
            CHECK(row[1] == Paged::value(s, r, 1));
        }
    // Rows 0-3, 4-7, 8-10 lie in 2 pages each. The second and third load of a tile need not read the entries again.
    CHECK(gpu.traffic(1).read == 2 * 3 * 2 * 4);
    CHECK(gpu.tensors()[0].bytes() == 8 * 3 * 2 * 4);
}

TEST_CASE("entries of the table are read once for all tensors of a turn, and again in the next", "[pages]") {
    const Paged paged{4, 16};
    const Index seen = GENERATE(4, 8, 16);  // rows of a tile
    for (const Mode mode : {count_mode, exact_mode}) {
        Gpu gpu(small_gpu(), mode, 1);
        const Hbm k = gpu.add(paged.tensor("K", 2, false)), v = gpu.add(paged.tensor("V", 2, false));
        gpu.add({"table", Role::input, Dtype::i32, 2, pages_of_a_slice, 1});
        gpu.launch("both", {uniform(2)}, [&](Block& b, Span s) {
            for (int pass = 0; pass < 3; ++pass)
                b.uniform(Tiles(16, seen, "j"), [&](Span j) {
                    Tile x = b.load(k.slice(s.begin), j);
                    Tile y = b.load(v.slice(s.begin), j);
                });
        });
        CHECK(gpu.traffic(2).read == 2 * 3 * 4 * 4);
        CHECK(gpu.traffic(0).read == 2 * 3 * 16 * 2 * 4);
    }
}

TEST_CASE("tiles that cross pages unevenly are counted one by one, graded and in parts, too",
          "[pages][graded][parts]") {
    const Index size = GENERATE(1, 2, 3, 5, 7, 12), tile = GENERATE(1, 2, 3, 4, 6), rows = GENERATE(18, 23);
    CAPTURE(size, tile, rows);
    const Tiles keys(rows, tile, "j"), is(rows, 4, "i"), cut(24, 2 * tile * 3, "s");
    const Seen seen = Seen(keys).and_before_end(0);
    const auto total = [&](Mode mode) {
        Gpu gpu(small_gpu(), mode, 1);
        Paged paged{size, rows};
        TensorInfo info = paged.tensor("K", 1, false);
        info.pages.in_pool = 2 * ceil_div(rows, size);
        const Hbm k = gpu.add(info);
        gpu.add({"table", Role::input, Dtype::i32, 2, ceil_div(rows, size), 1});
        gpu.launch("all", {uniform(2), graded(is, seen)}, [&](Block& b, Span s, Span i) {
            b.uniform(seen(i), [&](Span j) { Tile x = b.load(k.slice(s.begin), j); });
        });
        gpu.launch("parts", {uniform(2), graded(is, seen), parts(cut)}, [&](Block& b, Span s, Span i, Span part) {
            const Tiles own = seen(i).within(part);
            b.uniform(own, [&](Span j) { Tile x = b.load(k.slice(s.begin), j); });
        });
        return std::pair(gpu.total(), gpu.traffic(1).read);
    };
    Bytes entries = 0;
    for (Index i = 0; i < is.count(); ++i)
        for (Index j = 0; j < seen(is[i]).count(); ++j)
            entries += (keys[j].end() - 1) / size - keys[j].begin / size + 1;
    const auto counted = total(count_mode), exact = total(exact_mode);
    CHECK(difference(counted.first, exact.first) == "");
    CHECK(counted.second == exact.second);
    CHECK(exact.second == 2 * 2 * entries * 4);
}

TEST_CASE("what lies in pages is only read, and all pages are of one size", "[pages][mistakes]") {
    const Paged paged{4, 16};
    Gpu gpu(small_gpu(), count_mode, 1);
    const Hbm k = gpu.add(paged.tensor("K", 1, false));
    gpu.add({"table", Role::input, Dtype::i32, 2, pages_of_a_slice, 1});
    CHECK(message_of<std::logic_error>([&] {
              gpu.add(Paged{8, 16}.tensor("V", 1, false));
          }) == "V: pages of 8 rows, where others have 4");
    const auto write = [&](Block& b, Span) {
        Tile t = b.alloc_registers("t", 4, 2);
        b.store(t, k, {0, 4});
    };
    CHECK(contains(message_of<std::logic_error>([&] { gpu.launch("write", {each(Tiles(1, 1))}, write); }),
                   "store: K lies in pages, which are only read, at source line "));
}
