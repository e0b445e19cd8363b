// Mistakes of a tile program that exact modes find.
#pragma once

#include <stdexcept>
#include <string>

#include "core/machine/units.hpp"

namespace tilescope {

/// A range whose members did not cost what it promised.
struct BrokenPromise : std::logic_error {
    using std::logic_error::logic_error;
};

/// Two thread blocks of a launch store to the same elements: the result would depend on which of them comes last.
struct Race : std::logic_error {
    Race(const std::string& what, Index launch_, Index first_, Index second_)
        : std::logic_error(what), launch(launch_), first(first_), second(second_) {}
    Index launch, first, second;  ///< the blocks' numbers in the launch's grid
};

}  // namespace tilescope
