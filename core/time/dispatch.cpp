#include "core/time/dispatch.hpp"

#include <algorithm>
#include <utility>

namespace tilescope {
namespace {

struct Dispatch {
    std::uint32_t heads, rows, inner;
    std::uint32_t at_a_time;  ///< heads that have a row block each before the next row block
    bool all_backwards, snake;

    Dispatch(std::span<const Axis> axes, Order order, Index heads_in_l2) {
        const auto count = [&](std::size_t k) {
            return static_cast<std::uint32_t>(k < axes.size() ? axes[k].tiles.count() : 1);
        };
        heads = count(0), rows = count(1), inner = count(2);
        const bool graded = axes.size() > 1 && axes[1].promise == Promise::graded;
        const bool longest = order == Order::longest || order == Order::longest_in_l2;
        all_backwards = graded && (order == Order::kernel || longest), snake = order == Order::snake;
        at_a_time = order == Order::heads || order == Order::longest ? heads
                    : order == Order::longest_in_l2
                        ? static_cast<std::uint32_t>(std::clamp<Index>(heads_in_l2, 1, heads))
                        : 1;
    }
    /// Calls f(head, block) in order.
    template <class F>
    void each(F&& f) const {
        for (std::uint32_t j = 0; j < inner; ++j)
            for (std::uint32_t first = 0; first < heads; first += at_a_time)
                for (std::uint32_t i = 0; i < rows; ++i)
                    for (std::uint32_t head = first; head < std::min(heads, first + at_a_time); ++head) {
                        const bool backwards = all_backwards || (snake && head % 2 == 1);
                        f(head, (backwards ? rows - 1 - i : i) * inner + j);
                    }
    }
    std::size_t blocks() const { return std::size_t{heads} * rows * inner; }
};

}  // namespace

const char* name_of(Order order) {
    constexpr const char* names[] = {"kernel", "heads", "rows", "longest", "snake", "longest-in-l2"};
    return names[static_cast<std::size_t>(order)];
}

std::vector<BlockOfHead> dispatch(std::span<const Axis> axes, Order order, Index heads_in_l2) {
    const Dispatch all(axes, order, heads_in_l2);
    std::vector<BlockOfHead> blocks;
    blocks.reserve(all.blocks());
    all.each([&](std::uint32_t head, std::uint32_t block) { blocks.push_back({head, block}); });
    return blocks;
}

Dispatched dispatched(std::span<const Axis> axes, Order order, Index heads_in_l2) {
    Dispatch first(axes, order, heads_in_l2);
    Dispatched out{{}, 1, 1};
    if (first.at_a_time > 0 && first.heads % first.at_a_time == 0) {
        out.each = std::exchange(first.at_a_time, 1), first.heads /= static_cast<std::uint32_t>(out.each);
        const std::uint32_t period = first.snake ? 2 : 1;
        if (first.inner == 1 && first.heads % period == 0)
            out.times = first.heads / period, first.heads = std::min(first.heads, period);
    }
    out.blocks.reserve(first.blocks());
    first.each([&](std::uint32_t, std::uint32_t block) { out.blocks.push_back(block); });
    return out;
}

Dealt deal_pairs(std::span<const Axis> axes, Index places, Index cluster) {
    cluster = std::min(cluster, places);
    const Count heads = axes[0].tiles.count(), rows = axes[1].tiles.count(), row_tiles = ceil_div(rows, cluster);
    const Count clusters = std::min<Count>(row_tiles * heads, places / cluster);
    const bool alone = row_tiles * heads <= clusters;
    const Count of_head = alone ? row_tiles : ceil_div(row_tiles, 2);
    Dealt out;
    for (Count n = 0; n < of_head * heads; ++n) {
        const Count head = n / of_head, first = n % of_head, last = row_tiles - 1 - first, round = n / clusters;
        const Count place = (n + (clusters - 1) * round) % clusters;  // one less each round
        const auto take = [&](Count tile) {
            for (Count row = tile * cluster; row < std::min(rows, (tile + 1) * cluster); ++row) {
                out.blocks.push_back({static_cast<std::uint32_t>(head), static_cast<std::uint32_t>(row)});
                out.places.push_back(static_cast<std::uint32_t>(place * cluster + row % cluster));
            }
        };
        take(last);
        if (!alone && first != last) take(first);
    }
    return out;
}

}  // namespace tilescope
