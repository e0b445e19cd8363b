// How a file of one's own says which algorithms are in it, and what it was compiled for.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "algorithms/contract/algorithm.hpp"
#include "core/machine/block.hpp"
#include "core/machine/gpu.hpp"
#include "core/machine/gpu_spec.hpp"

namespace tilescope {

/// What has to agree between a program and what it loads: first the number, which changes with what the contract means,
/// then the sizes of what both use, which change with it, with the compiler and with its library.
struct Stamp {
    char magic[16] = "TileScope's own";
    std::uint32_t contract = 1;
    std::uint32_t sizes[12] = {sizeof(Algorithm),  sizeof(Computation), sizeof(Problem),    sizeof(Tiling),
                               sizeof(TensorDecl), sizeof(Tensors),     sizeof(Prediction), sizeof(GpuSpec),
                               sizeof(Gpu),        sizeof(Block),       sizeof(Tile),       sizeof(std::string)};
#ifdef _GLIBCXX_USE_CXX11_ABI
    char library[16] = {'l', 'i', 'b', 's', 't', 'd', 'c', '+', '+', '0' + _GLIBCXX_USE_CXX11_ABI};
#else
    char library[16] = "libc++";
#endif
};

/// An algorithm that a file announces.
struct Announcement {
    Algorithm (*describe)();
    const char* file;  ///< in which that stands
};

/// What a shared object offers: tilescope_offer() in it gives one. The stamp comes first, so that it can be read
/// whatever the rest is.
struct Offer {
    Stamp stamp;
    std::uint32_t count = 0;
    const Announcement* all = nullptr;
};

/// Those of this program, or of this shared object: each has a list of its own, for it is hidden from the others.
[[gnu::visibility("hidden")]] inline std::vector<Announcement>& announced() {
    static std::vector<Announcement> all;
    return all;
}

[[gnu::visibility("hidden")]] inline bool announce(Algorithm (*describe)(), const char* file) {
    announced().push_back({describe, file});
    return true;
}

[[gnu::visibility("hidden")]] inline const Offer* offered() {
    static Offer offer;
    offer.count = static_cast<std::uint32_t>(announced().size());
    offer.all = announced().data();
    return &offer;
}

}  // namespace tilescope
