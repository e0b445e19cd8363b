// What a thread block holds on chip: live tiles, bytes in use, and peaks.
#pragma once

#include <memory>
#include <new>
#include <vector>

#include "core/machine/event.hpp"
#include "core/machine/out_of_chip_memory.hpp"

namespace tilescope {

/// What a tile's numbers stand for, and which part of their matrix they are, as far as this is known. See Event.
struct Origin {
    Meaning meaning = Meaning::other;
    Region region = {};
};

struct ChipCapacity {
    Bytes sram, registers;
    Bytes of(Space s) const { return s == Space::sram ? sram : registers; }
};

class ChipMemory {
  public:
    using Slot = std::uint32_t;
    static constexpr Slot no_slot = 0xffffffff;

    explicit ChipMemory(ChipCapacity capacity, bool data) : capacity_(capacity), data_(data) {
        slots_.reserve(16);
        free_.reserve(16);
    }

    /// Makes and charges a tile. Throws OutOfChipMemory where it does not fit, with the pseudo-code line `line`.
    Slot take(const TileInfo& info, std::uint16_t line);
    /// The same for a tile inside another tile (a ring, or the registers of a lane) that was charged already.
    Slot take_within(Slot place, TileInfo info, std::uint16_t line);
    void give(Slot slot) noexcept;

    const TileInfo& info(Slot s) const { return slots_[s].info; }
    TileId id(Slot s) const { return slots_[s].id; }
    bool holds(Slot s, TileId id) const { return s < slots_.size() && slots_[s].live && slots_[s].id == id; }
    float* data(Slot s) const { return slots_[s].data.get(); }
    Origin& origin(Slot s) { return slots_[s].origin; }

    Bytes used(Space s) const { return used_[static_cast<int>(s)]; }
    Bytes peak(Space s) const { return peak_[static_cast<int>(s)]; }
    void forget_peaks() { peak_[0] = used_[0], peak_[1] = used_[1]; }
    const ChipCapacity& capacity() const { return capacity_; }
    /// Whether tiles have contents.
    bool has_data() const { return data_; }

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
        Origin origin = {};
        Slot within = no_slot;
        Bytes held = 0;  // by the tiles inside it
        bool live = false;
        Index room = 0;  // floats that `data` can hold
        std::unique_ptr<float[], Release> data;
    };

    Slot fill(const TileInfo& info);
    [[noreturn]] void refuse(const TileInfo& info, std::uint16_t line) const;
    [[noreturn]] void refuse_within(Slot place, const TileInfo& info, std::uint16_t line) const;

    ChipCapacity capacity_;
    bool data_;
    Bytes used_[2] = {0, 0}, peak_[2] = {0, 0};
    TileId next_id_ = 0;
    std::vector<Entry> slots_;
    std::vector<Slot> free_;
};

}  // namespace tilescope
