// What a thread block holds on chip: live tiles, bytes in use, peaks, and the refusal when a tile does not fit.
#pragma once

#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/machine/event.hpp"

namespace tilescope {

struct ChipCapacity {
    Bytes sram, registers;
    Bytes of(Space s) const { return s == Space::sram ? sram : registers; }
};

struct LiveTile {
    std::string name;
    Index rows, cols;
    Dtype dtype;
    Bytes bytes;
};

/// A tile did not fit. A result to show: says what lives in the space, how much more is needed, and where it happened.
struct OutOfChipMemory : std::runtime_error {
    OutOfChipMemory(Space space, LiveTile wanted, Bytes used, Bytes capacity, std::uint16_t line,
                    std::vector<LiveTile> live);

    Bytes missing() const { return used + wanted.bytes - capacity; }

    Space space;
    LiveTile wanted;
    Bytes used, capacity;
    std::uint16_t line;
    std::vector<LiveTile> live;
};

class ChipMemory {
  public:
    using Slot = std::uint32_t;

    explicit ChipMemory(ChipCapacity capacity, bool data) : capacity_(capacity), data_(data) {}

    /// Charges the tile; OutOfChipMemory when it does not fit. `line` is the pseudo-code line to blame.
    Slot take(const TileInfo& info, std::uint16_t line);
    void give(Slot slot);

    const TileInfo& info(Slot s) const { return slots_[s].info; }
    TileId id(Slot s) const { return slots_[s].id; }
    float* data(Slot s) const { return slots_[s].data.get(); }

    Bytes used(Space s) const { return used_[static_cast<int>(s)]; }
    Bytes peak(Space s) const { return peak_[static_cast<int>(s)]; }
    void forget_peaks() { peak_[0] = used_[0], peak_[1] = used_[1]; }
    const ChipCapacity& capacity() const { return capacity_; }

    /// Starts numbering tiles anew, for the next thread block.
    void restart() { next_id_ = 0; }

  private:
    // Aligned for the widest vectors of the host.
    struct Release {
        void operator()(float* p) const { ::operator delete[](p, std::align_val_t{64}); }
    };
    struct Entry {
        TileInfo info;
        TileId id;
        bool live = false;
        Index room = 0;  // floats that `data` can hold
        std::unique_ptr<float[], Release> data;
    };

    [[noreturn]] void refuse(const TileInfo& info, std::uint16_t line) const;

    ChipCapacity capacity_;
    bool data_;
    Bytes used_[2] = {0, 0}, peak_[2] = {0, 0};
    TileId next_id_ = 0;
    std::vector<Entry> slots_;
    std::vector<Slot> free_;
};

}  // namespace tilescope
