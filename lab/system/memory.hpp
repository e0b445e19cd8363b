// How much memory is free, checked before it is allocated: a system that overcommits memory kills processes without a
// message.
#pragma once

#include <string>

#include "core/machine/units.hpp"

namespace tilescope::lab {

/// The bytes that this process may still allocate: the least that the machine, its control groups (version 1 or 2) and
/// its own limits (`ulimit -v` and `-d`) leave. A limit that cannot be read counts as none. The system's files are read
/// below `root`.
Bytes memory_left(const std::string& root = "/");

/// Whether `needed` more bytes fit into nine tenths of memory_left().
bool fits_in_memory(Bytes needed);

/// Where `needed` bytes do not fit: RunError, "WHAT needs 2 GB of memory, and 1 GB are left; FIX".
void check_memory(const std::string& what, Bytes needed, const std::string& fix);

}  // namespace tilescope::lab
