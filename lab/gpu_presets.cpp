#include "lab/gpu_presets.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <span>
#include <system_error>
#include <utility>
#include <variant>

#include "core/machine/error.hpp"
#include "core/text/words.hpp"

namespace tilescope::lab {
namespace {

using nlohmann::json;

constexpr const char* schema = "tilescope.gpu/1";
constexpr std::size_t max_file_bytes = std::size_t{1} << 20;
constexpr int max_nesting = 8;
constexpr std::size_t max_title = 100, max_source = 300;  // in bytes

// ---- The fields of GpuSpec. The type of the member says what a number may be: whole, any, or unknown too.

using Member = std::variant<Index GpuSpec::*, double GpuSpec::*, std::optional<double> GpuSpec::*>;

struct Field {
    const char* key;
    const char* unit;
    Member member;
    double least, most;  // so that products of a few of them still fit into 64 bits
};

constexpr double million = 1e6, billion = 1e9, two30 = 1 << 30, two50 = two30 * (1 << 20), tiny = 1e-6;

constexpr Field fields[] = {
    {"sms", "SMs", &GpuSpec::sms, 1, million},
    {"sram_per_sm", "B", &GpuSpec::sram_per_sm, 1, two30},
    {"sram_per_block", "B", &GpuSpec::sram_per_block, 1, two30},
    {"registers_per_sm", "B", &GpuSpec::registers_per_sm, 1, two30},
    {"l2_bytes", "B", &GpuSpec::l2_bytes, 1, two50},
    {"hbm_bytes", "B", &GpuSpec::hbm_bytes, 1, two50},
    {"max_warps_per_sm", "warps", &GpuSpec::max_warps_per_sm, 1, million},
    {"max_blocks_per_sm", "blocks", &GpuSpec::max_blocks_per_sm, 1, million},
    {"clock_mhz", "MHz", &GpuSpec::clock_mhz, tiny, million},
    {"tensor_clock_mhz", "MHz", &GpuSpec::tensor_clock_mhz, tiny, million},
    {"hbm_gbs", "GB/s", &GpuSpec::hbm_gbs, tiny, billion},
    {"fp32_tflops", "TFLOP/s", &GpuSpec::fp32_tflops, tiny, billion},
    {"tensor_tflops", "TFLOP/s", &GpuSpec::tensor_tflops, tiny, billion},
    {"tensor_flops_per_clk", "FLOP/clk/SM", &GpuSpec::tensor_flops_per_clk, tiny, billion},
    {"fp32_lanes", "FMA/clk/SM", &GpuSpec::fp32_lanes, tiny, million},
    {"exp_per_clk", "exp/clk/SM", &GpuSpec::exp_per_clk, tiny, million},
    {"sram_bytes_per_clk", "B/clk/SM", &GpuSpec::sram_bytes_per_clk, tiny, billion},
    {"l2_bytes_per_clk", "B/clk", &GpuSpec::l2_bytes_per_clk, tiny, billion},
};

constexpr std::pair<const char*, std::string GpuSpec::*> texts[] = {
    {"name", &GpuSpec::name}, {"title", &GpuSpec::title}, {"compute_capability", &GpuSpec::compute_capability}};

bool is_whole(const Field& f) { return std::holds_alternative<Index GpuSpec::*>(f.member); }
bool may_be_unknown(const Field& f) { return std::holds_alternative<std::optional<double> GpuSpec::*>(f.member); }

std::optional<double> value_of(const GpuSpec& spec, const Field& f) {
    return std::visit([&](auto member) { return std::optional<double>(spec.*member); }, f.member);
}

/// A GPU together with the sources of its numbers, in the order of `fields`.
struct Sheet {
    GpuSpec spec;
    std::array<std::string, std::size(fields)> sources;
};

// ---- Words for messages

bool is_control(std::string_view text, std::size_t i) {
    const auto c = static_cast<unsigned char>(text[i]);
    const bool c1 = c >= 0x80 && c < 0xa0 && i > 0 && static_cast<unsigned char>(text[i - 1]) == 0xc2;
    return c < 0x20 || c == 0x7f || c1;
}

/// What a user wrote, fit for one line: without control characters, and cut between characters after `most` bytes.
std::string shown(std::string_view text, std::size_t most = 60) {
    std::size_t size = std::min(text.size(), most);
    while (size > 0 && size < text.size() && (text[size] & 0xc0) == 0x80) --size;
    std::string line(text.substr(0, size));
    for (std::size_t i = 0; i < size; ++i)
        if (is_control(text, i)) line[i] = '?';
    return size < text.size() ? line + "..." : line;
}

std::string shown_json(const json& value) { return shown(value.dump(), 40); }

/// Whole numbers as such, all others as a short text that reads back to the same number.
std::string number_text(double x) {
    const bool whole = std::abs(x) < 1e16 && x == std::floor(x);
    return whole ? std::to_string(static_cast<Index>(x)) : json(x).dump();
}

std::string allowed(const Field& f) {
    return std::string(is_whole(f) ? "a whole number" : "a number") + " from " + number_text(f.least) + " to " +
           number_text(f.most) + " (" + f.unit + ")" + (may_be_unknown(f) ? ", or null if unknown" : "");
}

[[noreturn]] void refuse(std::string_view where, const std::string& what) {
    throw BadValue("gpu", shown(where, 200), what);
}

// ---- From a name, or from a JSON text, to a sheet

std::vector<std::string> names_of(std::span<const Sheet> sheets) {
    std::vector<std::string> names;
    for (const auto& sheet : sheets) names.push_back(sheet.spec.name);
    return names;
}

/// `asked` is what an error message says is wrong.
const Sheet& find_sheet(std::span<const Sheet> sheets, std::string_view name, const std::string& asked) {
    const std::string wanted = text::plain(name) == "a100" ? "a10040gb" : text::plain(name);
    const Sheet* match = nullptr;
    std::vector<std::string> matches;
    for (const auto& sheet : sheets) {
        const std::string candidate = text::plain(sheet.spec.name);
        if (candidate == wanted) return sheet;
        if (wanted.empty() || !candidate.starts_with(wanted)) continue;
        match = &sheet;
        matches.push_back(sheet.spec.name);
    }
    if (matches.size() == 1) return *match;
    if (match) throw BadValue("gpu", asked, "several GPUs begin like that: write one of " + text::join(matches, ", "));
    const auto names = names_of(sheets);
    throw BadValue("gpu", asked,
                   "unknown GPU, did you mean " + text::nearest(shown(name), names) + "? The presets are " +
                       text::join(names, ", ") + "; the path of a .json file works too");
}

/// Parses with the limits that nlohmann-json does not know: size, nesting, and no key twice.
json parse_bounded(std::string_view text, std::string_view where) {
    if (text.size() > max_file_bytes) refuse(where, "larger than 1 MiB: a GPU description is a few KiB of JSON");
    std::array<std::set<std::string>, max_nesting + 2> keys;  // of the objects that are open, by depth
    std::string field = "the file";
    const auto watch = [&](int depth, json::parse_event_t event, const json& parsed) {
        if (depth > max_nesting) refuse(where, "nested too deeply: write one object of numbers");
        const auto level = static_cast<std::size_t>(depth);
        if (event == json::parse_event_t::object_start) keys[level + 1].clear();
        if (event != json::parse_event_t::key) return true;
        const auto key = parsed.get<std::string>();
        if (level == 1) field = key;
        if (!keys[level].insert(key).second)
            refuse(where, shown(level == 1 ? key : field + "." + key) + ": written twice: keep one of the two");
        return true;
    };
    try {
        return json::parse(text, watch);
    } catch (const json::parse_error& error) {
        // The library's words name the place and the reason, and then quote the text, which may be anything.
        const std::string_view what = error.what();
        const auto begin = std::min(what.find("at line"), what.size()), end = what.find("; last read");
        refuse(where, "not valid JSON " + shown(what.substr(begin, end - begin), 200));
    } catch (const json::out_of_range&) {
        refuse(where, shown(field) + ": the number is too large for any field: write a smaller one");
    }
}

/// Reads one JSON text; every function throws the UsageError that names the key.
class SheetReader {
  public:
    SheetReader(std::string_view where, const json& root) : where_(where), root_(root) {
        if (!root.is_object()) refuse(where, "the file must hold one JSON object, such as {\"base\": \"A100-40GB\"}");
        std::vector<std::string> known = {"schema", "base"};
        for (const auto& text : texts) known.emplace_back(text.first);
        for (const auto& field : fields) known.emplace_back(field.key);
        check_keys(root, "", known);
        if (root.contains("schema") && root["schema"] != schema)
            fail("schema", shown_json(root["schema"]) + " is unknown: write \"" + schema + "\", or leave it out");
    }

