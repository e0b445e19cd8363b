// How much memory there is, asked before it is taken: a system that has promised more than it has ends processes
// without a word.
#pragma once

#include <string>

#include "core/machine/units.hpp"

namespace tilescope::lab {

/// The bytes that this process may still take before the machine, its control groups (of version 1 or 2) or its own
/// limits (`ulimit -v` and `-d`) are in the way. What cannot be found out limits nothing. The system's files are looked
/// up below `root`.
Bytes memory_left(const std::string& root = "/");

/// Whether that is enough for so many more bytes, with a tenth to spare.
bool fits_in_memory(Bytes needed);

/// RunError, "WHAT needs 2 GB of memory, and 1 GB are left; FIX", where it is not.
void check_memory(const std::string& what, Bytes needed, const std::string& fix);

}  // namespace tilescope::lab
