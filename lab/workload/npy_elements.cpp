#include "lab/workload/npy_elements.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "core/machine/conversions.hpp"
#include "core/text/message.hpp"
#include "core/text/words.hpp"
#include "lab/workload/followed.hpp"
#include "lab/workload/npy_header.hpp"

namespace tilescope::lab {
using text::message;
namespace {

/// The refusal of a type that is not read, with a fix. Commands in the fixes make a file that can be read.
NpyRefusal no_number(std::string_view descr, std::string_view type) {
    const std::string what = message("npy.other_type", text::shown(descr));
    if (type == "u2" || type == "i2") return {what, message("npy.bits_or_convert")};
    if (type == "V1" || type == "u1") return {what, message("npy.convert_fp8")};
    if (type == "i1") return {what, message("npy.say_i8")};
    if (type.starts_with('V')) return {what, message("npy.view")};
    if (type.starts_with('c')) return {what, message("npy.save_part")};
    if (type.starts_with('O')) return {what, message("npy.convert_objects")};
    return {what, message("npy.convert")};
}

bool is_whole(std::string_view type) {
    constexpr std::string_view sizes = "1248";
    return type.size() == 2 && (type[0] == 'i' || type[0] == 'u') && sizes.find(type[1]) != std::string_view::npos;
}

/// Converts whole numbers of a mask, in this machine's byte order. Refuses numbers other than 0 and 1, which might be
/// ids, bits or numbers to add.
void convert_mask(std::span<const char> from, std::size_t size, std::span<float> to) {
    std::vector<char> one(size, 0);
    one[std::endian::native == std::endian::little ? 0 : size - 1] = 1;
    for (std::size_t i = 0; i < to.size(); ++i) {
        const std::span<const char> element = from.subspan(i * size, size);
        const bool zero = std::all_of(element.begin(), element.end(), [](char c) { return c == 0; });
        if (!zero && !std::equal(element.begin(), element.end(), one.begin()))
            throw NpyRefusal{message("npy.no_mask"), message("npy.save_mask_or_numbers")};
        to[i] = zero ? 0.0f : 1.0f;
    }
}

/// Whole numbers are no bits of a type where all of them, read as such, are closer to 0 than this.
struct BitsLimit {
    Dtype dtype;
    float below;
    const char* shown;
};
constexpr BitsLimit bits_limits[] = {{Dtype::bf16, 0x1p-100f, "1e-30"},  // whole numbers below 3456
                                     {Dtype::e4m3, 0x1p-8f, "0.004"},    // the 0 and 1 of a mask
                                     {Dtype::e5m2, 0x1p-15f, "3.1e-05"}};

}  // namespace

StoredElement stored_element(std::string_view descr, std::optional<Dtype> bits, WholeNumbers whole) {
    // '=', '|' and no mark at all mean the byte order of the machine.
    const bool marked = !descr.empty() && std::string_view("<>=|").find(descr[0]) != std::string_view::npos;
    const char order = marked && (descr[0] == '<' || descr[0] == '>') ? descr[0] : npy_native_order;
    const std::string_view type = descr.substr(marked ? 1 : 0);
    const bool swapped = order != npy_native_order;
    const bool is_known_size = type.size() == 2 && type[1] >= '1' && type[1] <= '8';
    const auto size = static_cast<std::size_t>(is_known_size ? type[1] - '0' : 0);
    if (type == "i1" && bits && size_of(*bits) == 1 && *bits != Dtype::i8)
        throw NpyRefusal{message("npy.whole_or_bits", text::shown(descr), name_of(*bits)), message("npy.say_which")};
    if (bits && size == static_cast<std::size_t>(size_of(*bits)) && (type[0] == 'V' || is_whole(type)))
        return {Stored::number, size, swapped, *bits, type[0] != 'V'};
    constexpr std::pair<std::string_view, Dtype> numbers[] = {
        {"f2", Dtype::f16}, {"f4", Dtype::f32}, {"V2", Dtype::bf16}, {"f1", Dtype::e5m2}};
    for (const auto& [name, dtype] : numbers)
        if (type == name) return {Stored::number, size, swapped, dtype};
    if (type == "f8") return {Stored::f64, size, swapped};
    if (type == "b1") return {Stored::boolean, size, swapped};
    if (whole == WholeNumbers::mask && is_whole(type)) return {Stored::whole, size, swapped};
    throw no_number(descr, type);
}

void check_bits(std::string_view descr, Dtype dtype, std::span<const float> values, WholeNumbers whole) {
    const auto* const limit = std::find_if(std::begin(bits_limits), std::end(bits_limits),
                                           [&](const BitsLimit& l) { return l.dtype == dtype; });
    if (limit == std::end(bits_limits) ||
        std::any_of(values.begin(), values.end(), [&](float x) { return !(std::abs(x) < limit->below); }) ||
        std::all_of(values.begin(), values.end(), [](float x) { return x == 0; }))
        return;
    throw NpyRefusal{message("npy.small_bits", text::shown(descr), name_of(dtype), limit->shown),
                     message(whole == WholeNumbers::mask ? "npy.save_bits_mask_or_numbers" : "npy.save_bits_or_numbers",
                             std::to_string(size_of(dtype)))};
}

Index to_floats(std::span<char> from, StoredElement element, std::span<float> to) {
    if (element.swapped)
        for (std::size_t i = 0; i < from.size(); i += element.size) std::reverse(&from[i], &from[i] + element.size);
    if (element.type == Stored::boolean) {
        std::transform(from.begin(), from.end(), to.begin(), [](char c) { return c != 0 ? 1.0f : 0.0f; });
        return 0;
    }
    if (element.type == Stored::whole) {
        convert_mask(from, element.size, to);
        return 0;
    }
    if (element.type != Stored::f64) {
        decode(element.dtype, std::as_bytes(from).data(), to.data(), static_cast<Index>(to.size()));
        return 0;
    }
    Index overflowed = 0;
    for (std::size_t i = 0; i < to.size(); ++i) {
        double x = 0;
        std::memcpy(&x, &from[8 * i], sizeof x);
        to[i] = static_cast<float>(x);
        overflowed += std::isfinite(x) && !std::isfinite(to[i]);
    }
    return overflowed;
}

std::vector<float> read_elements(ArrayInput& file, StoredElement element, Index count, Index& overflowed,
                                 Control* control) {
    std::vector<float> values(static_cast<std::size_t>(count));
    std::vector<char> stored(static_cast<std::size_t>(std::min(count, elements_per_chunk)) * element.size);
    const Followed followed(control, ceil_div(count, elements_per_chunk));
    for (std::span<float> rest(values); !rest.empty();) {
        followed.step();
        const std::span<float> to = rest.first(std::min(rest.size(), static_cast<std::size_t>(elements_per_chunk)));
        const std::span<char> from = std::span(stored).first(to.size() * element.size);
        file.read(from);
        overflowed += to_floats(from, element, to);
        rest = rest.subspan(to.size());
    }
    return values;
}

}  // namespace tilescope::lab
