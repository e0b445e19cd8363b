#include "lab/workload/rounding.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "algorithms/contract/exact.hpp"
#include "algorithms/contract/scales.hpp"
#include "core/machine/parallel.hpp"
#include "core/machine/saturated.hpp"
#include "core/machine/storage.hpp"
#include "lab/system/stream.hpp"

namespace tilescope::lab {
namespace {

constexpr Index values_at_once = 1 << 14;

/// Calls f(first, values) for the elements of rows of `count` slices from `slice` on, some at a time.
template <class F>
void for_values(const Storage& s, Index slice, Index count, Span rows, F&& f) {
    const Index of_slice = s.rows() * s.cols();
    std::vector<float> values;
    for (Index k = slice; k < slice + count; ++k) {
        const Index end = k * of_slice + rows.end() * s.cols();
        for (Index at = k * of_slice + rows.begin * s.cols(); at < end; at += values_at_once) {
            values.resize(static_cast<std::size_t>(std::min(values_at_once, end - at)));
            s.read(at, values);
            f(at, values);
        }
    }
}

/// The factor between stored and real values of these rows of slices.
float scale_of(const Storage& exact, Index slice, Index count, Span rows, Dtype stored) {
    float greatest = 0;
    for_values(exact, slice, count, rows, [&](Index, const std::vector<float>& values) {
        for (const float x : values)
            if (std::isfinite(x)) greatest = std::max(greatest, std::abs(x));
    });
    const float scale = greatest / largest(stored);
    return scale > 0 ? scale : 1;  // all values are 0, or so small that their scale would be
}

std::shared_ptr<Storage> rotated(const Storage& exact) {
    auto out = std::make_shared<Storage>(Dtype::f32, exact.slices(), exact.rows(), exact.cols());
    const Index of_slice = exact.rows() * exact.cols();
    at_once(exact.slices(), 0, [&](Index, Index slice) {
        std::vector<float> values(static_cast<std::size_t>(of_slice));
        exact.read(slice * of_slice, values);
        rotate(values, exact.cols());
        out->write(slice * of_slice, values);
    });
    return out;
}

/// The values of `t` in 8 bits; with `scales`, which `rows` each share, divided by these, which are filled in.
std::shared_ptr<Storage> rounded(const Storage& exact, const TensorDecl& t, Index rows, Storage* scales) {
    auto stored = std::make_shared<Storage>(t.dtype, exact.slices(), exact.rows(), exact.cols());
    const Index shares = scales ? scales->slices() : 1, slices = exact.slices() / shares;
    const Tiles blocks(exact.rows(), scales ? rows : exact.rows());
    at_once(shares, 0, [&](Index, Index group) {
        for (Index k = 0; k < blocks.count(); ++k) {
            const Span of = blocks[k];
            const float scale = scales ? scale_of(exact, group * slices, slices, of, t.dtype) : 1;
            if (scales) scales->write(group * blocks.count() + k, std::span(&scale, 1));
            for_values(exact, group * slices, slices, of, [&](Index at, std::vector<float>& values) {
                for (float& x : values) x /= scale;
                stored->write(at, values);
            });
        }
    });
    return stored;
}

}  // namespace

void rotate(std::span<float> rows, Index d) {
    const Stream signs(0, "rotation");
    const auto n = static_cast<std::size_t>(d);
    const float norm = 1 / std::sqrt(static_cast<float>(d));
    std::vector<float> diagonal(n);
    for (std::size_t k = 0; k < n; ++k) diagonal[k] = signs.uniform(k) < 0.5 ? -norm : norm;
    for (std::size_t begin = 0; begin < rows.size(); begin += n) {
        const std::span<float> x = rows.subspan(begin, n);
        for (std::size_t k = 0; k < n; ++k) x[k] *= diagonal[k];
        for (std::size_t half = 1; half < n; half *= 2)
            for (std::size_t k = 0; k < n; ++k)
                if ((k & half) == 0) {
                    const float a = x[k], b = x[k + half];
                    x[k] = a + b, x[k + half] = a - b;
                }
    }
}

Count flops_of_rotation(const Problem& p) {
    const Count rows = p.batch_heads() * p.seq_q + p.kv_slices() * p.seq_k;
    return rows * p.dim * (static_cast<Count>(std::bit_width(static_cast<std::uint64_t>(p.dim))) - 1);
}

std::vector<std::string> about_saturated(const Problem& p, const std::vector<TensorDecl>& tensors,
                                         const Inputs& inputs) {
    std::vector<std::string> all;
    for (const TensorDecl& t : tensors) {
        const auto exact = inputs.find(exact_name(t.name));
        if (t.role != Role::input || size_of(t.dtype) > 1 || p.scaled(t.dtype) || exact == inputs.end()) continue;
        Saturated saturated;
        const bool turned = p.rotated && (t.meaning == Meaning::query || t.meaning == Meaning::key);
        const std::shared_ptr<Storage> values = turned ? rotated(*exact->second) : exact->second;
        for_values(*values, 0, values->slices(), {0, values->rows()}, [&](Index, const std::vector<float>& x) {
            saturated.look_at(t.name, t.dtype, x.data(), static_cast<Index>(x.size()));
        });
        for (std::string& sentence : saturated.sentences()) all.push_back(std::move(sentence));
    }
    return all;
}

Inputs stored_inputs(const Problem& p, const std::vector<TensorDecl>& tensors, Inputs inputs) {
    for (const TensorDecl& t : tensors) {
        const auto found = inputs.find(std::string_view(t.name));
        const bool narrow = found != inputs.end() && found->second->dtype() != t.dtype;
        // A Q of more bits is rotated, too: only the product of both stays as it was.
        const bool turned = p.rotated && (t.meaning == Meaning::query || t.meaning == Meaning::key);
        if (t.role != Role::input || !(narrow || turned) || found == inputs.end() ||
            inputs.contains(exact_name(t.name)))
            continue;
        const auto declared = std::find_if(tensors.begin(), tensors.end(), [&](const TensorDecl& s) {
            return s.scale_of && s.scale_of == std::string_view(t.name);
        });
        const auto scales = declared == tensors.end() ? nullptr
                                                      : std::make_shared<Storage>(declared->dtype, declared->slices,
                                                                                  declared->rows, declared->cols);
        const std::shared_ptr<Storage> exact = found->second;
        found->second = rounded(turned ? *rotated(*exact) : *exact, t, rows_of_a_scale(p, t.name), scales.get());
        inputs.insert_or_assign(exact_name(t.name), exact);
        if (scales) inputs.insert_or_assign(declared->name, scales);
    }
    return inputs;
}

}  // namespace tilescope::lab
