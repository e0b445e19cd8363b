// Recordings beside each other.
#pragma once

#include <string>

#include "core/record/trace.hpp"
#include "tests/support/harness.hpp"

namespace tilescope::testing {

/// Everything about an event but the numbers of its tiles.
inline bool same_event(const Event& a, const Event& b) {
    return a.operation == b.operation && a.meaning == b.meaning && a.line == b.line && a.source_line == b.source_line &&
           a.block == b.block && a.region == b.region && a.cost == b.cost && a.times == b.times &&
           a.sram_used == b.sram_used && a.registers_used == b.registers_used;
}

inline bool same_step(const Trace& t, Index i, const Trace& u, Index j) {
    const Step &a = t[i], &b = u[j];
    return same_event(a.event, b.event) && a.event.out == b.event.out && a.event.reads == b.event.reads &&
           a.launch == b.launch && a.turn == b.turn && a.enters_line == b.enters_line && a.region == b.region &&
           same_bits(t.values(a), u.values(b));
}

inline bool same_tensor(const RecordedTensor& a, const RecordedTensor& b) {
    return a.name == b.name && a.role == b.role && a.dtype == b.dtype && a.slices == b.slices && a.rows == b.rows &&
           a.cols == b.cols && a.regions == b.regions && same_bits(a.initial, b.initial);
}

/// The first difference between two recordings; "" where they are identical.
inline std::string divergence(const Trace& a, const Trace& b) {
    if (a.size() != b.size()) return "sizes";
    for (Index k = 0; k < a.size(); ++k)
        if (!same_step(a, k, b, k)) return "step " + std::to_string(k);
    if (a.tiles() != b.tiles()) return "tiles";
    if (a.launches() != b.launches() || a.blocks() != b.blocks()) return "grids";
    if (a.loops() != b.loops() || a.turns() != b.turns()) return "loops";
    if (a.tensors().size() != b.tensors().size()) return "number of tensors";
    for (std::size_t t = 0; t < a.tensors().size(); ++t)
        if (!same_tensor(a.tensors()[t], b.tensors()[t])) return "tensor " + a.tensors()[t].name;
    return a.value_bytes() == b.value_bytes() && a.has_values() == b.has_values() ? "" : "values";
}

}  // namespace tilescope::testing
