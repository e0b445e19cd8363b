// An object of a JSON file, read member by member. A member that is missing, of another type, out of range or not asked
// for is refused, and the error names its place. Only source files include this header, because it includes
// nlohmann-json.
#pragma once

#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/machine/units.hpp"

namespace tilescope {

using Json = nlohmann::ordered_json;

/// JSON has no infinities and no NaN: they are the strings "inf", "-inf", "nan" and "-nan".
Json json_number(float x);
Json json_numbers(const float* x, std::size_t n);

/// Whether `value` is a string of at most 400 bytes, all printable, so that it can be drawn and printed as it is.
bool is_text(const Json& value);

class JsonEntry {
  public:
    static constexpr Index most_index = Index{1} << 56;

    /// An entry of a file: the n-th of `list`, or with n < 0 `list` itself. The arguments must outlive this object.
    JsonEntry(const Json& json, const std::string& file, const char* list, Index n = -1);

    bool has(const char* key) const { return json_.contains(key); }
    const Json& at(const char* key);
    Index integer(const char* key, Index least = 0, Index most = most_index);
    /// `absent` where the member is missing.
    Index integer_or(Index absent, const char* key, Index least = 0, Index most = most_index);
    bool yes(const char* key);  ///< whether the member is there; its value must be true
    double number(const char* key);
    std::string text(const char* key);
    Span span(const char* key);
    /// Exactly n numbers.
    std::vector<float> floats(const char* key, std::size_t n);
    float number_or(float absent, const char* key);
    /// The value among `all` whose name is the member's text.
    template <class T>
    T named(const char* key, std::initializer_list<T> all, const char* (*name)(T));

    /// Refuses all members that were not asked for. Call it last.
    void finish() const;
    [[noreturn]] void refuse(const std::string& what) const;

  private:
    [[noreturn]] void refuse_name(const char* key, const std::string& value, const std::vector<std::string>& all) const;
    float to_float(const char* key, const Json& x) const;

    const Json& json_;
    const std::string& file_;
    const char* list_;
    Index n_;
    std::vector<std::string_view> asked_;
};

template <class T>
T JsonEntry::named(const char* key, std::initializer_list<T> all, const char* (*name)(T)) {
    const std::string value = text(key);
    std::vector<std::string> names;
    for (const T one : all) {
        if (value == name(one)) return one;
        names.emplace_back(name(one));
    }
    refuse_name(key, value, names);
}

}  // namespace tilescope
