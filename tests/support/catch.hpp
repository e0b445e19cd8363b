// Includes Catch2, version 2 (as in Debian 12) or 3.
#pragma once

#define CATCH_CONFIG_FAST_COMPILE  // an exception within a check ends the test with its own message

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
#else
#include <catch2/catch.hpp>

namespace Catch::Matchers {
/// Version 2 calls this matcher `Contains`; version 3 uses that name for elements of a range.
inline auto ContainsSubstring(const std::string& part) { return Contains(part); }
}  // namespace Catch::Matchers
#endif
