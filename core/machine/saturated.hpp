// Numbers that were beyond the end of a type of 8 bits, and became its largest number.
#pragma once

#include <string>
#include <tuple>
#include <vector>

#include "core/machine/dtype.hpp"
#include "core/machine/units.hpp"

namespace tilescope {

/// How many, by the name of their tile and the type that they were rounded to.
class Saturated {
  public:
    /// Looks at n numbers of a tile before they are rounded to `type`. Other types than those of 8 bits have infinity.
    /// `product`: the tile to which the product is added that they are rounded for; "" where they stay so.
    void look_at(const char* tile, Dtype type, const float* x, Index n, const char* product = "");
    void add(const Saturated& more);
    /// A sentence for each tile that had some, in the order of their names.
    std::vector<std::string> sentences() const;

  private:
    struct Tiles {
        std::string name;
        Dtype type;
        std::string product;
        Count numbers = 0;

        std::tuple<std::string, Dtype, std::string> place() const { return {name, type, product}; }
    };
    void add(const Tiles& more);
    std::vector<Tiles> tiles_;
};

}  // namespace tilescope
