// Checking, in exact modes, what ranges of tiles promise.
#pragma once

#include <map>
#include <optional>
#include <utility>

#include "core/machine/grid.hpp"
#include "core/machine/mistakes.hpp"
#include "core/machine/parallel.hpp"
#include "core/machine/worker.hpp"

namespace tilescope {

/// The costs of a range's members, set by set: members of a set are promised to cost the same, except for the inner
/// tiles that they see. Several threads may call tell().
class PromiseCheck {
  public:
    /// The members of the range: thread blocks of a kernel that was launched at `here`, or tiles of a loop there.
    enum class Members : std::uint8_t { thread_blocks, tiles };
    /// `name`: the kernel's, or that of the loop's promise.
    PromiseCheck(Members members, const char* name, Here here) : members_(members), name_(name), here_(here) {}

    /// Compares a member's cost; throws BrokenPromise. `alike`: the number of its set. `seen`: the inner tiles that it
    /// sees, where the promise is graded. `line`: the pseudo-code line that the member ended at; 0: none.
    void tell(Index alike, Index member, const Cost& cost, const std::optional<Tiles>& seen, std::uint16_t line = 0);

  private:
    struct Member {
        Index number;
        Cost cost;
        Index full, ragged;  // inner tiles seen
        std::uint16_t line;
    };
    /// Members that see equally many full tiles cost the same. For any two others the difference in cost is
    /// proportional to the difference in full tiles; the first two that differ set the ratio for all. Members that also
    /// see a ragged tile are compared only with each other.
    struct Alike {
        std::optional<Member> first[2];                    // by ragged
        std::optional<std::pair<Member, Member>> steeper;  // they set the ratio
    };

    void check(const Alike& known, const Member& m) const;
    [[noreturn]] void refuse(const Member& m, const Member& expected) const;

    Members members_;
    const char* name_;
    Here here_;
    Mutex mutex_;
    std::map<Index, Alike> known_;
};

/// The number of the set that member k of an axis or loop belongs to: costs within a set are promised to be comparable.
/// `seen`: the inner tiles that the member sees, where something is graded.
inline Index alike_in(const Axis& range, Index k, const std::optional<Tiles>& seen) {
    if (range.promise == Promise::none) return k;
    const Index ragged = k < range.tiles.full() ? 0 : 1;
    if (range.promise == Promise::uniform) return ragged;
    // Members that see nothing may leave out operations of the others.
    return ragged + (seen && seen->count() > 0 ? 2 : 0);
}
/// How many such sets there are.
inline Index sets_of(const Axis& range) {
    return range.promise == Promise::none ? range.tiles.count() : range.promise == Promise::uniform ? 2 : 4;
}

}  // namespace tilescope
