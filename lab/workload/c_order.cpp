#include "lab/workload/c_order.hpp"

#include <algorithm>

namespace tilescope::lab {
namespace {

struct ArrayAxis {
    Index size, from_stride, to_stride;
};

bool shorter(const ArrayAxis& a, const ArrayAxis& b) { return a.size < b.size; }

void copy_block(std::span<const ArrayAxis> axes, const float* from, float* to) {
    const auto [size, from_stride, to_stride] = axes.front();
    for (Index i = 0; i < size; ++i)
        if (axes.size() == 1)
            to[i * to_stride] = from[i * from_stride];
        else
            copy_block(axes.subspan(1), from + i * from_stride, to + i * to_stride);
}

/// Halves the longest axis until a block is small: both sides then touch few cache lines at a time and use them up,
/// whatever the rank, the shape and the caches.
void copy_halving(std::vector<ArrayAxis>& axes, const float* from, float* to, const Control* control) {
    check_stop(control);
    constexpr Index small_block = 1024;
    Index elements = 1;
    for (const ArrayAxis& axis : axes) elements *= axis.size;
    if (elements <= small_block) return copy_block(axes, from, to);

    ArrayAxis& longest = *std::max_element(axes.begin(), axes.end(), shorter);
    const Index whole = longest.size;
    const Index half = whole / 2;
    longest.size = half;
    copy_halving(axes, from, to, control);
    longest.size = whole - half;
    copy_halving(axes, from + half * longest.from_stride, to + half * longest.to_stride, control);
    longest.size = whole;
}

}  // namespace

std::vector<float> to_c_order(const std::vector<float>& values, std::span<const Index> shape, const Control* control) {
    std::vector<ArrayAxis> axes;
    Index from_stride = 1, to_stride = static_cast<Index>(values.size());
    for (const Index n : shape) {
        to_stride /= n;
        axes.push_back({n, from_stride, to_stride});
        from_stride *= n;
    }
    std::sort(axes.begin(), axes.end(), shorter);  // the longest innermost: fewer, longer loops
    std::vector<float> out(values.size());
    copy_halving(axes, values.data(), out.data(), control);
    return out;
}

}  // namespace tilescope::lab
