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

/// All of a file, which has at most so many bytes. Throws Unreadable. A pipe or a device, which might never end or
/// never begin, is none that is read.
std::string read_text(const std::string& path, std::size_t most = most_text_bytes);

}  // namespace tilescope::lab
