#include "lab/inputs.hpp"

#include <cmath>
#include <numbers>

#include "core/machine/parallel.hpp"
#include "lab/npy.hpp"

namespace tilescope::lab {
namespace {

/// A counter-based generator: the n-th number of a stream, without the ones before it. (The finaliser of SplitMix64,
/// Steele, Lea & Flood 2014.)
class Stream {
  public:
    Stream(std::uint64_t seed, std::string_view name) : key_(mix(seed + 0x9e3779b97f4a7c15u)) {
        for (const char c : name) key_ = mix(key_ ^ static_cast<unsigned char>(c));
    }
    /// Uniform in (0, 1).
    double uniform(std::uint64_t n) const { return (static_cast<double>(bits(n) >> 11) + 0.5) * 0x1p-53; }
    /// Standard normal, by Box and Muller; uses numbers 2n and 2n + 1.
    double normal(std::uint64_t n) const {
        return std::sqrt(-2 * std::log(uniform(2 * n))) * std::cos(2 * std::numbers::pi * uniform(2 * n + 1));
    }

  private:
    static std::uint64_t mix(std::uint64_t z) {
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        return z ^ (z >> 31);
    }
    std::uint64_t bits(std::uint64_t n) const { return mix(key_ + (n + 1) * 0x9e3779b97f4a7c15u); }

    std::uint64_t key_;
};

float draw(Distribution distribution, const Stream& base, const Stream& outlier, std::uint64_t n) {
    switch (distribution) {
        case Distribution::uniform:
            return static_cast<float>(2 * base.uniform(n) - 1);
        case Distribution::normal:
            return static_cast<float>(base.normal(n));
        case Distribution::outliers: {
            constexpr std::uint64_t other_half = std::uint64_t{1} << 60;
            const double extra = outlier.uniform(n) < 0.001 ? 10 * outlier.normal(n + other_half) : 0;
            return static_cast<float>(base.normal(n) + extra);
        }
    }
    return 0;
}

void fill(Storage& tensor, const Stream& base, const Stream& outlier, Distribution distribution,
          const Control* control) {
    constexpr Index chunk = 1 << 14;
    const Index chunks = ceil_div(tensor.size(), chunk);
    at_once(chunks, 0, [&](Index, Index c) {
        check_stop(control);
        const Index begin = c * chunk;
        std::vector<float> values(static_cast<std::size_t>(std::min(chunk, tensor.size() - begin)));
        for (std::size_t k = 0; k < values.size(); ++k)
            values[k] = draw(distribution, base, outlier, static_cast<std::uint64_t>(begin) + k);
        tensor.write(begin, values);
    });
}

}  // namespace

const char* name_of(Distribution d) {
    constexpr const char* names[] = {"normal", "uniform", "outliers"};
    return names[static_cast<int>(d)];
}

std::optional<Distribution> distribution_from(std::string_view name) {
    for (const Distribution d : {Distribution::normal, Distribution::uniform, Distribution::outliers})
        if (name == name_of(d)) return d;
    return std::nullopt;
}

Inputs random_inputs(const std::vector<TensorDecl>& tensors, std::uint64_t seed, Distribution distribution,
                     const Control* control) {
    Inputs inputs;
    for (const TensorDecl& t : tensors) {
        if (t.role != Role::input) continue;
        auto storage = std::make_shared<Storage>(t.dtype, t.slices, t.rows, t.cols);
        fill(*storage, Stream(seed, t.name), Stream(seed, std::string(t.name) + "+"), distribution, control);
        inputs.emplace(t.name, std::move(storage));
    }
    return inputs;
}

FileTensor read_tensor(const std::string& flag, const std::string& path) {
    NpyArray a = [&] {
        try {
            return read_npy(path);
        } catch (const UsageError& e) {
            throw UsageError(flag + ' ' + e.what());
        }
    }();
    const std::size_t rank = a.shape.size();
    if (rank < 2 || rank > 4)
        throw UsageError(flag + ' ' + path + ": has " + std::to_string(rank) +
                         " dimensions; must have 2 [n, d], 3 [heads, n, d] or 4 [batch, heads, n, d]; reshape it");
    for (const Index n : a.shape)
        if (n == 0) throw UsageError(flag + ' ' + path + ": is empty; every dimension must be at least 1");
    FileTensor t;
    t.cols = a.shape[rank - 1];
    t.rows = a.shape[rank - 2];
    t.heads = rank > 2 ? a.shape[rank - 3] : 1;
    t.batch = rank > 3 ? a.shape[rank - 4] : 1;
    t.rank = rank;
    t.natural = a.descr.ends_with("f2") ? Dtype::f16 : Dtype::f32;
    t.values = std::move(a.values);
    return t;
}

std::shared_ptr<Storage> to_storage(const FileTensor& file, Dtype dtype) {
    auto storage = std::make_shared<Storage>(dtype, file.batch * file.heads, file.rows, file.cols);
    storage->write(0, file.values);
    return storage;
}

void write_tensor(const std::string& path, const Storage& t, Index batch, std::size_t rank) {
    std::vector<Index> shape = {batch, t.slices() / batch, t.rows(), t.cols()};
    shape.erase(shape.begin(), shape.end() - static_cast<std::ptrdiff_t>(rank));
    write_npy(path, shape, t.dtype(), [&](Index first, std::span<float> out) { t.read(first, out); });
}

}  // namespace tilescope::lab
