#include "core/time/dispatch.hpp"

#include <algorithm>

namespace tilescope {

const char* name_of(Order order) {
    constexpr const char* names[] = {"kernel", "heads", "rows", "longest", "snake", "longest-in-l2"};
    return names[static_cast<std::size_t>(order)];
}

std::vector<BlockOfHead> dispatch(std::span<const Axis> axes, Order order, Index heads_in_l2) {
    const auto count = [&](std::size_t k) {
        return static_cast<std::uint32_t>(k < axes.size() ? axes[k].tiles.count() : 1);
    };
    const std::uint32_t heads = count(0), rows = count(1), inner = count(2);
    const bool graded = axes.size() > 1 && axes[1].promise == Promise::graded;
    const bool longest = order == Order::longest || order == Order::longest_in_l2;
    const bool all_backwards = graded && (order == Order::kernel || longest);
    const std::uint32_t at_a_time = order == Order::heads || order == Order::longest ? heads
                                    : order == Order::longest_in_l2
                                        ? static_cast<std::uint32_t>(std::clamp<Index>(heads_in_l2, 1, heads))
                                        : 1;
    std::vector<BlockOfHead> blocks;
    blocks.reserve(std::size_t{heads} * rows * inner);
    for (std::uint32_t j = 0; j < inner; ++j)
        for (std::uint32_t first = 0; first < heads; first += at_a_time)
            for (std::uint32_t i = 0; i < rows; ++i)
                for (std::uint32_t head = first; head < std::min(heads, first + at_a_time); ++head) {
                    const bool backwards = all_backwards || (order == Order::snake && head % 2 == 1);
                    blocks.push_back({head, (backwards ? rows - 1 - i : i) * inner + j});
                }
    return blocks;
}

}  // namespace tilescope
