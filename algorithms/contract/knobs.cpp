#include "algorithms/contract/knobs.hpp"

namespace tilescope {

std::string Knob::text(const Tiling& t) const {
    const Index k = t.*value;
    return names.empty() ? std::to_string(k) : k > 0 ? names[static_cast<std::size_t>(k - 1)] : "";
}

std::optional<Index> Knob::value_of(std::string_view choice) const {
    const auto found = std::find(names.begin(), names.end(), choice);
    if (found == names.end()) return std::nullopt;
    return found - names.begin() + 1;
}

}  // namespace tilescope
