// Mistakes of a tile program that exact modes find.
#pragma once

#include <stdexcept>
#include <string>

#include "core/machine/place.hpp"

namespace tilescope {

/// "[16, 32)"
inline std::string shown(Span s) { return "[" + std::to_string(s.begin) + ", " + std::to_string(s.end()) + ")"; }

/// An impossible operation, or an unknown name. The message ends with the place in the program.
struct Misuse : std::logic_error {
    Misuse(const std::string& what, Here here);
};

/// A range whose members did not cost what it promised.
struct BrokenPromise : std::logic_error, Placed {
    using std::logic_error::logic_error;
};

/// Two thread blocks of a launch store to the same elements: the result would depend on which of them comes last.
struct Race : std::logic_error, Placed {
    Race(const std::string& what, Place first_, Place second) : std::logic_error(what), Placed{second}, first(first_) {}
    Place first;  ///< where the elements were stored before
};

}  // namespace tilescope
