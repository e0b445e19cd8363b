// Shared by the tests of core: a small machine, a way to run one thread block on it, and matrices to compare with.
#pragma once

#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "core/machine/chip_memory.hpp"
#include "core/machine/event.hpp"
#include "core/machine/gpu.hpp"
#include "core/machine/gpu_spec.hpp"
#include "core/machine/mistakes.hpp"
#include "core/machine/mode.hpp"
#include "core/machine/operations/of_block.hpp"
#include "core/machine/ops.hpp"
#include "core/machine/storage.hpp"
#include "tests/support/catch.hpp"

namespace tilescope::testing {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

inline GpuSpec small_gpu(Bytes sram = 1 << 20, Bytes registers = 1 << 20) {
    GpuSpec g;
    g.name = "small";
    g.sms = 2;
    g.sram_per_sm = g.sram_per_block = sram;
    g.registers_per_sm = registers;
    return g;
}

/// Compares bits, not numbers: NaN equals itself, and 0 differs from -0.
inline bool same_bits(std::span<const float> a, std::span<const float> b) {
    return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size_bytes()) == 0);
}

/// Each field that differs, or "" where all are equal.
inline std::string difference(const Counters& a, const Counters& b) {
    std::string out;
    for (const auto& [name, member] : Counters::fields)
        if (a.*member != b.*member)
            out += std::string(name) + ": " + std::to_string(a.*member) + " and " + std::to_string(b.*member) + "; ";
    return out;
}

inline std::vector<float> contents(const TensorInfo& t) {
    std::vector<float> out(static_cast<std::size_t>(t.size()));
    if (t.data) t.data->read(0, out);
    return out;
}

inline std::vector<float> random_floats(Index n, unsigned seed) {
    std::mt19937 random(seed);
    std::normal_distribution<float> normal;
    std::vector<float> out(static_cast<std::size_t>(n));
    for (float& x : out) x = normal(random);
    return out;
}

/// A tensor with these contents, rounded to its type.
inline TensorInfo filled(const char* name, Role role, Dtype dtype, Index slices, Index rows, Index cols,
                         std::span<const float> values) {
    auto data = std::make_shared<Storage>(dtype, slices, rows, cols);
    data->write(0, values);
    return {name, role, dtype, slices, rows, cols, data};
}

/// Passes everything to heard() as events, in order. Marks of launches and blocks become events, as in a recording.
struct Everything : Listener {
    std::string kernel;  // the current launch's
    virtual void heard(const Event& event, TileData data) = 0;

    void begin(const LaunchMark& m) override {
        kernel = m.kernel;
        heard({.operation = &operation::launch, .block = m.launch, .cost = m.cost}, {});
    }
    void begin(const BlockMark& m) override {
        heard({.operation = &operation::block_begin, .block = m.block, .cost = m.cost, .times = m.times}, {});
    }
    void end(const BlockMark& m) override {
        heard({.operation = &operation::block_end, .block = m.block, .times = m.times}, {});
    }
    using Listener::begin, Listener::end;
    void on(const Event& event, TileData data) override { heard(event, data); }
};

/// Keeps the events of operations, with the contents that they report.
struct Log : Listener {
    struct Entry {
        Event event;
        std::string tile;
        std::vector<float> data;
    };
    std::vector<Entry> all;

    void on(const Event& e, TileData data) override {
        all.push_back({e, e.tile ? e.tile->name : "", {data.begin(), data.end()}});
        all.back().event.tile = nullptr;
    }
    std::vector<Entry> of(Kind kind) const {
        std::vector<Entry> out;
        for (const Entry& e : all)
            if (e.event.kind() == kind) out.push_back(e);
        return out;
    }
};

template <class F>
void in_block(Gpu& gpu, F body) {
    gpu.launch("test", {each(Tiles(1, 1))}, [&](Block& b, Span) { body(b); });
}

/// Row-major numbers, on which tests compute the expected result of an operation in double, in plain loops.
struct Matrix {
    Index rows, cols;
    std::vector<float> x;

    Matrix(Index r, Index c, float fill = 0) : rows(r), cols(c), x(static_cast<std::size_t>(r * c), fill) {}
    Matrix(Index r, Index c, std::vector<float> v) : rows(r), cols(c), x(std::move(v)) {}
    float& operator()(Index r, Index c) { return x[static_cast<std::size_t>(r * cols + c)]; }
    float operator()(Index r, Index c) const { return x[static_cast<std::size_t>(r * cols + c)]; }
};

inline Matrix random_matrix(Index rows, Index cols, unsigned seed) {
    return {rows, cols, random_floats(rows * cols, seed)};
}

inline Hbm add(Gpu& gpu, const char* name, const Matrix& m, Dtype dtype = Dtype::f32) {
    return gpu.add(filled(name, Role::input, dtype, 1, m.rows, m.cols, m.x));
}

/// An operation op(block, out, in) on tiles. result() returns the contents of `out` after the operation.
using OnTiles = std::function<void(Block&, Tile&, const Tile&)>;
inline Matrix result(const OnTiles& op, const Matrix& out, const Matrix& in, Space space = Space::registers) {
    Gpu gpu(small_gpu(), numeric_mode, 1);
    Log log;
    gpu.listen(log);
    const Hbm x = add(gpu, "out", out), y = add(gpu, "in", in);
    in_block(gpu, [&](Block& b) {
        Tile a = b.load(x, {0, out.rows}, space);
        Tile c = b.load(y, {0, in.rows}, space);
        op(b, a, c);
        b.store(a, x, {0, out.rows});
    });
    const std::vector<float> stored = contents(gpu.tensors()[0]);
    CHECK(same_bits(log.of(Kind::store).at(0).data, stored));
    return {out.rows, out.cols, stored};
}

/// Whether two numbers are equal as far as f32 arithmetic allows: NaN with NaN, infinities exactly, the rest to 1 in
/// 10^6.
inline bool close(float got, double expected) {
    if (std::isnan(expected)) return std::isnan(got);
    const auto rounded = static_cast<float>(expected);
    if (std::isinf(rounded) || std::isinf(got)) return got == rounded;
    return std::abs(got - expected) <= 1e-6 * std::abs(expected) + 1e-44;
}

inline int mistakes(const Matrix& got, const std::function<double(Index, Index)>& expected) {
    int bad = 0;
    for (Index r = 0; r < got.rows; ++r)
        for (Index c = 0; c < got.cols; ++c)
            if (const double e = expected(r, c); !close(got(r, c), e)) {
                if (bad++ == 0) UNSCOPED_INFO("at " << r << ", " << c << ": " << got(r, c) << " instead of " << e);
            }
    return bad;
}

}  // namespace tilescope::testing
