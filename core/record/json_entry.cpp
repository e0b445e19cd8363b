#include "core/record/json_entry.hpp"

#include <cmath>
#include <limits>

#include "core/machine/error.hpp"
#include "core/text/message.hpp"
#include "core/text/words.hpp"

namespace tilescope {
using text::message;

Json json_number(float x) {
    if (std::isfinite(x)) return x;
    const char* positive = std::isnan(x) ? "nan" : "inf";
    return std::signbit(x) ? '-' + std::string(positive) : positive;
}

Json json_numbers(const float* x, std::size_t n) {
    Json j = Json::array();
    for (std::size_t k = 0; k < n; ++k) j.push_back(json_number(x[k]));
    return j;
}

bool is_text(const Json& value) {
    const auto* s = value.get_ptr<const Json::string_t*>();
    return s && s->size() <= 400 && text::printable(*s);
}

JsonEntry::JsonEntry(const Json& json, const std::string& file, const char* list, Index n)
    : json_(json), file_(file), list_(list), n_(n) {
    if (!json.is_object()) refuse(message("json_entry.no_object", text::shown(json.dump())));
}

void JsonEntry::refuse(const std::string& what) const {
    const std::string place = n_ < 0 ? list_ : list_ + ("[" + std::to_string(n_) + "]");
    throw UsageError(message("json_entry.refused", text::shown(file_), place, what));
}

const Json& JsonEntry::at(const char* key) {
    const auto found = json_.find(key);
    if (found == json_.end()) refuse(message("json_entry.lacks", key));
    asked_.emplace_back(key);
    return *found;
}

Index JsonEntry::integer(const char* key, Index least, Index most) {
    const Json& j = at(key);
    const bool too_large = j.is_number_unsigned() && j.get<std::uint64_t>() > static_cast<std::uint64_t>(most_index);
    if (j.is_number_integer() && !too_large && j.get<Index>() >= least && j.get<Index>() <= most) return j.get<Index>();
    if (most < least) refuse(message("json_entry.none_possible", key, text::shown(j.dump())));
    refuse(
        message("json_entry.no_whole_number", key, text::shown(j.dump()), std::to_string(least), std::to_string(most)));
}

Index JsonEntry::integer_or(Index absent, const char* key, Index least, Index most) {
    return has(key) ? integer(key, least, most) : absent;
}

bool JsonEntry::yes(const char* key) {
    if (!has(key)) return false;
    if (const Json& j = at(key); j != true) refuse(message("json_entry.not_true", key, text::shown(j.dump())));
    return true;
}

double JsonEntry::number(const char* key) {
    const Json& j = at(key);
    if (!j.is_number()) refuse(message("json_entry.no_number", key, text::shown(j.dump())));
    return j.get<double>();
}

std::string JsonEntry::text(const char* key) {
    const Json& j = at(key);
    if (is_text(j)) return j.get<std::string>();
    refuse(message("json_entry.no_text", key, text::shown(j.dump())));
}

Span JsonEntry::span(const char* key) {
    const Json& j = at(key);
    const auto fits = [](const Json& x) {
        return x.is_number_unsigned() && x.get<std::uint64_t>() <= static_cast<std::uint64_t>(most_index);
    };
    if (!j.is_array() || j.size() != 2 || !fits(j[0]) || !fits(j[1]))
        refuse(message("json_entry.no_span", key, text::shown(j.dump())));
    return {j[0].get<Index>(), j[1].get<Index>()};
}

float JsonEntry::to_float(const char* key, const Json& j) const {
    constexpr float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
    constexpr std::pair<const char*, float> words[] = {{"inf", inf}, {"-inf", -inf}, {"nan", nan}};
    if (j.is_number()) {
        // Recordings hold values of f32 only, so a number that f32 cannot hold exactly is refused.
        const auto x = j.get<double>();
        if (std::abs(x) <= static_cast<double>(std::numeric_limits<float>::max()) &&
            static_cast<double>(static_cast<float>(x)) == x)
            return static_cast<float>(x);
    } else if (j.is_string()) {
        // Compares strings, because the library's comparison converts `word` to JSON in a function that cannot throw.
        const auto& said = j.get_ref<const std::string&>();
        if (said == "-nan") return std::copysign(nan, -1.0f);
        for (const auto& [word, x] : words)
            if (said == word) return x;
    }
    refuse(message("json_entry.no_float", key, text::shown(j.dump())));
}

float JsonEntry::number_or(float absent, const char* key) { return has(key) ? to_float(key, at(key)) : absent; }

std::vector<float> JsonEntry::floats(const char* key, std::size_t n) {
    const Json& j = at(key);
    if (!j.is_array()) refuse(message("json_entry.no_numbers", key, std::to_string(n)));
    if (j.size() != n)
        refuse(message("json_entry.other_count_of_numbers", key, std::to_string(n), std::to_string(j.size())));
    std::vector<float> out;
    out.reserve(n);
    for (const Json& x : j) out.push_back(to_float(key, x));
    return out;
}

void JsonEntry::finish() const {
    if (asked_.size() == json_.size()) return;
    for (const auto& [key, value] : json_.items())
        if (std::find(asked_.begin(), asked_.end(), key) == asked_.end())
            refuse(message("json_entry.means_nothing", text::shown(key)));
}

void JsonEntry::refuse_name(const char* key, const std::string& value, const std::vector<std::string>& all) const {
    const auto near = text::nearest(value, all);
    refuse(near ? message("json_entry.unknown_but_near", key, text::shown(value), *near)
                : message("json_entry.unknown", key, text::shown(value), text::alternatives(all)));
}

}  // namespace tilescope
