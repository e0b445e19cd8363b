// The two ways a request can end badly. Messages are one line and name the value and a fix.
#pragma once

#include <stdexcept>

namespace tilescope {

/// The request itself is wrong (a flag, a shape, a file's content): exit code 2.
struct UsageError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// The request is fine, carrying it out failed (a tiling that does not fit, an unwritable file): exit code 1.
struct RunError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// The user asked to stop (Ctrl-C): exit code 130.
struct Interrupted : std::runtime_error {
    Interrupted() : std::runtime_error("interrupted") {}
};

}  // namespace tilescope
