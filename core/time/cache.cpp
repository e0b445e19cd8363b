#include "core/time/cache.hpp"

namespace tilescope {

// A line is a half of a tile: line 2 t + h of tile t has its home in partition h. With one partition all are at home.

Cache::Cache(Bytes capacity, int partitions, std::size_t objects)
    : capacity_(capacity / partitions), partitions_(static_cast<std::size_t>(partitions)) {
    for (Partition& p : partitions_) p.lines.resize(2 * objects);
}

void Cache::unlink(Partition& p, std::uint32_t line) {
    Line& l = p.lines[line];
    (l.before == none ? p.newest : p.lines[l.before].after) = l.after;
    (l.after == none ? p.oldest : p.lines[l.after].before) = l.before;
}

void Cache::push(Partition& p, std::uint32_t line) {
    Line& l = p.lines[line];
    l.before = none, l.after = p.newest;
    (p.newest == none ? p.oldest : p.lines[p.newest].before) = line;
    p.newest = line;
}

bool Cache::touch(Partition& p, std::uint32_t line) {
    if (p.lines[line].bytes == 0) return false;
    if (p.newest != line) {
        unlink(p, line);
        push(p, line);
    }
    return true;
}

void Cache::insert(Partition& p, std::uint32_t line, Bytes bytes) {
    if (bytes > capacity_) return;
    while (p.used + bytes > capacity_) {
        const std::uint32_t victim = p.oldest;
        Line& v = p.lines[victim];
        unlink(p, victim);
        p.used -= v.bytes;
        if (v.dirty) dram_.written += v.bytes;
        v = {};
    }
    p.lines[line].bytes = static_cast<std::int32_t>(bytes);
    p.used += bytes;
    push(p, line);
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
        if (home.lines[line].bytes > 0)
            home.lines[line].dirty = true;
        else
            dram_.written += part;
        if (&home != &own && !touch(own, line)) insert(own, line, part);
    });
}

}  // namespace tilescope
