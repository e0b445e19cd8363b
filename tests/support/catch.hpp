// Catch2 in version 2 (Debian 12) or 3.
#pragma once

#define CATCH_CONFIG_FAST_COMPILE  // an exception within a check ends the test with its own message

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
#else
#include <catch2/catch.hpp>

namespace Catch::Matchers {
/// Version 3's name; in version 3, `Contains` is about elements of a range.
inline auto ContainsSubstring(const std::string& part) { return Contains(part); }
}  // namespace Catch::Matchers
#endif
