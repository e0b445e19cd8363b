// Recordings of made-up programs.
#pragma once

#include "core/record/trace.hpp"
#include "tests/support/programs.hpp"

namespace tilescope::testing {

/// A recording of what run(Gpu&) does; the Gpu is gone when it is returned.
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

}  // namespace tilescope::testing
