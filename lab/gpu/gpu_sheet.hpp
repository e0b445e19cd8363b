// A GPU with the origins of its numbers, as a file describes it: read, and found by its name.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lab/gpu/gpu_fields.hpp"
#include "lab/gpu/gpu_json.hpp"
#include "lab/gpu/gpu_presets.hpp"

namespace tilescope::lab {

inline constexpr const char* gpu_schema = "tilescope.gpu/1";
inline constexpr int most_bases = 8;
inline constexpr std::pair<const char*, std::string GpuSpec::*> gpu_texts[] = {
    {"name", &GpuSpec::name}, {"title", &GpuSpec::title}, {"compute_capability", &GpuSpec::compute_capability}};

/// A GPU together with the origins of its numbers, in the order of gpu_fields().
struct GpuSheet {
    GpuSpec spec;
    std::vector<GpuOrigin> origins = std::vector<GpuOrigin>(gpu_fields().size());
};

/// Numbers that contradict each other are an error in a user's file; a recording keeps those that it was made with.
enum class Contradictions : std::uint8_t { refused, kept };

/// The source, or "not given" where there is none.
std::string source_of(const GpuOrigin& origin);

/// Whether a file may be a base, besides the presets. The file's path is relative to `folder`.
struct BaseFiles {
    std::optional<std::filesystem::path> folder;  ///< nullopt: a base may not be a file
    int left = most_bases;                        ///< how many files may follow, each the base of the file before
};

/// Whether `name` is a path and not the name of a preset.
bool is_path(std::string_view name);
/// Reads one JSON text; `where` is how error messages call it. Throws the UsageError that names the key.
GpuSheet read_sheet(std::string_view text, std::string_view where, std::span<const GpuSheet> bases,
                    Contradictions contradictions = Contradictions::refused, BaseFiles files = {});
GpuSheet read_file_sheet(const std::string& path, std::span<const GpuSheet> presets, int bases_left = most_bases);
/// The GPU that an argument of `--gpu` names: a preset, or what a file or a JSON text describes.
GpuSheet load_sheet(const std::string& name_or_path);

std::vector<std::string> names_of(std::span<const GpuSheet> sheets);
/// The sheet of that name; throws BadValue where none or several are meant, with `asked` as the wrong value.
const GpuSheet& find_sheet(std::span<const GpuSheet> sheets, std::string_view name, const std::string& asked,
                           bool may_be_file = true);

}  // namespace tilescope::lab
