#include "core/machine/promise.hpp"

namespace tilescope {
namespace {

/// Whether the costs b - a and d - c are in the ratio of the differences in full tiles that members see.
template <class Member>
bool in_proportion(const Member& a, const Member& b, const Member& c, const Member& d) {
    const Cost x = b.cost - a.cost, y = d.cost - c.cost;
    const Index n = b.full - a.full, m = d.full - c.full;
    for (const auto& [name, member] : Counters::fields)
        if (x.counters.*member * m != y.counters.*member * n) return false;
    return x.fingerprint * static_cast<std::uint64_t>(m) == y.fingerprint * static_cast<std::uint64_t>(n);
}

}  // namespace

void PromiseCheck::tell(Index alike, Index number, const Cost& cost, const std::optional<Tiles>& seen,
                        std::uint16_t line) {
    const Member m{number, cost, seen ? seen->full() : 0, seen && seen->ragged() ? 1 : 0, line};
    const Lock lock(mutex_);
    Alike& known = known_[alike];
    std::optional<Member>& first = known.first[m.ragged];
    if (!first) first = m;
    if (!known.steeper && m.full != first->full) known.steeper = {*first, m};
    check(known, m);
}

void PromiseCheck::check(const Alike& known, const Member& m) const {
    const Member& first = *known.first[m.ragged];
    if (m.full == first.full) {
        if (!(first.cost.counters == m.cost.counters) || first.cost.fingerprint != m.cost.fingerprint) refuse(m, first);
    } else if (!in_proportion(known.steeper->first, known.steeper->second, first, m)) {
        refuse(m, first);
    }
}

void PromiseCheck::refuse(const Member& m, const Member& expected) const {
    const std::string line = m.line > 0 ? " (pseudo-code line " + std::to_string(m.line) + ')' : "";
    const std::string who = place_ + line + ": " + member_ + ' ' + std::to_string(m.number);
    const std::string other = std::string(member_) + ' ' + std::to_string(expected.number);
    const bool graded = m.full != expected.full;
    for (const auto& [name, member] : Counters::fields)
        if (expected.cost.counters.*member != m.cost.counters.*member)
            throw BrokenPromise(who + " costs " + std::to_string(m.cost.counters.*member) + ' ' + name + " where " +
                                other + " costs " + std::to_string(expected.cost.counters.*member) +
                                (graded ? ", which is not in proportion to the tiles that they see" : "") + end_);
    throw BrokenPromise(who + " moves other tensors, or makes tiles of other sizes, than " + other + end_);
}

}  // namespace tilescope
