// Checking, in exact modes, what ranges of tiles promise.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "core/machine/grid.hpp"
#include "core/machine/mistakes.hpp"
#include "core/machine/parallel.hpp"
#include "core/machine/worker.hpp"

namespace tilescope {

/// The costs of a range's members, for each set of members that are promised to cost the same but for the inner tiles
/// that they see. May be told from several threads.
class PromiseCheck {
  public:
    /// `place` is how a message begins, `member` what it calls one of the range: "tile"; `end` is how it ends.
    PromiseCheck(std::string place, const char* member, std::string end = "")
        : place_(std::move(place)), member_(member), end_(std::move(end)) {}

    /// Throws BrokenPromise. `alike`: members of one number are promised to cost the same, but for `seen` where the
    /// promise is graded. `line`: the pseudo-code line that the member ended at, 0: none.
    void tell(Index alike, Index member, const Cost& cost, const std::optional<Tiles>& seen, std::uint16_t line = 0);

  private:
    struct Member {
        Index number;
        Cost cost;
        Index full, ragged;  // inner tiles seen
        std::uint16_t line;
    };
    /// Members that see as many full tiles cost the same, and of any two of them the difference is in proportion to
    /// that of the first two that see different numbers: apart for those that see a ragged tile as well, and those that
    /// do not.
    struct Alike {
        std::optional<Member> first[2];                    // by ragged
        std::optional<std::pair<Member, Member>> steeper;  // the two
    };

    void check(const Alike& known, const Member& m) const;
    [[noreturn]] void refuse(const Member& m, const Member& expected) const;

    std::string place_;
    const char* member_;
    std::string end_;
    Mutex mutex_;
    std::map<Index, Alike> known_;
};

/// What members of an axis or loop share whose costs are promised to be comparable: the number of their set. `seen`:
/// the inner tiles that one sees, where something is graded.
inline Index alike_in(const Axis& range, Index k, const std::optional<Tiles>& seen) {
    if (range.promise == Promise::none) return k;
    const Index ragged = k < range.tiles.full() ? 0 : 1;
    if (range.promise == Promise::uniform) return ragged;
    // Members that see nothing may leave out what the others do.
    return ragged + (seen && seen->count() > 0 ? 2 : 0);
}
/// How many such sets there are.
inline Index sets_of(const Axis& range) {
    return range.promise == Promise::none ? range.tiles.count() : range.promise == Promise::uniform ? 2 : 4;
}

}  // namespace tilescope
