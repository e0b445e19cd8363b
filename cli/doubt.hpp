// How tables mark numbers that are not confirmed.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

namespace tilescope::cli {

inline constexpr const char* doubt = " ?";

/// A value that is made of the numbers of these keys, with the doubt about them behind it, or as many spaces.
template <class Numbers>
std::string marked(const Numbers& numbers, const std::vector<std::string>& keys, const std::string& value) {
    const bool sure = std::ranges::all_of(
        numbers, [&](const auto& n) { return n.confirmed || std::ranges::find(keys, n.key) == keys.end(); });
    return value + (sure ? "  " : doubt);
}

}  // namespace tilescope::cli
