#include "lab/gpu/gpu_presets.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <limits>
#include <utility>

#include "core/machine/sorted.hpp"
#include "core/text/words.hpp"
#include "lab/gpu/gpu_fields.hpp"
#include "lab/gpu/gpu_sheet.hpp"

namespace tilescope::lab {
namespace {

/// "8.0" as (8, 0); what is not a version sorts last.
std::pair<int, int> version(std::string_view text) {
    std::pair<int, int> v{std::numeric_limits<int>::max(), 0};
    const char* const end = text.data() + text.size();
    const auto major = std::from_chars(text.data(), end, v.first);
    if (major.ptr != end) std::from_chars(major.ptr + 1, end, v.second);
    return v;
}

/// All presets, ordered by compute capability, so that a file added to gpus/ needs no second entry anywhere.
const std::vector<GpuSheet>& presets() {
    static const std::vector<GpuSheet> all = [] {
        std::vector<GpuSheet> sheets;
        for (const auto& file : embedded_gpus()) sheets.push_back(read_sheet(file.text, file.name, {}));
        sort_stably(sheets, [](const GpuSheet& a, const GpuSheet& b) {
            const auto key = [](const GpuSpec& s) { return std::pair(version(s.compute_capability), s.name); };
            return key(a.spec) < key(b.spec);
        });
        return sheets;
    }();
    return all;
}

const GpuSheet& preset(std::string_view name) { return find_sheet(presets(), name, text::shown(name)); }

}  // namespace

GpuSheet load_sheet(const std::string& name_or_path) {
    if (name_or_path.starts_with('{'))
        return read_sheet(name_or_path, "{...}", presets(), Contradictions::refused, {std::filesystem::path()});
    return is_path(name_or_path) ? read_file_sheet(name_or_path, presets()) : preset(name_or_path);
}

std::vector<std::string> gpu_preset_names() { return names_of(presets()); }

GpuSpec gpu_preset(std::string_view name) { return preset(name).spec; }

GpuSpec load_gpu(const std::string& name_or_path) { return load_sheet(name_or_path).spec; }

GpuSpec parse_gpu(std::string_view json_text, std::string_view where) {
    return read_sheet(json_text, where, presets()).spec;
}

GpuSpec recorded_gpu(std::string_view json_text, std::string_view where) {
    return read_sheet(json_text, where, presets(), Contradictions::kept).spec;
}

bool is_changed_preset(const GpuSpec& spec) {
    const auto names = gpu_preset_names();
    return std::find(names.begin(), names.end(), spec.name) != names.end() &&
           !same_machine(spec, gpu_preset(spec.name));
}

}  // namespace tilescope::lab
