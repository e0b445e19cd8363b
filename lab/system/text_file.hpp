// Small text files that users name.
#pragma once

#include <cstddef>
#include <string>

namespace tilescope::lab {

/// Why a file is not read: "is a folder".
struct Unreadable {
    std::string why;
};

constexpr std::size_t most_text_bytes = std::size_t{1} << 20;

/// The content of a file of at most `most` bytes. Throws Unreadable, also for a pipe or a device, which might never end
/// or never begin.
std::string read_text(const std::string& path, std::size_t most = most_text_bytes);

}  // namespace tilescope::lab
