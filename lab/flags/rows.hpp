// Makes rows of the table of flags: how a value is read, and how the member of Options is written as text.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "algorithms/contract/validate.hpp"
#include "core/text/numbers.hpp"
#include "lab/flags/in_flags.hpp"
#include "lab/flags/table.hpp"
#include "lab/flags/values.hpp"

namespace tilescope::lab {

inline std::string text_of(Index n) { return std::to_string(n); }
inline std::string text_of(std::uint64_t n) { return std::to_string(n); }
inline std::string text_of(const std::string& s) { return s; }
inline std::string text_of(bool b) { return b ? "true" : "false"; }
inline std::string text_of(double x) { return text::exact(x); }
template <class T>
inline std::string text_of(const std::optional<T>& value) {
    return value ? text_of(*value) : "";
}

// Readers turn (flag, value) into what the member of Options holds.

inline Index as_size(const std::string& flag, const std::string& v) {
    const Index value = to_index(flag, v);
    in_flags([&] { check_size(flag.c_str() + 2, value); });
    return value;
}
inline Index as_reach(const std::string& flag, const std::string& v) {
    return to_index(flag, v, {0, Index{1} << 40, 256});
}
inline std::string as_tile(const std::string& flag, const std::string& v) {
    const Index rows = to_tile(flag, v);
    return rows > 0 ? std::to_string(rows) : v;
}
inline std::string as_words(const std::string& /*flag*/, const std::string& v) { return v; }
inline auto as_whole(Index least, Index most, Index example) {
    return [=](const std::string& flag, const std::string& v) { return to_index(flag, v, {least, most, example}); };
}
inline auto as_number(const char* example) {
    return [=](const std::string& flag, const std::string& v) { return to_real(flag, v, example); };
}
template <class T, std::size_t N>
auto as_one_of(const T (&values)[N]) {
    return [all = std::span<const T>(values)](const std::string& flag, const std::string& v) {
        return std::string(name_of(to_named(flag, v, all)));
    };
}

/// Options without any flag.
inline const Options no_flags;

class Rows {
  public:
    std::vector<Flag> rows;

    /// Adds a row and returns a reference to it, which is valid until the next row is added.
    template <class T, class F>
    Flag& add(const char* name, FlagOf of, const char* help, const char* type, const char* fallback, T Options::*member,
              F read) {
        return rows.emplace_back(
            Flag{name, of, help, type, fallback,
                 [=, flag = std::string("--") + name](Options& o, const std::string& v) { o.*member = read(flag, v); },
                 [=](Options& o) { o.*member = no_flags.*member; },
                 [=](const Options& o) { return o.*member == no_flags.*member ? std::string() : text_of(o.*member); }});
    }

    /// Adds the row of a size. `ask` puts the flag's value into the problem, `write` the problem's size into the flag.
    void add_size(const char* name, FlagOf of, const char* help, const char* fallback,
                  std::optional<Index> Options::*size, void (*ask)(const Options&, Problem&),
                  void (*write)(const Problem&, Options&)) {
        Flag& flag = add(name, of, help, "N", fallback, size, as_size);
        flag.is_size = true, flag.ask = ask, flag.write = write;
    }
};

/// The rows of the workload, in the order of help.
void add_workload(Rows& rows);

}  // namespace tilescope::lab
