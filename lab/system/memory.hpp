// How much memory is free, checked before it is allocated: a system that overcommits memory kills processes without a
// message.
#pragma once

#include <string>
#include <string_view>

#include "core/machine/error.hpp"
#include "core/machine/units.hpp"
#include "core/text/message.hpp"

namespace tilescope::lab {

/// The bytes that this process may still allocate: the least that the machine, its control groups (version 1 or 2) and
/// its own limits (`ulimit -v` and `-d`) leave. A limit that cannot be read counts as none. The system's files are read
/// below `root`.
Bytes memory_left(const std::string& root = "/");

/// Whether `needed` more bytes fit into nine tenths of memory_left().
bool fits_in_memory(Bytes needed);

/// Where `needed` bytes do not fit: RunError with this message, whose first arguments are the bytes needed and left.
template <class... A>
void check_memory(Bytes needed, std::string_view id, const A&... about) {
    if (!fits_in_memory(needed))
        throw RunError(text::message(id, text::bytes(needed), text::bytes(memory_left()), about...));
}

}  // namespace tilescope::lab
