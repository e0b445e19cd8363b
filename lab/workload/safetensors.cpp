#include "lab/workload/safetensors.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "core/machine/error.hpp"
#include "core/text/message.hpp"
#include "core/text/words.hpp"
#include "lab/system/memory.hpp"
#include "lab/workload/npy_elements.hpp"
#include "lab/workload/npy_header.hpp"

namespace tilescope::lab {
using text::message;
namespace {

using Entries = nlohmann::ordered_json;

constexpr std::string_view safetensors_ending = ".safetensors";
constexpr Bytes longest_header = 100'000'000;  // the format's own limit

/// What is wrong with a header: nothing that a user can mend in it.
[[noreturn]] void refuse_header(std::string what) {
    throw ArrayRefusal{std::move(what), message("safetensors.save_again")};
}

Entries read_entries(ArrayInput& file) {
    constexpr Bytes length_bytes = 8;
    if (file.left() < length_bytes) refuse_header(message("safetensors.none"));
    const Bytes length = little_endian(file.read(length_bytes));
    if (length < 2 || length > longest_header || length > file.left()) refuse_header(message("safetensors.none"));
    Entries all = Entries::parse(file.read(length), nullptr, false);
    if (!all.is_object()) refuse_header(message("safetensors.no_header"));
    all.erase("__metadata__");
    return all;
}

std::string in_capitals(std::string_view word) {
    std::string capitals(word);
    for (char& c : capitals)
        if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    return capitals;
}

/// The name of the tensor that is meant: `asked`, or without that `usual` or the only one.
std::string chosen(const Entries& entries, const std::string& asked, std::string_view usual) {
    std::vector<std::string> names;
    for (const auto& entry : entries.items()) names.push_back(entry.key());
    if (names.empty()) refuse_header(message("safetensors.no_tensors"));
    std::vector<std::string> wanted = {asked};
    if (asked.empty()) wanted = {std::string(usual), in_capitals(usual)};
    for (const std::string& name : wanted)
        if (entries.contains(name)) return name;
    if (asked.empty() && names.size() == 1) return names.front();
    constexpr std::size_t shown = 6;
    const std::string likely = text::nearest(wanted.front(), names).value_or(names.front());
    const std::size_t more = names.size() - std::min(names.size(), shown);
    names.resize(names.size() - more);
    for (std::string& name : names) name = text::shown(name);
    std::string list = text::listed(names);
    if (more > 0) list = message("safetensors.and_more", text::join(names, ", "), more);
    throw ArrayRefusal{asked.empty() ? message("safetensors.several", std::string(usual), list)
                                     : message("safetensors.no_such", text::shown(asked), list),
                       message("safetensors.name_tensor", text::shown(likely))};
}

struct Placed {
    std::string type;
    std::vector<Index> shape;
    Bytes begin = 0, end = 0;
};

Placed placed(const Entries& entry, const std::string& name) {
    const auto whole = [](const Entries& n) { return n.is_number_unsigned() && n.get<std::uint64_t>() >> 62 == 0; };
    const auto has_all = [&](const char* key, std::size_t most) {
        return entry.contains(key) && entry[key].is_array() && entry[key].size() <= most &&
               std::all_of(entry[key].begin(), entry[key].end(), whole);
    };
    if (!entry.is_object() || !entry.contains("dtype") || !entry["dtype"].is_string() ||
        !has_all("shape", npy_max_rank) || !has_all("data_offsets", 2) || entry["data_offsets"].size() != 2)
        refuse_header(message("safetensors.no_entry", text::shown(name)));
    const auto begin = entry["data_offsets"][0].get<Bytes>(), end = entry["data_offsets"][1].get<Bytes>();
    if (begin > end) refuse_header(message("safetensors.no_entry", text::shown(name)));
    return {entry["dtype"].get<std::string>(), entry["shape"].get<std::vector<Index>>(), begin, end};
}

StoredElement element_of_type(const std::string& type, WholeNumbers whole) {
    constexpr bool swapped = std::endian::native != std::endian::little;
    constexpr std::pair<std::string_view, StoredElement> all[] = {
        {"F32", {Stored::number, 4, swapped, Dtype::f32}},
        {"F16", {Stored::number, 2, swapped, Dtype::f16}},
        {"BF16", {Stored::number, 2, swapped, Dtype::bf16}},
        {"F8_E4M3", {Stored::number, 1, false, Dtype::e4m3}},
        {"F8_E5M2", {Stored::number, 1, false, Dtype::e5m2}},
        {"F64", {Stored::f64, 8, swapped}},
        {"BOOL", {Stored::boolean, 1, false}},
        {"I8", {Stored::number, 1, false, Dtype::i8}},
    };
    constexpr std::pair<std::string_view, std::size_t> whole_numbers[] = {
        {"I8", 1}, {"U8", 1}, {"I16", 2}, {"U16", 2}, {"I32", 4}, {"U32", 4}, {"I64", 8}, {"U64", 8}};
    if (whole == WholeNumbers::mask)
        for (const auto& [name, size] : whole_numbers)
            if (type == name) return {Stored::whole, size, swapped};
    for (const auto& [name, element] : all)
        if (type == name) return element;
    throw ArrayRefusal{message("safetensors.other_type", text::shown(type)), message("safetensors.convert")};
}

}  // namespace

bool is_safetensors(std::string_view path) {
    return path.ends_with(safetensors_ending) ||
           path.find(std::string(safetensors_ending) + ':') != std::string_view::npos;
}

FileArray read_safetensors(const std::string& path, std::string_view usual, Control* control, WholeNumbers whole) {
    const std::size_t colon = path.find(std::string(safetensors_ending) + ':');
    const std::string file_name = colon == std::string::npos ? path : path.substr(0, colon + safetensors_ending.size());
    const std::string asked = colon == std::string::npos ? "" : path.substr(file_name.size() + 1);
    try {
        ArrayInput file(file_name);
        const Entries entries = read_entries(file);
        const std::string name = chosen(entries, asked, usual);
        Placed at = placed(entries[name], name);
        const StoredElement element = element_of_type(at.type, whole);
        const Index count = element_count(at.shape);
        if (count < 0 || at.end - at.begin != count * static_cast<Bytes>(element.size))
            refuse_header(message("safetensors.other_size", text::shown(name), shape_text(at.shape), at.type,
                                  std::to_string(at.end - at.begin)));
        if (at.end > file.left())
            throw ArrayRefusal{
                message("safetensors.ends_before", text::shown(name), std::to_string(at.end - file.left())),
                message("npy.copy_again")};
        file.skip(at.begin);
        check_memory(count * size_of(Dtype::f32), "npy.too_large", text::shown(path));
        Index overflowed = 0;
        std::vector<float> values = read_elements(file, element, count, overflowed, control);
        const bool mask = element.type == Stored::boolean || element.type == Stored::whole;
        return {std::move(at.shape), std::move(at.type), std::move(values), element.dtype, mask, overflowed};
    } catch (const ArrayRefusal& refusal) {
        throw UsageError(message("npy.cannot_read", text::shown(path), refusal.what, refusal.fix));
    }
}

}  // namespace tilescope::lab
