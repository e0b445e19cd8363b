#include "lab/gpu/gpu_json.hpp"

#include <nlohmann/json.hpp>
#include <utility>

#include "core/text/message.hpp"
#include "lab/gpu/gpu_sheet.hpp"

namespace tilescope::lab {
using text::message;
namespace {

bool is_mentioned(const GpuSpec& spec, const GpuField& f) { return !f.measured || value_of(spec, f.member); }

}  // namespace

std::string gpu_json(const GpuSpec& spec) {
    nlohmann::ordered_json out = {{"schema", gpu_schema}};
    for (const auto& [key, member] : gpu_texts) out[key] = spec.*member;
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
    const GpuSheet sheet = load_sheet(name_or_path);
    GpuOrigins origins;
    for (std::size_t i = 0; i < gpu_fields().size(); ++i) origins[gpu_fields()[i].key] = sheet.origins[i];
    return gpu_sheet_json(sheet.spec, origins);
}

std::vector<GpuNumber> gpu_numbers(std::string_view preset_or_path) {
    const GpuSheet sheet = load_sheet(std::string(preset_or_path));
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
