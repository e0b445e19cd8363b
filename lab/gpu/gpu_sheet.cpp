#include "lab/gpu/gpu_sheet.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <variant>

#include "core/machine/error.hpp"
#include "core/text/message.hpp"
#include "core/text/words.hpp"
#include "lab/system/text_file.hpp"

namespace tilescope::lab {
using text::message;
namespace {

using json = nlohmann::ordered_json;

constexpr int max_nesting = 8;
constexpr std::size_t max_title = 100, max_source = 300;  // in bytes

bool is_whole(const GpuField& f) { return std::holds_alternative<Index GpuSpec::*>(f.member); }
bool may_be_unknown(const GpuField& f) { return std::holds_alternative<std::optional<double> GpuSpec::*>(f.member); }

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

/// A source, cut to the length that a file may have.
std::string fitted(std::string source) {
    if (source.size() <= max_source) return source;
    std::size_t end = max_source - 3;
    while (end > 0 && (static_cast<unsigned char>(source[end]) & 0xc0) == 0x80) --end;
    return source.substr(0, end) + "...";
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

/// Reads one JSON text; every function throws the UsageError that names the key.
class SheetReader {
  public:
    SheetReader(std::string_view where, const json& root, BaseFiles files = {})
        : where_(where), root_(root), files_(std::move(files)) {
        if (!root.is_object()) refuse(where, message("gpu_file.no_object", "{\"base\": \"A100-40GB\"}"));
        std::vector<std::string> known = {"schema", "base"};
        for (const auto& text : gpu_texts) known.emplace_back(text.first);
        for (const GpuField& field : gpu_fields()) known.emplace_back(field.key);
        check_keys(root, "", known);
        if (root.contains("schema") && root["schema"] != gpu_schema)
            fail("schema", message("gpu_file.schema", shown(root["schema"]), gpu_schema));
    }

    GpuSheet read(std::span<const GpuSheet> bases, Contradictions contradictions) {
        if (root_.contains("base")) start_from(bases);
        return read_rest(contradictions);
    }
    /// `base` with the numbers that the text gives.
    GpuSpec change(const GpuSpec& base) {
        if (root_.contains("base")) fail("base", message("gpu_file.no_base_here"));
        sheet_.spec = base_ = base, has_base_ = true;
        return read_rest(Contradictions::refused).spec;
    }

  private:
    GpuSheet read_rest(Contradictions contradictions) {
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

    void start_from(std::span<const GpuSheet> bases) {
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

    GpuSheet file_named(const std::string& name, std::span<const GpuSheet> presets) {
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
        for (const auto& [key, member] : gpu_texts) {
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
    GpuSheet sheet_;
    GpuSpec base_;
    bool has_base_ = false;
};

/// Destroying JSON needs memory. Shared JSON is destroyed by a function of its own, so that tests in which memory runs
/// out can tell it from TileScope's code.
std::shared_ptr<const json> json_of(std::string_view text, std::string_view where) {
    return std::make_shared<const json>(parse_bounded(text, where));
}

}  // namespace

std::string source_of(const GpuOrigin& origin) {
    return origin.source.empty() ? message("gpu_file.no_source") : origin.source;
}

bool is_path(std::string_view name) { return name.ends_with(".json") || name.find('/') != name.npos; }

GpuSheet read_sheet(std::string_view text, std::string_view where, std::span<const GpuSheet> bases,
                    Contradictions contradictions, BaseFiles files) {
    const auto root = json_of(text, where);
    return SheetReader(where, *root, std::move(files)).read(bases, contradictions);
}

GpuSheet read_file_sheet(const std::string& path, std::span<const GpuSheet> presets, int bases_left) {
    return read_sheet(read_file(path), path, presets, Contradictions::refused,
                      {std::filesystem::path(path).parent_path(), bases_left});
}

GpuSpec changed_gpu(const GpuSpec& gpu, std::string_view json_text) {
    const auto root = json_of(json_text, gpu.name);
    return SheetReader(gpu.name, *root).change(gpu);
}

}  // namespace tilescope::lab