    Sheet read(std::span<const Sheet> bases) {
        if (root_.contains("base")) start_from(bases);
        std::vector<std::string> missing = read_texts();
        for (std::size_t i = 0; i < std::size(fields); ++i) {
            if (root_.contains(fields[i].key))
                read_number(fields[i], sheet_.sources[i]);
            else if (!root_.contains("base") && !may_be_unknown(fields[i]))
                missing.emplace_back(fields[i].key);
        }
        if (!missing.empty())
            fail(text::join(missing, ", "),
                 "missing: write them, or take them from a preset with \"base\": \"A100-40GB\"");
        if (sheet_.spec.sram_per_block > sheet_.spec.sram_per_sm)
            fail("sram_per_block",
                 "more than sram_per_sm: write " + std::to_string(sheet_.spec.sram_per_sm) + " or less");
        return std::move(sheet_);
    }

  private:
    [[noreturn]] void fail(const std::string& key, const std::string& what) const { refuse(where_, key + ": " + what); }

    void check_keys(const json& object, const std::string& path, const std::vector<std::string>& known) const {
        for (const auto& [key, value] : object.items())
            if (std::find(known.begin(), known.end(), key) == known.end())
                fail(path + shown(key), "unknown key: did you mean " + text::nearest(shown(key), known) + "?");
    }

