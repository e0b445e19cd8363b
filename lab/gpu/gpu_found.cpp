// Which preset a name means, and what to take in place of a GPU that has none.
#include <algorithm>
#include <cmath>

#include "core/machine/error.hpp"
#include "core/text/message.hpp"
#include "core/text/words.hpp"
#include "lab/gpu/asked.hpp"
#include "lab/gpu/gpu_names.hpp"
#include "lab/gpu/gpu_sheet.hpp"

namespace tilescope::lab {
using text::message;
namespace {

/// The one sheet that the name may mean; nullptr where there is none, or several.
const GpuSheet* sheet_meant(std::span<const GpuSheet> sheets, std::string_view name) {
    const auto meant = presets_meant(name, names_of(sheets));
    if (meant.size() != 1) return nullptr;
    return &*std::find_if(sheets.begin(), sheets.end(), [&](const GpuSheet& s) { return s.spec.name == meant[0]; });
}

/// What to do in place of naming a MIG slice of a preset.
std::string about_slice(const MigSlice& slice, std::span<const GpuSheet> sheets) {
    const GpuSheet* sheet = sheet_meant(sheets, slice.whole);
    if (!sheet) return message("presets.slice");
    const GpuSpec& g = sheet->spec;
    if (slice.sevenths == 0) return message("presets.slice_of", g.name);
    const double gib = static_cast<double>(g.hbm_bytes) / (1 << 30);
    const Index eighths = std::clamp<Index>(std::llround(8 * static_cast<double>(slice.gb) / gib), 1, 8);
    const std::string like_it = "tilescope run flash_v2 --gpu " + g.name + " --sms " +
                                std::to_string(std::max<Index>(2, g.sms * slice.sevenths / 14 * 2)) + " --l2-bytes " +
                                std::to_string(g.l2_bytes * eighths / 8 >> 20) + "M --hbm-bandwidth " +
                                std::to_string(std::llround(g.hbm_gbs * static_cast<double>(eighths) / 8));
    return message("presets.slice_of_size", slice.sevenths, g.sms, g.name, eighths, like_it);
}

/// What to take in place of a device without a preset; empty where the device is unknown.
std::string instead_of_gpu(std::string_view name, std::span<const GpuSheet> sheets) {
    if (const auto slice = mig_slice(name)) return about_slice(*slice, sheets);
    const std::string with_brand = instead_of(Asked::gpu, name);  // the brand tells a Tesla M4 from Apple's M4
    return with_brand.empty() ? instead_of(Asked::gpu, without_brand(name)) : with_brand;
}

/// `instead`, and how to start a file of one's own from the preset that it names.
std::string or_a_file(std::string_view instead) {
    constexpr std::string_view flag = "--gpu ";
    const std::size_t at = instead.find(flag);
    if (at == instead.npos) return message("presets.or_path", instead);
    const std::string_view rest = instead.substr(at + flag.size());
    return message("presets.or_file", instead, rest.substr(0, rest.find_first_of(" `;")));
}

}  // namespace

std::vector<std::string> names_of(std::span<const GpuSheet> sheets) {
    std::vector<std::string> names;
    for (const auto& sheet : sheets) names.push_back(sheet.spec.name);
    return names;
}

const GpuSheet& find_sheet(std::span<const GpuSheet> sheets, std::string_view name, const std::string& asked,
                           bool may_be_file) {
    const auto names = names_of(sheets);
    if (const std::string instead = instead_of_gpu(name, sheets); !instead.empty())
        throw BadValue("gpu", asked, may_be_file ? or_a_file(instead) : instead);
    if (const GpuSheet* sheet = sheet_meant(sheets, name)) return *sheet;
    if (const auto meant = presets_meant(name, names); !meant.empty())
        throw BadValue("gpu", asked, message("presets.ambiguous", text::join(meant, ", ")));
    const std::string all = text::join(names, ", "), suggested = preset_suggested(name, names),
                      unknown = suggested.empty() ? message("presets.unknown", all)
                                                  : message("presets.unknown_but", all, suggested);
    throw BadValue("gpu", asked, may_be_file ? message("presets.or_path", unknown) : unknown);
}

}  // namespace tilescope::lab
