#include "lab/gpu/gpu_names.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <system_error>
#include <utility>

#include "core/text/words.hpp"

namespace tilescope::lab {
namespace {

/// Names from drivers that say more than the preset's name, in the plain form that is compared.
constexpr std::pair<std::string_view, std::string_view> by_driver[] = {
    {"v100sxm216gb", "V100"},      {"a100sxm440gb", "A100-40GB"}, {"a100sxm40gb", "A100-40GB"},  // of older drivers
    {"a100sxm480gb", "A100-80GB"}, {"a100sxm80gb", "A100-80GB"},  {"h10080gbhbm3", "H100-SXM"}};

constexpr std::string_view brands[] = {"nvidia", "tesla", "geforce", "amd", "instinct", "radeon"};

/// Removes a whole number and the text `behind` it from the beginning of `rest`; nullopt where they are not there.
std::optional<Index> take_number(std::string_view& rest, std::string_view behind) {
    Index n = 0;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), n);
    if (error != std::errc()) return std::nullopt;
    const std::string_view after = rest.substr(static_cast<std::size_t>(end - rest.data()));
    if (!after.starts_with(behind)) return std::nullopt;
    rest = after.substr(behind.size());
    return n;
}

/// Reads the profile of a slice, "3g.40gb", or of a part of a slice's SMs, "1c.3g.40gb".
std::optional<MigSlice> slice_called(std::string_view profile) {
    const auto some = take_number(profile, "c."), all = take_number(profile, "g."), gb = take_number(profile, "gb");
    if (!all || !gb || *all < 1 || *all > 7 || *gb < 1 || (some && (*some < 1 || *some > *all))) return std::nullopt;
    return MigSlice{"", some.value_or(*all), *gb};
}

bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }

}  // namespace

std::string_view without_brand(std::string_view name) {
    for (std::string_view rest = name;;) {
        rest.remove_prefix(std::min(rest.find_first_not_of(" -_"), rest.size()));
        const std::string word = text::plain(rest.substr(0, rest.find_first_of(" -_")));
        if (std::find(std::begin(brands), std::end(brands), word) == std::end(brands)) return rest;
        rest.remove_prefix(word.size());
    }
}

std::optional<MigSlice> mig_slice(std::string_view name) {
    std::optional<std::string_view> whole;
    for (std::size_t at = 0; at < name.size();) {
        const std::size_t end = std::min(name.find_first_of(" -_", at), name.size());
        const std::string word = text::plain(name.substr(at, end - at));
        const std::optional<MigSlice> slice = slice_called(word);
        if ((slice || word == "mig") && !whole) whole = name.substr(0, at);
        if (slice) return MigSlice{*whole, slice->sevenths, slice->gb};
        at = end + 1;
    }
    return whole ? std::optional(MigSlice{*whole, 0, 0}) : std::nullopt;
}

std::string preset_of_driver_name(std::string_view name, const std::vector<std::string>& presets) {
    const std::string model = text::plain(without_brand(name));
    for (const auto& [driver, preset] : by_driver)
        if (driver == model) return std::string(preset);
    const auto same =
        std::find_if(presets.begin(), presets.end(), [&](const auto& p) { return text::plain(p) == model; });
    return same == presets.end() ? "" : *same;
}

std::vector<std::string> presets_meant(std::string_view name, const std::vector<std::string>& presets) {
    const std::string_view model = without_brand(name);
    const std::string typed = text::plain(model);
    if (const std::string one = preset_of_driver_name(model, presets); !one.empty()) return {one};
    if (typed == "a100") return {"A100-40GB"};
    std::vector<std::string> all = text::meant(model, presets);
    for (const auto& [driver, preset] : by_driver)
        if (!typed.empty() && driver.starts_with(typed) && std::find(all.begin(), all.end(), preset) == all.end())
            all.emplace_back(preset);
    return all;
}

std::string preset_suggested(std::string_view name, const std::vector<std::string>& presets) {
    const std::string_view model = without_brand(name);
    const std::string typed = text::plain(model);
    std::vector<std::string> family;
    for (const std::string& p : presets)
        if (typed.empty() || !is_letter(typed[0]) || text::plain(p)[0] == typed[0]) family.push_back(p);
    return text::did_you_mean("", model, family);
}

}  // namespace tilescope::lab
