#include "lab/gpu/gpu_presets.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "core/machine/error.hpp"
#include "core/text/message.hpp"
#include "core/text/words.hpp"
#include "lab/gpu/asked.hpp"
#include "lab/gpu/gpu_fields.hpp"
#include "lab/gpu/gpu_names.hpp"
#include "lab/system/text_file.hpp"

namespace tilescope::lab {
using text::message;
namespace {

using json = nlohmann::ordered_json;

constexpr const char* schema = "tilescope.gpu/1";
constexpr int max_nesting = 8, most_bases = 8;
constexpr std::size_t max_title = 100, max_source = 300;  // in bytes

constexpr std::pair<const char*, std::string GpuSpec::*> texts[] = {
    {"name", &GpuSpec::name}, {"title", &GpuSpec::title}, {"compute_capability", &GpuSpec::compute_capability}};

bool is_whole(const GpuField& f) { return std::holds_alternative<Index GpuSpec::*>(f.member); }
bool may_be_unknown(const GpuField& f) { return std::holds_alternative<std::optional<double> GpuSpec::*>(f.member); }

bool is_mentioned(const GpuSpec& spec, const GpuField& f) { return !f.measured || value_of(spec, f.member); }

/// A GPU together with the origins of its numbers, in the order of gpu_fields().
struct Sheet {
    GpuSpec spec;
    std::vector<GpuOrigin> origins = std::vector<GpuOrigin>(gpu_fields().size());
};

/// Numbers that contradict each other are an error in a user's file; a recording keeps those that it was made with.
enum class Contradictions : std::uint8_t { refused, kept };

// ---- Words for messages

std::string shown(const json& value) { return text::shown(value.dump()); }

std::string allowed(const GpuField& f) {
    return message(is_whole(f)         ? "gpu_file.whole_number"
                   : may_be_unknown(f) ? "gpu_file.number_or_null"
                                       : "gpu_file.number",
                   number_text(f.least), number_text(f.most), f.unit);
}

[[noreturn]] void refuse(std::string_view where, const std::string& what) {
    throw BadValue("gpu", text::shown(where, 200), what);
}

/// The files that may be a base, besides the presets: by a path relative to a folder.
struct BaseFiles {
    std::optional<std::filesystem::path> folder;  ///< nullopt: a base may not be a file
    int left = most_bases;                        ///< how many more, each the base of the one before
};

bool is_path(std::string_view name) { return name.ends_with(".json") || name.find('/') != name.npos; }

std::string source_of(const GpuOrigin& origin) {
    return origin.source.empty() ? message("gpu_file.no_source") : origin.source;
}

/// A source, cut to the length that a file may have.
std::string fitted(std::string source) {
    if (source.size() <= max_source) return source;
    std::size_t end = max_source - 3;
    while (end > 0 && (static_cast<unsigned char>(source[end]) & 0xc0) == 0x80) --end;
    return source.substr(0, end) + "...";
}

// ---- From a name, or from a JSON text, to a sheet

std::vector<std::string> names_of(std::span<const Sheet> sheets) {
    std::vector<std::string> names;
    for (const auto& sheet : sheets) names.push_back(sheet.spec.name);
    return names;
}

/// The sheet that is meant; nullptr where none is, or several are.
const Sheet* sheet_meant(std::span<const Sheet> sheets, std::string_view name) {
    const auto meant = presets_meant(name, names_of(sheets));
    if (meant.size() != 1) return nullptr;
    return &*std::find_if(sheets.begin(), sheets.end(), [&](const Sheet& s) { return s.spec.name == meant[0]; });
}

/// What to do in place of naming a MIG slice of a preset.
std::string about_slice(const MigSlice& slice, std::span<const Sheet> sheets) {
    const Sheet* sheet = sheet_meant(sheets, slice.whole);
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
std::string instead_of_gpu(std::string_view name, std::span<const Sheet> sheets) {
    if (const auto slice = mig_slice(name)) return about_slice(*slice, sheets);
    const std::string with_brand = instead_of(Asked::gpu, name);  // a Tesla M4 is none of Apple's
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

/// `asked` is what an error message says is wrong.
const Sheet& find_sheet(std::span<const Sheet> sheets, std::string_view name, const std::string& asked,
                        bool may_be_file = true) {
    const auto names = names_of(sheets);
    if (const std::string instead = instead_of_gpu(name, sheets); !instead.empty())
        throw BadValue("gpu", asked, may_be_file ? or_a_file(instead) : instead);
    if (const Sheet* sheet = sheet_meant(sheets, name)) return *sheet;
    if (const auto meant = presets_meant(name, names); !meant.empty())
        throw BadValue("gpu", asked, message("presets.ambiguous", text::join(meant, ", ")));
    const std::string all = text::join(names, ", "), suggested = preset_suggested(name, names),
                      unknown = suggested.empty() ? message("presets.unknown", all)
                                                  : message("presets.unknown_but", all, suggested);
    throw BadValue("gpu", asked, may_be_file ? message("presets.or_path", unknown) : unknown);
}

/// Parses with the limits that nlohmann-json does not know: size, nesting, and no key twice.
json parse_bounded(std::string_view text, std::string_view where) {
    if (text.size() > most_text_bytes) refuse(where, message("gpu_file.too_large"));
    std::array<std::set<std::string>, max_nesting + 2> keys;  // of the objects that are open, by depth
    std::string field = message("gpu_file.file");
    const auto watch = [&](int depth, json::parse_event_t event, const json& parsed) {
        if (depth > max_nesting) refuse(where, message("gpu_file.too_deep"));
        const auto level = static_cast<std::size_t>(depth);
        if (event == json::parse_event_t::object_start) keys[level + 1].clear();
        if (event != json::parse_event_t::key) return true;
        const auto key = parsed.get<std::string>();
        if (level == 1) field = key;
        if (!keys[level].insert(key).second)
            refuse(where, message("gpu_file.twice", text::shown(level == 1 ? key : field + "." + key)));
        return true;
    };
    try {
        return json::parse(text, watch);
    } catch (const json::parse_error& error) {
        // The library's words name the place and the reason, and then quote the text, which may be anything.
        const std::string_view what = error.what();
        const auto begin = std::min(what.find("at line"), what.size()), end = what.find("; last read");
        refuse(where, message("gpu_file.not_json", text::shown(what.substr(begin, end - begin), 400)));
    } catch (const json::out_of_range&) {
        refuse(where, message("gpu_file.too_large_number", text::shown(field)));
    }
}

std::string read_file(const std::string& path) try { return read_text(path); } catch (const Unreadable& e) {
    refuse(path, message("gpu_file.unreadable", e.why));
}

Sheet read_file_sheet(const std::string& path, std::span<const Sheet> presets, int bases_left = most_bases);

/// Reads one JSON text; every function throws the UsageError that names the key.
class SheetReader {
  public:
    SheetReader(std::string_view where, const json& root, BaseFiles files = {})
        : where_(where), root_(root), files_(std::move(files)) {
        if (!root.is_object()) refuse(where, message("gpu_file.no_object", "{\"base\": \"A100-40GB\"}"));
        std::vector<std::string> known = {"schema", "base"};
        for (const auto& text : texts) known.emplace_back(text.first);
        for (const GpuField& field : gpu_fields()) known.emplace_back(field.key);
        check_keys(root, "", known);
        if (root.contains("schema") && root["schema"] != schema)
            fail("schema", message("gpu_file.schema", shown(root["schema"]), schema));
    }

    Sheet read(std::span<const Sheet> bases, Contradictions contradictions) {
        if (root_.contains("base")) start_from(bases);
        return read_rest(contradictions);
    }
    /// The numbers of the text; for all others, those of `base`.
    GpuSpec change(const GpuSpec& base) {
        if (root_.contains("base")) fail("base", message("gpu_file.no_base_here"));
        sheet_.spec = base_ = base, has_base_ = true;
        return read_rest(Contradictions::refused).spec;
    }

  private:
    Sheet read_rest(Contradictions contradictions) {
        std::vector<std::string> missing = read_texts();
        for (std::size_t i = 0; i < gpu_fields().size(); ++i) {
            const GpuField& field = gpu_fields()[i];
            if (root_.contains(field.key))
                read_number(field, sheet_.origins[i]);
            else if (!has_base_ && !may_be_unknown(field))
                missing.emplace_back(field.key);
        }
        if (has_base_) follow_changes();
        if (!missing.empty()) fail(text::join(missing, ", "), message("gpu_file.missing"));
        if (sheet_.spec.sram_per_block > sheet_.spec.sram_per_sm)
            fail("sram_per_block", message("gpu_file.sram_per_block", std::to_string(sheet_.spec.sram_per_sm)));
        if (const std::string what = contradiction_in(sheet_.spec);
            contradictions == Contradictions::refused && !what.empty())
            refuse(where_, what);
        return std::move(sheet_);
    }
    [[noreturn]] void fail(const std::string& key, const std::string& what) const {
        refuse(where_, message("gpu_file.of_key", key, what));
    }

    static std::string unknown_key(const std::string& key, const std::vector<std::string>& known) {
        const std::string meant = text::did_you_mean("", key, known);
        return meant.empty() ? message("gpu_file.unknown_key") : message("gpu_file.unknown_key_but", meant);
    }

    void check_keys(const json& object, const std::string& path, const std::vector<std::string>& known) const {
        for (const auto& [key, value] : object.items())
            if (std::find(known.begin(), known.end(), key) == known.end())
                fail(path + text::shown(key), unknown_key(key, known));
    }

    std::string text(const std::string& key, const json& value, std::size_t most) const {
        if (!value.is_string()) fail(key, message("gpu_file.not_text", shown(value)));
        const auto& string = value.get_ref<const std::string&>();
        if (string.empty() || string.size() > most)
            fail(key, message("gpu_file.text_size", std::to_string(string.size()), most));
        if (!text::printable(string)) fail(key, message("gpu_file.control_character", shown(value)));
        return string;
    }

    void start_from(std::span<const Sheet> bases) {
        const std::string name = text("base", root_["base"], max_title);
        sheet_ = files_.folder && is_path(name)
                     ? file_named(name, bases)
                     : find_sheet(bases, name, text::shown(where_, 200) + ": base: " + shown(root_["base"]),
                                  files_.folder.has_value());
        base_ = sheet_.spec, has_base_ = true;
        for (auto& origin : sheet_.origins)
            origin.source = fitted(message("gpu_file.source_of_base", sheet_.spec.name, source_of(origin)));
        sheet_.spec.name += " (changed)";
        sheet_.spec.title += " (changed)";
    }

    Sheet file_named(const std::string& name, std::span<const Sheet> presets) {
        if (files_.left == 0) fail("base", message("gpu_file.too_many_bases", shown(root_["base"]), most_bases));
        return read_file_sheet((*files_.folder / name).string(), presets, files_.left - 1);
    }

    void follow_changes() {
        scale_what_follows(sheet_.spec, base_, [&](std::string_view key) { return root_.contains(key); });
        for (std::size_t i = 0; i < gpu_fields().size(); ++i) {
            const GpuField& field = gpu_fields()[i];
            const auto now = value_of(sheet_.spec, field.member);
            if (root_.contains(field.key) || now == value_of(base_, field.member)) continue;
            const auto before = value_of(base_, field.member);
            sheet_.origins[i].source = fitted(
                message("gpu_file.scaled_source", before ? number_text(*before) : "null", sheet_.origins[i].source));
            if (!(*now >= field.least && *now <= field.most))
                fail(field.key, message("gpu_file.follows", number_text(*now), allowed(field)));
        }
    }

    /// Returns the keys that are missing. A GPU with a name needs no title, and one with a base needs neither.
    std::vector<std::string> read_texts() {
        std::vector<std::string> missing;
        for (const auto& [key, member] : texts) {
            const bool titled_by_name = member == &GpuSpec::title && root_.contains("name");
            if (root_.contains(key))
                sheet_.spec.*member = text(key, root_[key], max_title);
            else if (titled_by_name)
                sheet_.spec.title = sheet_.spec.name;
            else if (!has_base_)
                missing.emplace_back(key);
        }
        return missing;
    }

    /// Takes a number's {"value": ..., ...} apart; returns its value.
    const json* read_details(const GpuField& field, const json& details, GpuOrigin& origin) const {
        const std::string key = field.key;
        check_keys(details, key + ".", {"value", "unit", "source", "confirmed"});
        if (details.contains("unit") && details["unit"] != field.unit)
            fail(key + ".unit", message("gpu_file.unit", shown(details["unit"]), field.unit));
        if (details.contains("source")) origin.source = text(key + ".source", details["source"], max_source);
        if (details.contains("confirmed")) {
            if (!details["confirmed"].is_boolean()) fail(key + ".confirmed", message("gpu_file.true_or_false"));
            origin.confirmed = details["confirmed"].get<bool>();
        }
        if (!details.contains("value")) fail(key, message("gpu_file.no_value", allowed(field)));
        return &details["value"];
    }

    void read_number(const GpuField& field, GpuOrigin& origin) {
        const std::string key = field.key;
        const json* value = &root_[field.key];
        origin = {};
        if (value->is_object()) value = read_details(field, *value, origin);
        const double x = value->is_number() ? value->get<double>() : std::numeric_limits<double>::quiet_NaN();
        const bool unknown = value->is_null() && may_be_unknown(field);
        const bool valid = x >= field.least && x <= field.most && (!is_whole(field) || x == std::floor(x));
        if (!valid && !unknown) fail(key, message("gpu_file.not_allowed", shown(*value), allowed(field)));
        const auto store = [&](auto member) {
            using Number = std::decay_t<decltype(sheet_.spec.*member)>;
            sheet_.spec.*member = unknown ? Number() : Number(x);
        };
        std::visit(store, field.member);
    }

    std::string_view where_;
    const json& root_;
    BaseFiles files_;
    Sheet sheet_;
    GpuSpec base_;
    bool has_base_ = false;
};

/// Destroying JSON needs memory. Shared JSON is destroyed by a function of its own, so that tests in which memory runs
/// out can tell it from TileScope's code.
std::shared_ptr<const json> json_of(std::string_view text, std::string_view where) {
    return std::make_shared<const json>(parse_bounded(text, where));
}

Sheet read_sheet(std::string_view text, std::string_view where, std::span<const Sheet> bases,
                 Contradictions contradictions = Contradictions::refused, BaseFiles files = {}) {
    const auto root = json_of(text, where);
    return SheetReader(where, *root, std::move(files)).read(bases, contradictions);
}

Sheet read_file_sheet(const std::string& path, std::span<const Sheet> presets, int bases_left) {
    return read_sheet(read_file(path), path, presets, Contradictions::refused,
                      {std::filesystem::path(path).parent_path(), bases_left});
}

/// "8.0" as (8, 0); what is not a version sorts last.
std::pair<int, int> version(std::string_view text) {
    std::pair<int, int> v{std::numeric_limits<int>::max(), 0};
    const char* const end = text.data() + text.size();
    const auto major = std::from_chars(text.data(), end, v.first);
    if (major.ptr != end) std::from_chars(major.ptr + 1, end, v.second);
    return v;
}

/// The order is that of the compute capabilities, so that a file added to gpus/ needs no second entry anywhere.
const std::vector<Sheet>& presets() {
    static const std::vector<Sheet> all = [] {
        std::vector<Sheet> sheets;
        for (const auto& file : embedded_gpus()) sheets.push_back(read_sheet(file.text, file.name, {}));
        std::sort(sheets.begin(), sheets.end(), [](const Sheet& a, const Sheet& b) {
            const auto key = [](const GpuSpec& s) { return std::pair(version(s.compute_capability), s.name); };
            return key(a.spec) < key(b.spec);
        });
        return sheets;
    }();
    return all;
}

const Sheet& preset(std::string_view name) { return find_sheet(presets(), name, text::shown(name)); }

Sheet load_sheet(const std::string& name_or_path) {
    if (name_or_path.starts_with('{'))
        return read_sheet(name_or_path, "{...}", presets(), Contradictions::refused, {std::filesystem::path()});
    return is_path(name_or_path) ? read_file_sheet(name_or_path, presets()) : preset(name_or_path);
}

}  // namespace

std::vector<std::string> gpu_preset_names() { return names_of(presets()); }

GpuSpec gpu_preset(std::string_view name) { return preset(name).spec; }

GpuSpec load_gpu(const std::string& name_or_path) { return load_sheet(name_or_path).spec; }

GpuSpec parse_gpu(std::string_view json_text, std::string_view where) {
    return read_sheet(json_text, where, presets()).spec;
}

GpuSpec changed_gpu(const GpuSpec& gpu, std::string_view json_text) {
    const auto root = json_of(json_text, gpu.name);
    return SheetReader(gpu.name, *root).change(gpu);
}

GpuSpec recorded_gpu(std::string_view json_text, std::string_view where) {
    return read_sheet(json_text, where, presets(), Contradictions::kept).spec;
}

bool is_changed_preset(const GpuSpec& spec) {
    const auto names = gpu_preset_names();
    return std::find(names.begin(), names.end(), spec.name) != names.end() &&
           !same_machine(spec, gpu_preset(spec.name));
}

std::string gpu_json(const GpuSpec& spec) {
    nlohmann::ordered_json out = {{"schema", schema}};
    for (const auto& [key, member] : texts) out[key] = spec.*member;
    for (const GpuField& field : gpu_fields()) {
        if (!is_mentioned(spec, field)) continue;
        const auto x = value_of(spec, field.member);
        out[field.key] = x ? nlohmann::ordered_json::parse(number_text(*x)) : nullptr;
    }
    return out.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

std::string gpu_sheet_json(const GpuSpec& spec, const GpuOrigins& origins) {
    auto out = nlohmann::ordered_json::parse(gpu_json(spec));
    for (const GpuField& field : gpu_fields()) {
        if (!is_mentioned(spec, field)) continue;
        nlohmann::ordered_json number = {{"value", out[field.key]}, {"unit", field.unit}};
        if (const auto origin = origins.find(field.key); origin != origins.end()) {
            if (!origin->second.source.empty()) number["source"] = origin->second.source;
            if (!origin->second.confirmed) number["confirmed"] = false;
        }
        out[field.key] = std::move(number);
    }
    return out.dump(2) + "\n";
}

std::string gpu_sheet_json(const std::string& name_or_path) {
    const Sheet sheet = load_sheet(name_or_path);
    GpuOrigins origins;
    for (std::size_t i = 0; i < gpu_fields().size(); ++i) origins[gpu_fields()[i].key] = sheet.origins[i];
    return gpu_sheet_json(sheet.spec, origins);
}

std::vector<GpuNumber> gpu_numbers(std::string_view preset_or_path) {
    const Sheet sheet = load_sheet(std::string(preset_or_path));
    std::vector<GpuNumber> numbers;
    for (std::size_t i = 0; i < gpu_fields().size(); ++i) {
        const GpuField& field = gpu_fields()[i];
        if (!is_mentioned(sheet.spec, field)) continue;
        const auto x = value_of(sheet.spec, field.member);
        const GpuOrigin& origin = sheet.origins[i];
        numbers.push_back({field.key, field.unit, x ? number_text(*x) : message("gpu_file.unknown"), source_of(origin),
                           origin.confirmed});
    }
    return numbers;
}

}  // namespace tilescope::lab
