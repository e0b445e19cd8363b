// How tables mark numbers that are not confirmed.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

namespace tilescope::cli {

inline constexpr const char* doubt = " ?";

/// The value, with the mark of doubt behind it if a number with one of the keys is not confirmed, else with two spaces.
template <class Numbers>
std::string marked(const Numbers& numbers, const std::vector<std::string>& keys, const std::string& value) {
    const bool sure = std::ranges::all_of(
        numbers, [&](const auto& n) { return n.confirmed || std::ranges::find(keys, n.key) == keys.end(); });
    return value + (sure ? "  " : doubt);
}

}  // namespace tilescope::cli
