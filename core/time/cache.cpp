#include "core/time/cache.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace tilescope {

namespace {

// The next random numbers of a linear congruential generator, all from the same last one: no draw waits for another.
struct Ahead {
    Cache::Ways factor, summand;
};
constexpr Ahead ahead = [] {
    Ahead a{};
    std::uint32_t factor = 1, summand = 0;
    for (std::size_t k = 0; k < a.factor.size(); ++k) {
        a.factor[k] = factor *= 1664525;
        a.summand[k] = summand = summand * 1664525 + 1013904223;
    }
    return a;
}();

}  // namespace

// A line is a half of a tile: line 2 t + h of tile t has its home in partition h. With one partition all are at home.

Cache::Cache(Bytes capacity, int partitions, std::size_t objects)
    : capacity_(capacity / partitions), partitions_(static_cast<std::size_t>(partitions)) {
    for (Partition& p : partitions_) p.place.resize(2 * objects, nowhere);
}

bool Cache::touch(Partition& p, std::uint32_t line) const {
    if (p.place[line] == nowhere) return false;
    p.last_used[p.place[line]] = ++p.now;
    return true;
}

Cache::Ways Cache::drawn(Partition& p) {
    const auto held = static_cast<std::uint32_t>(p.held.size());
    Ways places;
    for (std::uint32_t way = 0; way < ways; ++way)
        places[way] = static_cast<std::uint32_t>(
            static_cast<std::uint64_t>(p.lot * ahead.factor[way] + ahead.summand[way]) * held >> 32);
    p.lot = p.lot * ahead.factor[ways - 1] + ahead.summand[ways - 1];
    return places;
}

void Cache::evict_one(Partition& p) {
    // Last use in the upper 32 bits, place in the lower: the least is the oldest, found without unpredictable branches.
    auto oldest = std::numeric_limits<std::uint64_t>::max();
    const auto compare = [&](std::uint32_t place) {
        oldest = std::min(oldest, static_cast<std::uint64_t>(p.last_used[place]) << 32 | place);
    };
    if (p.held.size() > ways)
        for (const std::uint32_t place : drawn(p)) compare(place);
    else
        for (std::uint32_t place = 0; place < p.held.size(); ++place) compare(place);
    const auto place = static_cast<std::uint32_t>(oldest);
    const Held victim = p.held[place], last = p.held.back();
    p.used -= victim.bytes;
    if (victim.dirty) dram_.written += victim.bytes;
    p.held[place] = last;
    p.last_used[place] = p.last_used.back();
    p.place[last.line] = place;
    p.place[victim.line] = nowhere;
    p.held.pop_back();
    p.last_used.pop_back();
}

void Cache::insert(Partition& p, std::uint32_t line, Bytes bytes) {
    if (bytes > capacity_) return;
    while (p.used + bytes > capacity_) evict_one(p);
    p.place[line] = static_cast<std::uint32_t>(p.held.size());
    p.held.push_back({line, static_cast<std::int32_t>(bytes), false});
    p.last_used.push_back(++p.now);
    p.used += bytes;
}

template <class F>
void Cache::each_half(int partition, std::uint32_t object, Bytes bytes, F&& f) {
    for (std::uint32_t half = 0; half < 2; ++half)
        if (const Bytes part = half == 0 ? bytes / 2 : bytes - bytes / 2; part > 0)
            f(partitions_[static_cast<std::size_t>(partition)], partitions_[half % partitions_.size()],
              2 * object + half, part);
}

void Cache::read(int partition, std::uint32_t object, Bytes bytes) {
    each_half(partition, object, bytes, [&](Partition& own, Partition& home, std::uint32_t line, Bytes part) {
        if (touch(own, line)) return;
        if (&home == &own || !touch(home, line)) {
            dram_.read += part;
            insert(home, line, part);
        }
        if (&home != &own) insert(own, line, part);
    });
}

void Cache::write(int partition, std::uint32_t object, Bytes bytes) {
    each_half(partition, object, bytes, [&](Partition& own, Partition& home, std::uint32_t line, Bytes part) {
        if (!touch(home, line)) insert(home, line, part);
        if (home.place[line] != nowhere)
            home.held[home.place[line]].dirty = true;
        else
            dram_.written += part;
        if (&home != &own && !touch(own, line)) insert(own, line, part);
    });
}

Bytes Cache::held(std::uint32_t object) const {
    Bytes sum = 0;
    for (const Partition& p : partitions_)
        for (const std::uint32_t line : {2 * object, 2 * object + 1})
            if (p.place[line] != nowhere) sum += p.held[p.place[line]].bytes;
    return sum;
}

Bytes Cache::dirty() const {
    Bytes sum = 0;
    for (const Partition& p : partitions_)
        for (const Held& h : p.held)
            if (h.dirty) sum += h.bytes;
    return sum;
}

Bytes Cache::held() const {
    Bytes sum = 0;
    for (const Partition& p : partitions_) sum += p.used;
    return sum;
}

}  // namespace tilescope
