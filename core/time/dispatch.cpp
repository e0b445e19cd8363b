#include "core/time/dispatch.hpp"

namespace tilescope {

const char* name_of(Order order) {
    constexpr const char* names[] = {"kernel", "heads", "rows", "longest", "snake"};
    return names[static_cast<std::size_t>(order)];
}

std::vector<BlockOfHead> dispatch(std::span<const Axis> axes, Order order) {
    const auto count = [&](std::size_t k) {
        return static_cast<std::uint32_t>(k < axes.size() ? axes[k].tiles.count() : 1);
    };
    const std::uint32_t heads = count(0), rows = count(1), inner = count(2);
    const bool graded = axes.size() > 1 && axes[1].promise == Promise::graded;
    const bool heads_first = order == Order::heads || order == Order::longest;
    const bool all_backwards = graded && (order == Order::kernel || order == Order::longest);
    std::vector<BlockOfHead> blocks;
    blocks.reserve(std::size_t{heads} * rows * inner);
    for (std::uint32_t j = 0; j < inner; ++j)
        for (std::uint32_t k = 0; k < heads * rows; ++k) {
            const std::uint32_t head = heads_first ? k % heads : k / rows, i = heads_first ? k / heads : k % rows;
            const bool backwards = all_backwards || (order == Order::snake && head % 2 == 1);
            blocks.push_back({head, (backwards ? rows - 1 - i : i) * inner + j});
        }
    return blocks;
}

}  // namespace tilescope
