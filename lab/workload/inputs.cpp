#include "lab/workload/inputs.hpp"

#include <cmath>
#include <limits>

#include "core/machine/conversions.hpp"
#include "core/machine/parallel.hpp"
#include "core/text/message.hpp"
#include "core/text/words.hpp"
#include "lab/system/memory.hpp"
#include "lab/system/stream.hpp"
#include "lab/workload/followed.hpp"
#include "lab/workload/patterns.hpp"
#include "lab/workload/rounding.hpp"
#include "lab/workload/safetensors.hpp"

namespace tilescope::lab {
using text::message;
namespace {

/// The random element at a position, as a function of the position.
Element drawn(Distribution distribution, const char* name, std::uint64_t seed) {
    const Stream base(seed, name), outlier(seed, std::string(name) + "+");
    const auto normal = [base](Index n) { return base.normal(static_cast<std::uint64_t>(n)); };
    if (distribution == Distribution::uniform)
        return [base](Index n) { return static_cast<float>(2 * base.uniform(static_cast<std::uint64_t>(n)) - 1); };
    if (distribution == Distribution::normal) return [normal](Index n) { return static_cast<float>(normal(n)); };
    return [normal, outlier](Index n) {
        constexpr std::uint64_t other_half = std::uint64_t{1} << 60;
        const auto at = static_cast<std::uint64_t>(n);
        const double extra = outlier.uniform(at) < 0.001 ? 10 * outlier.normal(at + other_half) : 0;
        return static_cast<float>(normal(n) + extra);
    };
}

constexpr Index chunk = 1 << 14;  // elements in a step of the work

Index chunks_of(Index elements) { return ceil_div(elements, chunk); }

void fill(Storage& tensor, const Element& element, const Followed& followed) {
    at_once(chunks_of(tensor.size()), 0, [&](Index, Index c) {
        followed.step();
        const Index begin = c * chunk;
        std::vector<float> values(static_cast<std::size_t>(std::min(chunk, tensor.size() - begin)));
        for (std::size_t k = 0; k < values.size(); ++k) values[k] = element(begin + static_cast<Index>(k));
        tensor.write(begin, values);
    });
}

/// Whether a tensor is drawn. Page tables follow from where the pages lie, saved tensors and scales from other inputs.
bool is_drawn(const TensorDecl& t) { return t.role == Role::input && t.dtype != Dtype::i32 && !t.saved && !t.scale_of; }

}  // namespace

const char* name_of(Distribution d) {
    constexpr const char* names[] = {"normal", "uniform", "outliers",    "sentence",
                                     "band",   "sink",    "new_maximum", "overflow"};
    return names[static_cast<int>(d)];
}

std::optional<Distribution> distribution_from(std::string_view name) {
    for (const Distribution d : distributions)
        if (name == name_of(d)) return d;
    return std::nullopt;
}

Inputs random_inputs(const std::vector<TensorDecl>& tensors, std::uint64_t seed, Distribution distribution,
                     Control* control) {
    Index chunks = 0;
    for (const TensorDecl& t : tensors)
        if (is_drawn(t)) chunks += chunks_of(t.slices * t.rows * t.cols);
    const Followed followed(control, chunks);
    Inputs inputs;
    for (const TensorDecl& t : tensors) {
        if (!is_drawn(t)) continue;
        auto storage = std::make_shared<Storage>(before_rounding(t.dtype), t.slices, t.rows, t.cols);
        // Patterns are for Q, K and V, or for the logits; biases and gradients are drawn at random.
        if ((t.meaning == Meaning::bias || t.meaning == Meaning::gradient) && distribution >= Distribution::sentence) {
            fill(*storage, drawn(Distribution::normal, t.name, seed), followed);
            inputs.emplace(t.name, std::move(storage));
            continue;
        }
        const Element pattern = element_of(distribution, t, tensors, seed);
        fill(*storage, pattern ? pattern : drawn(distribution, t.name, seed), followed);
        inputs.emplace(t.name, std::move(storage));
    }
    return inputs;
}

namespace {

/// The elements of [batch, rows, heads, cols] as [batch, heads, rows, cols].
std::vector<float> heads_first(const std::vector<float>& values, const FileTensor& t, const Control* control) {
    std::vector<float> out;
    out.reserve(values.size());
    for (Index b = 0; b < t.batch; ++b)
        for (Index h = 0; h < t.heads; ++h) {
            check_stop(control);
            for (Index r = 0; r < t.rows; ++r) {
                const float* const row = values.data() + ((b * t.rows + r) * t.heads + h) * t.cols;
                out.insert(out.end(), row, row + t.cols);
            }
        }
    return out;
}

}  // namespace

FileTensor read_tensor(const std::string& flag, const std::string& path, const FileFormat& format, Control* control) {
    FileArray a = [&] {
        const WholeNumbers whole = format.masks ? WholeNumbers::mask : WholeNumbers::unknown;
        try {
            if (is_safetensors(path)) return read_safetensors(path, flag.substr(flag.rfind('-') + 1), control, whole);
            return read_npy(path, control, format.bits, whole);
        } catch (const UsageError& e) {
            throw UsageError(flag + ' ' + e.what());
        }
    }();
    const std::string name = flag + ' ' + text::shown(path);
    const std::size_t rank = a.shape.size();
    if (a.boolean && !format.masks) throw UsageError(message("inputs.booleans", name));
    if (rank < 2 || rank > 4) throw UsageError(message("inputs.no_rank", name, rank));
    for (const Index n : a.shape)
        if (n == 0) throw UsageError(message("inputs.empty", name));
    FileTensor t;
    t.cols = a.shape[rank - 1];
    t.rows = a.shape[rank - 2];
    t.heads = rank > 2 ? a.shape[rank - 3] : 1;
    t.batch = rank > 3 ? a.shape[rank - 4] : 1;
    t.rank = rank;
    t.stored = a.stored;
    t.overflowed = a.overflowed;
    t.name = name;
    if (a.boolean)
        for (float& x : a.values) x = x != 0 ? 0.0f : -std::numeric_limits<float>::infinity();
    if (format.layout == Layout::bshd && rank > 2) std::swap(t.heads, t.rows);
    const bool turned = format.layout == Layout::bshd && t.heads > 1;
    t.values = turned ? heads_first(a.values, t, control) : std::move(a.values);
    return t;
}

std::shared_ptr<Storage> to_storage(const FileTensor& file, Dtype dtype, Control* control) {
    const Index slices = file.batch * file.heads;
    check_memory(slices * file.rows * file.cols * size_of(dtype), "inputs.too_large", std::to_string(slices),
                 std::to_string(file.rows), std::to_string(file.cols));
    auto storage = std::make_shared<Storage>(dtype, slices, file.rows, file.cols);
    const std::span<const float> values(file.values);
    const Followed followed(control, chunks_of(storage->size()));
    for (Index at = 0; at < storage->size(); at += chunk) {
        followed.step();
        const Index size = std::min(chunk, storage->size() - at);
        storage->write(at, values.subspan(static_cast<std::size_t>(at), static_cast<std::size_t>(size)));
    }
    return storage;
}

namespace {

/// How many finite numbers become infinite when they are rounded to a type.
Index infinite_in(Dtype dtype, std::span<const float> values) {
    Index infinite = 0;
    std::vector<float> rounded;
    for (; dtype != Dtype::f32 && !values.empty();) {
        const auto some = values.first(std::min(values.size(), static_cast<std::size_t>(chunk)));
        rounded.assign(some.begin(), some.end());
        round_to(dtype, rounded.data(), static_cast<Index>(rounded.size()));
        for (std::size_t k = 0; k < some.size(); ++k) infinite += std::isinf(rounded[k]) && std::isfinite(some[k]);
        values = values.subspan(some.size());
    }
    return infinite;
}

}  // namespace

std::string about_infinite(const std::string& name, Dtype dtype, std::span<const float> values, Index overflowed) {
    const Index rounded = infinite_in(dtype, values), infinite = overflowed + rounded;
    if (infinite == 0) return "";
    const Dtype in = rounded == 0 ? Dtype::f32 : dtype;
    const char* const largest = in == Dtype::f16 ? "65504" : in == Dtype::bf16 ? "3.39e38" : "3.40e38";
    return message(in == Dtype::f32 ? "inputs.infinite_in_f32" : "inputs.infinite", name, infinite, std::ssize(values),
                   name_of(in), largest);
}

void write_rows(std::ostream& out, const Storage& t, Index batch, Layout layout, Control* control) {
    const Index heads = t.slices() / batch, rows = t.rows();
    const bool turned = layout == Layout::bshd;
    const Index shape[] = {batch, turned ? rows : heads, turned ? heads : rows};
    write_npy(
        out, shape, t.dtype(),
        [&](Index first, std::span<float> to) {
            if (!turned) return t.read(first, to);
            for (std::size_t k = 0; k < to.size(); ++k) {
                const Index at = first + static_cast<Index>(k), h = at % heads, r = at / heads % rows;
                t.read((at / heads / rows * heads + h) * rows + r, to.subspan(k, 1));
            }
        },
        control);
}

void write_tensor(std::ostream& out, const Storage& t, Index batch, std::size_t rank, Layout layout, Control* control) {
    const Index heads = t.slices() / batch, rows = t.rows(), cols = t.cols();
    std::vector<Index> shape = {batch, heads, rows, cols};
    const bool turned = layout == Layout::bshd && rank > 2;
    if (turned) std::swap(shape[1], shape[2]);
    shape.erase(shape.begin(), shape.end() - static_cast<std::ptrdiff_t>(rank));
    const auto read_turned = [&](Index first, std::span<float> to) {
        while (!to.empty()) {
            const Index row = first / cols, col = first % cols;  // the file has its rows in the order b, r, h
            const Index h = row % heads, r = row / heads % rows, b = row / heads / rows;
            const Index n = std::min(cols - col, static_cast<Index>(to.size()));
            t.read(((b * heads + h) * rows + r) * cols + col, to.first(static_cast<std::size_t>(n)));
            to = to.subspan(static_cast<std::size_t>(n));
            first += n;
        }
    };
    const auto read = [&](Index first, std::span<float> to) { t.read(first, to); };
    write_npy(out, shape, t.dtype(), turned ? NpyValues(read_turned) : NpyValues(read), control);
}

}  // namespace tilescope::lab
