// Access to the elements of tiles, for matmul.cpp and the files in operations/ alone. Each of these carries out one
// operation, and also has its price and its words. Tile programs may not include this file (tests/layers.py).
#pragma once

#include "core/machine/block.hpp"
#include "core/machine/operation.hpp"

namespace tilescope {

/// Row-major elements of a tile, handed to the function that carries out an operation and valid only there.
struct Elements {
    float* data = nullptr;
    Index rows = 0, cols = 0;
};
struct ConstElements {
    const float* data = nullptr;
    Index rows = 0, cols = 0;
};

class Apply {
  public:
    /// Carries out `operation`: charges `a` (unless nullptr) as read, `out` as its access says, and its price; calls
    /// f(out, a) where there is data; reports an event. Throws std::logic_error where the shapes do not match.
    template <class F>
    static void to(Block& b, const Operation& operation, Tile& out, const Tile* a, Here here, F&& f) {
        carry_out(b, operation, out, a, here, std::ref(f));
    }

  private:
    friend class Block;
    using Body = std::function<void(Elements, ConstElements)>;

    static void carry_out(Block& b, const Operation& operation, Tile& out, const Tile* a, Here here, const Body& f);
    static Elements elements(const Block& b, const Tile& t);
    static ConstElements const_elements(const Block& b, const Tile& t);
};

}  // namespace tilescope
