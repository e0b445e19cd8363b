// How a user's own file announces its algorithms, and what it was compiled for.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "algorithms/contract/algorithm.hpp"
#include "core/machine/block.hpp"
#include "core/machine/gpu.hpp"
#include "core/machine/gpu_spec.hpp"

namespace tilescope {

/// A program loads a file only if both have equal stamps. `contract` changes when the meaning of the contract does;
/// `sizes`, of types that both use, also change with the compiler and its library.
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
    const char* file;  ///< the source file of describe()
};

/// What the function tilescope_offer() of a shared object returns. The stamp comes first, so that it can be read even
/// where the rest has another layout.
struct Offer {
    Stamp stamp;
    std::uint32_t count = 0;
    const Announcement* all = nullptr;
};

/// The announcements of this program or shared object. Each has its own list, because the symbol is hidden.
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
