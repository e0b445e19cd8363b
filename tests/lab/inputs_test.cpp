#include "lab/workload/inputs.hpp"

#include <cmath>
#include <numeric>

#include "core/machine/conversions.hpp"
#include "core/machine/error.hpp"
#include "lab/workload/npy.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/folder.hpp"
#include "tests/support/problems.hpp"

using namespace tilescope;
using namespace tilescope::lab;

namespace {

constexpr Index many = 1 << 20;

std::vector<TensorDecl> inputs(Index slices, Index rows, Index cols, Dtype dtype = Dtype::f32) {
    return {{"Q", Role::input, Meaning::other, Sliced::by_head, slices, rows, cols, dtype},
            {"K", Role::input, Meaning::other, Sliced::by_head, slices, rows, cols, dtype},
            {"O", Role::output, Meaning::other, Sliced::by_head, slices, rows, cols, dtype},
            {"V", Role::input, Meaning::other, Sliced::by_head, slices, rows, cols, dtype}};
}

std::vector<float> draw(const char* name, std::uint64_t seed, Distribution d, Index n = many) {
    return contents(*random_inputs(inputs(1, 1, n), seed, d).at(name));
}

/// The mean of f over the elements.
template <class F>
double mean(const std::vector<float>& x, F&& f) {
    double sum = 0;
    for (const float v : x) sum += f(static_cast<double>(v));
    return sum / static_cast<double>(x.size());
}

double moment(const std::vector<float>& x, int power) {
    return mean(x, [&](double v) { return std::pow(v, power); });
}

double correlation(const std::vector<float>& x, const std::vector<float>& y, std::size_t shift = 0) {
    double sum = 0;
    for (std::size_t k = shift; k < x.size(); ++k) sum += static_cast<double>(x[k]) * y[k - shift];
    return sum / static_cast<double>(x.size()) / std::sqrt(moment(x, 2) * moment(y, 2));
}

/// Whether a mean over `many` elements with standard deviation `sigma` is within five standard errors of `expected`.
bool near(double actual, double expected, double sigma) {
    return std::abs(actual - expected) < 5 * sigma / std::sqrt(static_cast<double>(many));
}

std::shared_ptr<Storage> numbered(Dtype dtype, Index slices, Index rows, Index cols) {
    auto s = std::make_shared<Storage>(dtype, slices, rows, cols);
    std::vector<float> x(static_cast<std::size_t>(s->size()));
    std::iota(x.begin(), x.end(), -7.0f);
    s->write(0, x);
    return s;
}

}  // namespace

TEST_CASE("inputs: normal numbers are N(0, 1)", "[inputs]") {
    const std::vector<float> x =
        draw("Q", GENERATE(std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{12345}), Distribution::normal);
    CHECK(near(moment(x, 1), 0, 1));
    CHECK(near(moment(x, 2), 1, std::sqrt(2)));
    CHECK(near(moment(x, 3), 0, std::sqrt(15)));
    CHECK(near(moment(x, 4), 3, std::sqrt(96)));
    CHECK(near(mean(x, [](double v) { return std::abs(v) > 2; }), 0.0455003, 0.2084));
    CHECK(near(mean(x, [](double v) { return v < -1; }), 0.1586553, 0.3654));
    CHECK(near(correlation(x, x, 1), 0, 1));
    CHECK(near(correlation(x, x, 2), 0, 1));
}

TEST_CASE("inputs: uniform numbers lie between -1 and 1", "[inputs]") {
    const std::vector<float> x =
        draw("Q", GENERATE(std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{12345}), Distribution::uniform);
    CHECK(near(moment(x, 1), 0, std::sqrt(1.0 / 3)));
    CHECK(near(moment(x, 2), 1.0 / 3, std::sqrt(4.0 / 45)));
    CHECK(near(moment(x, 4), 1.0 / 5, std::sqrt(16.0 / 225)));
    for (const double quantile : {-0.9, -0.5, 0.0, 0.1, 0.75}) {
        const double below = (quantile + 1) / 2;
        CHECK(near(mean(x, [&](double v) { return v < quantile; }), below, std::sqrt(below * (1 - below))));
    }
    CHECK(*std::min_element(x.begin(), x.end()) >= -1);
    CHECK(*std::max_element(x.begin(), x.end()) <= 1);
    CHECK(near(correlation(x, x, 1), 0, 1));
}

TEST_CASE("inputs: one in a thousand is an outlier, ten times as wide", "[inputs]") {
    const auto seed = GENERATE(std::uint64_t{1}, std::uint64_t{2});
    const std::vector<float> plain = draw("Q", seed, Distribution::normal);
    const std::vector<float> x = draw("Q", seed, Distribution::outliers);
    // N(0, 1) + N(0, 100) * Bernoulli(0.001): the first term equals the normal distribution's numbers.
    std::vector<float> extra;
    for (std::size_t k = 0; k < x.size(); ++k)
        if (x[k] != plain[k]) extra.push_back(x[k] - plain[k]);
    CHECK(near(static_cast<double>(extra.size()) / static_cast<double>(many), 0.001, std::sqrt(0.001)));
    const double error = 1 / std::sqrt(static_cast<double>(extra.size()));
    CHECK(std::abs(moment(extra, 1)) < 5 * 10 * error);
    CHECK(std::abs(moment(extra, 2) - 100) < 5 * 100 * std::sqrt(2) * error);
    CHECK(std::abs(moment(extra, 4) - 3e4) < 5 * 1e4 * std::sqrt(96) * error);
    CHECK(near(moment(x, 2), 1.1, std::sqrt(33.2 - 1.21)));
}