    std::string text(const std::string& key, const json& value, std::size_t most) const {
        if (!value.is_string()) fail(key, shown_json(value) + " is not a text: write it in \"quotes\"");
        const auto& string = value.get_ref<const std::string&>();
        if (string.empty() || string.size() > most)
            fail(key, std::to_string(string.size()) + " bytes of text: write 1 to " + std::to_string(most));
        for (std::size_t i = 0; i < string.size(); ++i)
            if (is_control(string, i)) fail(key, shown_json(value) + " has a control character: remove it");
        return string;
    }

    void start_from(std::span<const Sheet> bases) {
        const std::string name = text("base", root_["base"], max_title);
        sheet_ = find_sheet(bases, name, shown(where_, 200) + ": base: " + shown_json(root_["base"]));
        for (auto& source : sheet_.sources) source = "as " + sheet_.spec.name + ": " + source;
        sheet_.spec.name += " (changed)";
        sheet_.spec.title += " (changed)";
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
            else if (!root_.contains("base"))
                missing.emplace_back(key);
        }
        return missing;
    }

    void read_number(const Field& field, std::string& source) {
        const std::string key = field.key;
        const json* value = &root_[field.key];
        source.clear();
        if (value->is_object()) {
            check_keys(*value, key + ".", {"value", "source"});
            if (value->contains("source")) source = text(key + ".source", (*value)["source"], max_source);
            if (!value->contains("value")) fail(key, "has no \"value\": write " + allowed(field));
            value = &(*value)["value"];
        }
        const double x = value->is_number() ? value->get<double>() : std::numeric_limits<double>::quiet_NaN();
        const bool unknown = value->is_null() && may_be_unknown(field);
        const bool valid = x >= field.least && x <= field.most && (!is_whole(field) || x == std::floor(x));
        if (!valid && !unknown) fail(key, shown_json(*value) + " is not allowed: write " + allowed(field));
        const auto store = [&](auto member) {
            using Number = std::decay_t<decltype(sheet_.spec.*member)>;
            sheet_.spec.*member = unknown ? Number() : Number(x);
        };
        std::visit(store, field.member);
    }

    std::string_view where_;
    const json& root_;
    Sheet sheet_;
};

Sheet read_sheet(std::string_view text, std::string_view where, std::span<const Sheet> bases) {
    const json root = parse_bounded(text, where);
    return SheetReader(where, root).read(bases);
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

std::string read_file(const std::string& path) {
    std::error_code ignored;
    if (std::filesystem::is_directory(path, ignored)) refuse(path, "is a directory: write the path of a .json file");
    errno = 0;
    std::ifstream in(path, std::ios::binary);
    if (!in) refuse(path, "cannot be opened (" + std::generic_category().message(errno) + "): check the path");
    // One byte more than allowed is enough to know; a device such as /dev/zero has no end.
    std::string text(max_file_bytes + 1, '\0');
    in.read(text.data(), static_cast<std::streamsize>(text.size()));
    if (in.bad()) refuse(path, "cannot be read (" + std::generic_category().message(errno) + "): check the file");
    text.resize(static_cast<std::size_t>(in.gcount()));
    return text;
}

const Sheet& preset(std::string_view name) { return find_sheet(presets(), name, '"' + shown(name) + '"'); }

Sheet load_sheet(const std::string& name_or_path) {
    const bool is_path = name_or_path.ends_with(".json") || name_or_path.find('/') != std::string::npos;
    return is_path ? read_sheet(read_file(name_or_path), name_or_path, presets()) : preset(name_or_path);
}

}  // namespace

std::vector<std::string> gpu_preset_names() { return names_of(presets()); }

GpuSpec gpu_preset(std::string_view name) { return preset(name).spec; }

GpuSpec load_gpu(const std::string& name_or_path) { return load_sheet(name_or_path).spec; }

GpuSpec parse_gpu(std::string_view json_text, std::string_view where) {
    return read_sheet(json_text, where, presets()).spec;
}

std::string gpu_json(const GpuSpec& spec) {
    nlohmann::ordered_json out = {{"schema", schema}};
    for (const auto& [key, member] : texts) out[key] = spec.*member;
    for (const auto& field : fields) {
        const auto x = value_of(spec, field);
        out[field.key] = x ? nlohmann::ordered_json::parse(number_text(*x)) : nullptr;
    }
    return out.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

std::vector<GpuNumber> gpu_numbers(std::string_view preset_or_path) {
    const Sheet sheet = load_sheet(std::string(preset_or_path));
    std::vector<GpuNumber> numbers;
    for (std::size_t i = 0; i < std::size(fields); ++i) {
        const auto x = value_of(sheet.spec, fields[i]);
        const std::string source = sheet.sources[i].empty() ? "not given" : sheet.sources[i];
        numbers.push_back({fields[i].key, fields[i].unit, x ? number_text(*x) : "unknown", source});
    }
    return numbers;
}

}  // namespace tilescope::lab
