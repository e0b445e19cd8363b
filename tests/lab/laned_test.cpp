// The lanes of flash_v3, played on one SM.
#include "lab/model/laned.hpp"

#include <utility>

#include "algorithms/contract/roles.hpp"
#include "lab/gpu/gpu_presets.hpp"
#include "lab/model/mapping.hpp"
#include "tests/support/catch.hpp"

using namespace tilescope;
using namespace tilescope::lab;

namespace {

double cycles_of(Tiling t, Index dim) {
    Problem p;
    p.seq_q = p.seq_k = 4096;
    p.dim = p.dim_v = dim;
    const Algorithm& a = *find_algorithm("flash_v3");
    const GpuSpec gpu = gpu_preset("H100");
    t.like = 1;  // fa3-2024: P stays in registers
    const Experiment e{&a, p, completed(t, a, p, gpu), gpu};
    return played_lanes(e, 8).play.end;
}

}  // namespace

TEST_CASE("softmax runs under products where the program asks for these first", "[laned]") {
    // One warpgroup at d = 64, and two at d = 128, so that no step waits for the bus.
    for (const auto& [groups, dim] : {std::pair<Index, Index>{1, 64}, {2, 128}}) {
        Tiling t{64 * groups, 128};
        t.warpgroups = groups, t.turns = off, t.overlap = on;
        const double overlapped = cycles_of(t, dim);
        t.overlap = off;
        const double serial = cycles_of(t, dim);
        CAPTURE(dim, overlapped, serial);
        // A good part of each step's P V, but the last one, is hidden.
        CHECK(serial - overlapped > 7 * 0.3 * static_cast<double>(2 * t.br * t.bc * dim) / 4096);
    }
}
