// Recordings of random programs, and comparisons of recordings.
#pragma once

#include <string>

#include "core/record/trace.hpp"
#include "tests/support/programs.hpp"

namespace tilescope::testing {

/// A recording of run(Gpu&); the Gpu no longer exists when the recording is returned.
template <class F>
std::unique_ptr<Trace> record(F run, TraceOptions options = {}, Mode mode = numeric_mode, Listener* other = nullptr) {
    Gpu gpu(small_gpu(), mode, 1);
    auto trace = std::make_unique<Trace>(gpu, std::move(options));
    if (other) gpu.listen(*other);
    gpu.listen(*trace);
    run(gpu);
    return trace;
}

inline std::unique_ptr<Trace> record(const RandomProgram& program, TraceOptions options = {}, Mode mode = numeric_mode,
                                     Listener* other = nullptr) {
    return record([&](Gpu& gpu) { program.run(gpu); }, std::move(options), mode, other);
}

/// Compares everything of two events except the numbers of their tiles.
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

/// A recording's text with the first `from` after `mark` replaced by `to`.
inline std::string edited(std::string text, const std::string& mark, const std::string& from, const std::string& to) {
    const std::size_t at = text.find(from, text.find(mark));
    REQUIRE(at != std::string::npos);
    return text.replace(at, from.size(), to);
}

}  // namespace tilescope::testing
