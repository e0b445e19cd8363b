// The L2: which part of the traffic between SMs and HBM it catches.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/machine/units.hpp"

namespace tilescope {

struct DramTraffic {
    Bytes read = 0, written = 0;
    Bytes total() const { return read + written; }
};

/// Least recently used tiles leave first. With two partitions an SM reads and writes through its own one. One half of
/// every tile has its home in each partition (an address hash). A half that an SM reads from the other partition leaves
/// a copy in the SM's own. So data that all SMs read takes twice its size. Written data is dirty in its home until
/// it is evicted; what is still dirty at the end never reaches DRAM.
class Cache {
  public:
    /// `objects`: the number of tiles; partitions: 1 or 2.
    Cache(Bytes capacity, int partitions, std::size_t objects);

    void read(int partition, std::uint32_t object, Bytes bytes);
    void write(int partition, std::uint32_t object, Bytes bytes);
    /// The DRAM traffic so far.
    const DramTraffic& dram() const { return dram_; }
    int partitions() const { return static_cast<int>(partitions_.size()); }
    /// Bytes that the cache holds of a tile, and of all tiles; copies count.
    Bytes held(std::uint32_t object) const;
    Bytes held() const;
    /// Bytes that were written and have not reached DRAM.
    Bytes dirty() const;

    static constexpr std::uint32_t ways = 16;  ///< lines that are compared to choose one to evict
    using Ways = std::array<std::uint32_t, ways>;

  private:
    static constexpr std::uint32_t nowhere = 0xffffffff;
    struct Held {
        std::uint32_t line;
        std::int32_t bytes;
        bool dirty;
    };
    /// Held lines are packed, apart from the table of all lines. Lines to evict are drawn from the packed ones, so that
    /// the memory of lines that are not held is not touched.
    struct Partition {
        std::vector<std::uint32_t> place;  // of every line: its index in `held`, or nowhere
        std::vector<Held> held;
        std::vector<std::uint32_t> last_used;  // by index in `held`
        Bytes used = 0;
        std::uint32_t now = 0;
        std::uint32_t lot = 1;
    };
    /// Calls f(partition that asks, partition that is home, line, bytes) for both halves of a tile.
    template <class F>
    void each_half(int partition, std::uint32_t object, Bytes bytes, F&& f);
    /// Whether the line is held. If so, it becomes the most recently used.
    bool touch(Partition& p, std::uint32_t line) const;
    void insert(Partition& p, std::uint32_t line, Bytes bytes);
    /// Random places of held lines: one of these is evicted.
    static Ways drawn(Partition& p);
    void evict_one(Partition& p);

    Bytes capacity_;
    std::vector<Partition> partitions_;
    DramTraffic dram_;
};

}  // namespace tilescope
