#include "core/machine/promise.hpp"

#include <cstddef>
#include <string>

#include "core/text/message.hpp"

namespace tilescope {
using text::message;
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
    // Messages for thread blocks, for tiles, and for tiles that ended at a line of the pseudo-code.
    constexpr const char* costs[] = {"promise.block_costs", "promise.tile_costs", "promise.tile_costs_at_line"};
    constexpr const char* proportion[] = {"promise.block_costs_too_much", "promise.tile_costs_too_much",
                                          "promise.tile_costs_too_much_at_line"};
    constexpr const char* moves[] = {"promise.block_moves_other", "promise.tile_moves_other",
                                     "promise.tile_moves_other_at_line"};
    const std::size_t k = members_ == Members::thread_blocks ? 0 : m.line == 0 ? 1 : 2;
    const auto digits = [](Index n) { return std::to_string(n); };
    const std::string source = source_of(here_), line = digits(m.line);
    for (const auto& [name, member] : Counters::fields)
        if (expected.cost.counters.*member != m.cost.counters.*member)
            throw BrokenPromise(message(m.full == expected.full ? costs[k] : proportion[k], name_, source, line,
                                        digits(m.number), digits(m.cost.counters.*member), name,
                                        digits(expected.number), digits(expected.cost.counters.*member)));
    throw BrokenPromise(message(moves[k], name_, source, line, digits(m.number), digits(expected.number)));
}

}  // namespace tilescope
