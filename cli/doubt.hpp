// How tables mark numbers that are not confirmed.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

namespace tilescope::cli {

inline constexpr const char* doubt = " ?";

/// A value that depends on the numbers of these keys, with the mark of doubt, or as many spaces, behind it.
template <class Numbers>
std::string marked(const Numbers& numbers, const std::vector<std::string>& keys, const std::string& value) {
    const bool sure = std::ranges::all_of(
        numbers, [&](const auto& n) { return n.confirmed || std::ranges::find(keys, n.key) == keys.end(); });
    return value + (sure ? "  " : doubt);
}

}  // namespace tilescope::cli
