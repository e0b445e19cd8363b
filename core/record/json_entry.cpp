#include "core/record/json_entry.hpp"

#include <cmath>
#include <limits>

#include "core/machine/error.hpp"
#include "core/text/words.hpp"

namespace tilescope {

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
    if (!json.is_object()) refuse("must be an object, and is " + text::shown(json.dump()));
}

void JsonEntry::refuse(const std::string& what) const {
    const std::string place = n_ < 0 ? list_ : list_ + ("[" + std::to_string(n_) + "]");
    throw UsageError(text::shown(file_) + ": " + place + ": " + what);
}

const Json& JsonEntry::at(const char* key) {
    const auto found = json_.find(key);
    if (found == json_.end()) refuse(std::string("has no \"") + key + '"');
    asked_.emplace_back(key);
    return *found;
}

Index JsonEntry::integer(const char* key, Index least, Index most) {
    const Json& j = at(key);
    const bool too_large = j.is_number_unsigned() && j.get<std::uint64_t>() > static_cast<std::uint64_t>(most_index);
    if (j.is_number_integer() && !too_large && j.get<Index>() >= least && j.get<Index>() <= most) return j.get<Index>();
    const std::string allowed =
        most < least ? "there is none that it could be"
                     : "must be a whole number from " + std::to_string(least) + " to " + std::to_string(most);
    refuse(std::string(key) + ' ' + text::shown(j.dump()) + ": " + allowed);
}

Index JsonEntry::integer_or(Index absent, const char* key, Index least, Index most) {
    return has(key) ? integer(key, least, most) : absent;
}

bool JsonEntry::yes(const char* key) {
    if (!has(key)) return false;
    if (const Json& j = at(key); j != true) refuse(std::string(key) + ' ' + text::shown(j.dump()) + ": must be true");
    return true;
}

double JsonEntry::number(const char* key) {
    const Json& j = at(key);
    if (!j.is_number()) refuse(std::string(key) + ' ' + text::shown(j.dump()) + ": must be a number");
    return j.get<double>();
}

std::string JsonEntry::text(const char* key) {
    const Json& j = at(key);
    if (is_text(j)) return j.get<std::string>();
    refuse(std::string(key) + ' ' + text::shown(j.dump()) + ": must be a string of at most 400 printable bytes");
}

Span JsonEntry::span(const char* key) {
    const Json& j = at(key);
    const auto fits = [](const Json& x) {
        return x.is_number_unsigned() && x.get<std::uint64_t>() <= static_cast<std::uint64_t>(most_index);
    };
    if (!j.is_array() || j.size() != 2 || !fits(j[0]) || !fits(j[1]))
        refuse(std::string(key) + ' ' + text::shown(j.dump()) + ": must be [first, how many]");
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
    refuse(std::string(key) + ' ' + text::shown(j.dump()) +
           R"(: must be a number of 32 bits, or "inf", "-inf", "nan" or "-nan")");
}

float JsonEntry::number_or(float absent, const char* key) { return has(key) ? to_float(key, at(key)) : absent; }

std::vector<float> JsonEntry::floats(const char* key, std::size_t n) {
    const Json& j = at(key);
    if (!j.is_array() || j.size() != n)
        refuse(std::string(key) + ": must be " + std::to_string(n) + " numbers" +
               (j.is_array() ? ", and is " + std::to_string(j.size()) : ""));
    std::vector<float> out;
    out.reserve(n);
    for (const Json& x : j) out.push_back(to_float(key, x));
    return out;
}

void JsonEntry::finish() const {
    if (asked_.size() == json_.size()) return;
    for (const auto& [key, value] : json_.items())
        if (std::find(asked_.begin(), asked_.end(), key) == asked_.end())
            refuse(text::shown(key) + " means nothing here; take it out");
}

void JsonEntry::refuse_name(const char* key, const std::string& value, const std::vector<std::string>& all) const {
    refuse(std::string(key) + ' ' + text::shown(value) +
           text::did_you_mean(": unknown; ", value, all, ": must be " + text::alternatives(all)));
}

}  // namespace tilescope
