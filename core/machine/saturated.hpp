// Numbers that were beyond the end of a type of 8 bits, and became its largest number.
#pragma once

#include <string>
#include <vector>

#include "core/machine/dtype.hpp"
#include "core/machine/units.hpp"

namespace tilescope {

/// How many, by the name of their tile and the type that they were rounded to.
class Saturated {
  public:
    /// Looks at n numbers of a tile before they are rounded to `type`. Other types than those of 8 bits have infinity.
    void look_at(const char* tile, Dtype type, const float* x, Index n);
    void add(const Saturated& more);
    /// A sentence for each tile that had some, in the order of their names.
    std::vector<std::string> sentences() const;

  private:
    struct Tiles {
        std::string name;
        Dtype type;
        Count numbers;
    };
    void add(const std::string& tile, Dtype type, Count numbers);
    std::vector<Tiles> tiles_;
};

}  // namespace tilescope
