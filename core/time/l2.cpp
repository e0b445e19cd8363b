#include "core/time/l2.hpp"

#include <algorithm>
#include <cmath>
#include <queue>
#include <utility>

namespace tilescope {
namespace {

DramTraffic sum_of(std::span<const Cache> caches) {
    DramTraffic sum;
    for (const Cache& c : caches) sum.read += c.dram().read, sum.written += c.dram().written;
    return sum;
}

/// Bytes of all heads' tiles that are read before they are written, and of those that are written, each once.
DramTraffic touched_first(const LaunchAccesses& head, std::span<const Sharing> sharing) {
    DramTraffic all;
    std::vector<bool> seen(head.tiles.size(), false), dirty = seen;
    for (const std::vector<Visit>& visits : head.block)
        for (const Visit& v : visits) {
            const Bytes bytes = head.tiles[v.tile].bytes * sharing[v.tile].slices;
            if (!seen[v.tile] && !v.write) all.read += bytes;
            if (!dirty[v.tile] && v.write) all.written += bytes;
            seen[v.tile] = true;
            if (v.write) dirty[v.tile] = true;
        }
    return all;
}

/// The next step of a thread block.
struct Turn {
    double when;
    std::uint32_t block, step;
    friend bool operator>(const Turn& a, const Turn& b) {
        return std::pair(a.when, a.block) > std::pair(b.when, b.block);
    }
};

}  // namespace

// SMs, numbered by their first thread blocks: 8 use partition 0, 8 partition 1, then 16 and 16 and so on.
int partition_of(std::uint32_t sm, int partitions) {
    if (partitions == 1) return 0;
    return static_cast<int>(sm < 16 ? sm / 8 % 2 : (sm / 16 + 1) % 2);
}

L2 l2_of(const GpuSpec& gpu) {
    return {gpu.l2_bytes, static_cast<int>(gpu.l2_partitions.value_or(1)),
            static_cast<int>(gpu.l2_chiplets.value_or(1))};
}

std::vector<Cache> caches_for(const L2& l2, std::size_t tiles) {
    const Cache empty(l2.bytes / l2.chiplets, l2.partitions, tiles);
    return std::vector<Cache>(static_cast<std::size_t>(l2.chiplets), empty);
}

std::optional<DramTraffic> without_misses(const LaunchAccesses& head, std::span<const Sharing> sharing, const L2& l2) {
    if (l2.chiplets > 1) return std::nullopt;
    double room = 0;
    for (std::size_t k = 0; k < head.tiles.size(); ++k)
        room += static_cast<double>(head.tiles[k].bytes * sharing[k].slices * l2.partitions);
    if (room > static_cast<double>(l2.bytes)) return std::nullopt;
    return DramTraffic{touched_first(head, sharing).read, 0};
}

std::optional<DramTraffic> passing_through(const LaunchAccesses& head, std::span<const Sharing> sharing, const L2& l2,
                                           Index resident) {
    if (head.blocks != 1 ||
        std::any_of(sharing.begin(), sharing.end(), [&](const Sharing& s) { return s.slices < head.heads; }))
        return std::nullopt;
    Bytes tiles = 0;
    for (const HbmTile& t : head.tiles) tiles += t.bytes;
    const auto room = static_cast<double>(l2.bytes);
    if (2 * static_cast<double>(resident * tiles * l2.partitions) > room) return std::nullopt;
    DramTraffic all = touched_first(head, sharing);
    // With two partitions one half of every tile leaves a copy, which is not dirty.
    const double held = static_cast<double>(tiles * head.heads) * (l2.partitions + 1) / 2;
    all.written -= std::llround(static_cast<double>(all.written) * std::min(room / held, 1.0));
    return all;
}

DramTraffic play(const LaunchAccesses& head, std::span<const Sharing> sharing, std::span<const BlockOfHead> order,
                 std::span<const Stay> stays, std::span<Cache> caches, std::span<Mark> marks) {
    const DramTraffic before = sum_of(caches);
    const auto chiplets = static_cast<std::uint32_t>(caches.size());
    std::priority_queue<Turn, std::vector<Turn>, std::greater<>> turns;
    std::vector<std::uint32_t> next(stays.size(), 0);  // next visit of every block
    const auto carry_out = [&](Turn t) {
        const BlockOfHead at = order[t.block];
        const std::vector<Visit>& visits = head.block[at.block];
        const Stay& stay = stays[t.block];
        Cache& cache = caches[t.block % chiplets];
        const int partition = partition_of(stay.sm, cache.partitions());
        std::uint32_t& v = next[t.block];
        for (; v < visits.size() && visits[v].step <= t.step; ++v) {
            const std::uint32_t tile = visits[v].tile;
            const auto slice = static_cast<std::size_t>(sharing[tile].slice(at.head));
            const auto object = static_cast<std::uint32_t>(slice * head.tiles.size() + tile);
            visits[v].write ? cache.write(partition, object, head.tiles[tile].bytes)
                            : cache.read(partition, object, head.tiles[tile].bytes);
        }
        if (v == visits.size()) return;
        t.step = visits[v].step;
        t.when = stay.from + (stay.to - stay.from) * t.step / (visits.back().step + 1.0);
        turns.push(t);
    };
    for (std::uint32_t started = 0; started < stays.size() || !turns.empty();) {
        if (started < stays.size() && (turns.empty() || stays[started].from <= turns.top().when)) {
            carry_out({stays[started].from, started, 0});
            ++started;
            if (marks.empty() || marks.front().started != started) continue;
            marks.front().dram = sum_of(caches);
            for (const Cache& c : caches) marks.front().dirty += c.dirty();
            marks = marks.subspan(1);
        } else {
            const Turn t = turns.top();
            turns.pop();
            carry_out(t);
        }
    }
    const DramTraffic after = sum_of(caches);
    return {after.read - before.read, after.written - before.written};
}

}  // namespace tilescope