TEST_CASE("inputs: seeds, tensors and distributions have numbers of their own", "[inputs]") {
    const std::vector<float> q = draw("Q", 1, Distribution::normal);
    for (const auto& other : {draw("K", 1, Distribution::normal), draw("V", 1, Distribution::normal),
                              draw("Q", 2, Distribution::normal), draw("Q", 1, Distribution::uniform)}) {
        Count same = 0;
        for (std::size_t k = 0; k < q.size(); ++k) same += q[k] == other[k];
        CHECK(same < 5);
    }
    CHECK(near(correlation(q, draw("K", 1, Distribution::normal)), 0, 1));
    CHECK(near(correlation(q, draw("V", 1, Distribution::normal)), 0, 1));
    CHECK(near(correlation(q, draw("Q", 2, Distribution::normal)), 0, 1));
}

TEST_CASE("inputs: an element depends on seed, name and position alone", "[inputs]") {
    const Distribution d = GENERATE(Distribution::normal, Distribution::uniform, Distribution::outliers);
    // Large tensors are filled by as many threads as there are cores, small ones by one.
    const std::vector<float> all = draw("V", 5, d, 1 << 18);
    CHECK(all == draw("V", 5, d, 1 << 18));
    const std::vector<float> few = draw("V", 5, d, 1000);
    CHECK(few == std::vector<float>(all.begin(), all.begin() + 1000));
    // Shapes and other tensors do not change the numbers.
    const Inputs shaped =
        random_inputs({{"V", Role::input, Meaning::value, Sliced::by_head, 4, 8, 1 << 13, Dtype::f32}}, 5, d);
    CHECK(contents(*shaped.at("V")) == all);
    // Narrow types hold the same numbers, rounded.
    for (const Dtype dtype : {Dtype::f16, Dtype::bf16}) {
        std::vector<float> rounded = all;
        round_to(dtype, rounded.data(), static_cast<Index>(rounded.size()));
        CHECK(contents(*random_inputs(inputs(1, 1, 1 << 18, dtype), 5, d).at("V")) == rounded);
    }
}

TEST_CASE("inputs: drawing them can be interrupted", "[inputs][threads]") {
    Control control;
    CHECK_NOTHROW(random_inputs(inputs(1, 1, many), 5, Distribution::normal, &control));
    control.stop = true;
    CHECK_THROWS_AS(random_inputs(inputs(1, 1, many), 5, Distribution::normal, &control), Interrupted);
}

TEST_CASE("inputs: only inputs are drawn, in their shape and type", "[inputs]") {
    const Inputs in = random_inputs(inputs(2, 3, 5, Dtype::bf16), 1, Distribution::normal);
    CHECK(in.size() == 3);
    CHECK(in.count("O") == 0);
    const Storage& k = *in.at("K");
    CHECK(k.dtype() == Dtype::bf16);
    CHECK(k.slices() == 2);
    CHECK(k.rows() == 3);
    CHECK(k.cols() == 5);
}

TEST_CASE("inputs: distributions have names", "[inputs]") {
    for (const Distribution d : distributions) CHECK(distribution_from(name_of(d)) == d);
    CHECK(distribution_from("outliers") == Distribution::outliers);
    CHECK_FALSE(distribution_from("Normal"));
    CHECK_FALSE(distribution_from(""));
}

TEST_CASE("inputs: tensors of rank 2, 3 and 4 survive a NumPy file", "[inputs]") {
    const Folder folder;
    const std::string path = folder / "t.npy";
    struct Shape {
        Index batch, heads;
        std::size_t rank;
    };
    const Shape shape = GENERATE(Shape{1, 1, 2}, Shape{1, 1, 3}, Shape{1, 3, 3}, Shape{1, 3, 4}, Shape{2, 3, 4});
    const Dtype dtype = GENERATE(Dtype::f32, Dtype::f16, Dtype::bf16);
    const auto tensor = numbered(dtype, shape.batch * shape.heads, 4, 5);
    {
        std::ofstream file(path, std::ios::binary);
        write_tensor(file, *tensor, shape.batch, shape.rank);
    }
    CHECK(read_npy(path).shape.size() == shape.rank);
    const FileTensor read = read_tensor("--q", path);
    CHECK(read.rank == shape.rank);
    CHECK(read.batch == shape.batch);
    CHECK(read.heads == shape.heads);
    CHECK(read.rows == 4);
    CHECK(read.cols == 5);
    CHECK(read.stored == (dtype == Dtype::f16 ? Dtype::f16 : Dtype::f32));
    CHECK(read.values == contents(*tensor));
    const auto again = to_storage(read, dtype);
    CHECK(same_bits(*again, *tensor));
    CHECK(again->slices() == shape.batch * shape.heads);
    CHECK(again->rows() == 4);
}

