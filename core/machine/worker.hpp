// What one thread of the simulator keeps while it runs thread blocks; merged at the end of a launch.
#pragma once

#include <deque>
#include <exception>
#include <utility>
#include <vector>

#include "core/machine/addends.hpp"
#include "core/machine/block.hpp"
#include "core/machine/chip_memory.hpp"
#include "core/machine/covered.hpp"
#include "core/machine/race.hpp"
#include "core/machine/saturated.hpp"

namespace tilescope {

struct Worker {
    Worker(ChipCapacity capacity, bool data) : chip(capacity, data) {}

    ChipMemory chip;
    Counters total;
    std::vector<Traffic> traffic;              // by tensor
    Saturated saturated;                       // of tiles, by name
    std::uint64_t fingerprint = 0;             // of the bytes of each tensor and of the tiles made: see mark()
    std::vector<Listener*> listeners;          // those that want the current block
    std::vector<float> scratch, more_scratch;  // for what has to be rounded: operands, and what is stored
    Here here = {0, ""};                       // of the operation that is carried out
    Stores stores;                             // of this launch, in exact modes
    Addends addends;                           // of the current block
    Written settled;                           // stored by ended launches, in exact modes; all use the main worker's
    Written written{&settled};                 // stored by ended launches and by this one
    struct Issuer {
        LaneInfo info;
        ChipMemory::Slot registers = ChipMemory::no_slot;  // of the lane
    };
    std::deque<Issuer> lanes;  // of the current block
    LaneId issuing = no_lane;
    std::map<TensorId, Here> early;  // loads from blank tensors before anything was stored there, in folded runs

    std::exception_ptr unsaid;  // what a listener threw in a destructor: see tell_quietly()

    bool heard() const { return !listeners.empty(); }

    /// Calls say(Listener&) for all that listen to the current block.
    template <class F>
    void tell(F&& say) {
        if (unsaid) std::rethrow_exception(std::exchange(unsaid, nullptr));
        for (Listener* l : listeners) say(*l);
    }
    /// The same for destructors: the next tell() throws what a listener throws here. Until then nobody is told more.
    template <class F>
    void tell_quietly(F&& say) noexcept {
        if (unsaid) return;
        try {
            tell(say);
        } catch (...) {
            unsaid = std::current_exception();
        }
    }

    void charge(const Counters& cost, Count times) {
        if (times == 1)
            total += cost;  // most operations of an exact run
        else
            total.add(cost, times);
    }
    /// Adds bytes of a kind, such as loads from one tensor, to the fingerprint. Promises compare fingerprints, so that
    /// equal totals cannot hide bytes of another tensor or tiles of another size.
    void mark(std::uint64_t kind, Bytes bytes, Count times) {
        fingerprint += (kind + 1) * 0x9e3779b97f4a7c15u * static_cast<std::uint64_t>(bytes * times);
    }
};

/// What a member of a promised-equal range costs.
struct Cost {
    Counters counters;
    std::uint64_t fingerprint = 0;

    static Cost so_far(const Worker& w) { return {w.total, w.fingerprint}; }
    friend Cost operator-(const Cost& a, const Cost& b) {
        return {a.counters - b.counters, a.fingerprint - b.fingerprint};
    }
    friend Cost operator+(Cost a, const Cost& b) {
        a.counters += b.counters;
        a.fingerprint += b.fingerprint;
        return a;
    }
};

}  // namespace tilescope
