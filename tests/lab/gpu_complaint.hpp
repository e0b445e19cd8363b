// What is said of a wrong GPU.
#pragma once

#include <algorithm>
#include <string>

#include "core/machine/error.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/folder.hpp"

namespace tilescope {

/// The error message of f, which must be one printable line that begins like every message about a GPU.
template <class F>
std::string complaint(F&& f) {
    const std::string message = message_of<BadValue>(f);
    CHECK(message.starts_with("gpu "));
    CHECK(message.size() < 700);
    CHECK(std::none_of(message.begin(), message.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }));
    return message;
}

}  // namespace tilescope