TEST_CASE("inputs: a file may have the sequence before the heads", "[inputs]") {
    const Folder folder;
    const std::string path = folder / "t.npy";
    const Index batch = GENERATE(1, 2);
    const auto tensor = numbered(Dtype::f32, batch * 3, 4, 5);
    const std::size_t rank = batch == 1 ? 3 : 4;
    {
        std::ofstream file(path, std::ios::binary);
        write_tensor(file, *tensor, batch, rank, Layout::bshd);
    }
    const FileArray file = read_npy(path);
    CHECK(file.shape == (batch == 1 ? std::vector<Index>{4, 3, 5} : std::vector<Index>{2, 4, 3, 5}));
    const auto values = contents(*tensor);
    for (std::size_t b = 0; b < static_cast<std::size_t>(batch); ++b)
        for (std::size_t h = 0; h < 3; ++h)
            for (std::size_t r = 0; r < 4; ++r)
                for (std::size_t c = 0; c < 5; ++c)
                    CHECK(file.values[((b * 4 + r) * 3 + h) * 5 + c] == values[((b * 3 + h) * 4 + r) * 5 + c]);
    const FileTensor read = read_tensor("--q", path, {Layout::bshd});
    CHECK(read.heads == 3);
    CHECK(read.rows == 4);
    CHECK(read.values == values);
}

TEST_CASE("inputs: reading and writing files can be followed, and interrupted", "[inputs][threads]") {
    const Folder folder;
    const std::string path = folder / "t.npy";
    const auto tensor = numbered(Dtype::f32, 2, 300, 400);
    const auto write = [&](Control& control) {
        std::ofstream file(path, std::ios::binary);
        write_tensor(file, *tensor, 1, 3, Layout::bhsd, &control);
    };
    Control all, stopped;
    stopped.stop = true;
    write(all);
    CHECK(all.blocks_done == all.blocks_total);
    const FileTensor read = read_tensor("--q", path, {}, &all);
    CHECK(all.blocks_done == all.blocks_total);
    CHECK(same_bits(*to_storage(read, Dtype::f32, &all), *tensor));
    CHECK(all.blocks_total > 1);
    CHECK(all.blocks_done == all.blocks_total);
    CHECK_THROWS_AS(read_tensor("--q", path, {}, &stopped), Interrupted);
    CHECK_THROWS_AS(to_storage(read, Dtype::f32, &stopped), Interrupted);
    CHECK_THROWS_AS(write(stopped), Interrupted);
}

TEST_CASE("inputs: a file's numbers are rounded to the type asked for", "[inputs]") {
    const Folder folder;
    write_npy(folder / "t.npy", std::vector<Index>{1, 2}, Dtype::f32, std::vector<float>{1 + 0x1p-12f, 1e6f});
    const FileTensor t = read_tensor("--q", folder / "t.npy");
    CHECK(contents(*to_storage(t, Dtype::f32)) == std::vector<float>{1 + 0x1p-12f, 1e6f});
    CHECK(contents(*to_storage(t, Dtype::f16)) == std::vector<float>{1, INFINITY});
    CHECK(contents(*to_storage(t, Dtype::bf16)) == std::vector<float>{1, 999424});
}

TEST_CASE("inputs: a file that is no tensor is refused, by flag and name", "[inputs]") {
    const Folder folder;
    const std::string path = folder / "t.npy";
    const auto refusal = [&](const std::vector<Index>& shape) {
        const Index n = std::accumulate(shape.begin(), shape.end(), Index{1}, std::multiplies<>());
        write_npy(path, shape, Dtype::f32, std::vector<float>(static_cast<std::size_t>(n)));
        return message_of<UsageError>([&] { read_tensor("--k", path); });
    };
    CHECK(refusal({}).starts_with("--k " + path + ": has 0 dimensions; must have 2 [n, d], 3 "));
    CHECK(contains(refusal({6}), "has 1 dimension;"));
    CHECK(contains(refusal({1, 1, 1, 2, 3}), "has 5 dimensions; must have 2 [n, d], 3 [heads, n, d] or 4"));
    for (const std::vector<Index>& empty : std::vector<std::vector<Index>>{{0, 3}, {3, 0}, {0, 3, 3}, {2, 0, 3, 3}})
        CHECK(refusal(empty) == "--k " + path + ": is empty; every dimension must be at least 1");
    const std::string missing = message_of<UsageError>([&] { read_tensor("--v", folder / "none.npy"); });
    CHECK(missing.starts_with("--v cannot read " + (folder / "none.npy") + ": "));
    write_bytes(path, "no array");
    CHECK(contains(message_of<UsageError>([&] { read_tensor("--q", path); }), "--q cannot read"));
}
