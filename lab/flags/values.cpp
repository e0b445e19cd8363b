#include "lab/flags/values.hpp"

#include <CLI/CLI.hpp>
#include <cmath>

#include "core/machine/error.hpp"
#include "core/text/numbers.hpp"
#include "core/text/words.hpp"
#include "lab/gpu/asked.hpp"

namespace tilescope::lab {
namespace {

constexpr Index largest_guess = Index{1} << 50;

/// Throws "--seq 1e3: must be a whole number; try --seq 1000".
[[noreturn]] void refuse(const std::string& flag, const std::string& text, const std::string& what,
                         const std::string& fix) {
    throw UsageError(flag + ' ' + text::shown(text) + ": " + what + "; try " + flag + ' ' + fix);
}

/// The whole number that was probably meant: 1000 for "1e3" and "1,000", 16k for "16kB", 1536 for "1.5k"; `fix` where
/// there is none.
std::string meant(std::string text, Index fix) {
    if (text.size() > 40) return std::to_string(fix);
    std::erase_if(text, [](char c) { return c == ',' || c == '_' || c == ' ' || c == '\''; });
    std::size_t size = text.size();
    while (size > 0 && !text::to_number(std::string_view(text).substr(0, size))) --size;
    const double number = text::to_number(std::string_view(text).substr(0, size)).value_or(-1);
    const auto unit = std::string_view("kmg").find(size < text.size() ? static_cast<char>(text[size] | 0x20) : ' ');
    const double factor = unit < 3 ? std::ldexp(1, 10 * (static_cast<int>(unit) + 1)) : 1;
    if (!(number * factor >= 1 && number * factor <= static_cast<double>(largest_guess))) return std::to_string(fix);
    if (unit < 3 && number == std::floor(number)) return std::to_string(std::llround(number)) + "kMG"[unit];
    return std::to_string(std::llround(number * factor));
}

std::string range_of(const Whole& allowed) {
    const std::string least = std::to_string(allowed.least);
    const bool open = allowed.most == Whole().most;
    return open ? "must be at least " + least : "must be from " + least + " to " + std::to_string(allowed.most);
}

}  // namespace

Index to_index(const std::string& flag, const std::string& text, const Whole& allowed) {
    Index value = 0;
    const std::errc error = text::to_whole(text, value);
    const std::string fix = std::to_string(allowed.fix);
    if (error == std::errc::result_out_of_range) {
        const bool bounded = allowed.most != Whole().most;
        refuse(flag, text, bounded ? range_of(allowed) : "is too large", bounded ? fix : "65536");
    }
    if (error != std::errc()) refuse(flag, text, "must be a whole number", meant(text, allowed.fix));
    if (value < allowed.least || value > allowed.most) refuse(flag, text, range_of(allowed), fix);
    return value;
}

std::uint64_t to_seed(const std::string& flag, const std::string& text) {
    std::uint64_t value = 0;
    if (text::to_whole(text, value) == std::errc()) return value;
    refuse(flag, text, "must be a whole number from 0 to 2^64 - 1", "1");
}

double to_real(const std::string& flag, const std::string& text, const char* fix) {
    if (const auto value = text::to_number(text)) return *value;
    refuse(flag, text, "must be a finite number", fix);
}

bool to_bool(const std::string& flag, const std::string& text) {
    if (text == "true" || text == "1" || text == "yes" || text == "on") return true;
    if (text == "false" || text == "0" || text == "no" || text == "off") return false;
    throw UsageError(flag + ' ' + text::shown(text) + ": must be true or false; try " + flag + "=true");
}

bool to_switch(const std::string& flag, const std::string& text) {
    if (text != "on" && text != "off") refuse_name(flag, text, {"on", "off"});
    return text == "on";
}

void refuse_name(const std::string& flag, const std::string& text, const std::vector<std::string>& names) {
    refuse(flag, text, "must be " + text::alternatives(names), text::nearest(text, names).value_or(names[0]));
}

Distribution to_distribution(const std::string& text) {
    return to_named("--distribution", text, std::span<const Distribution>(distributions));
}

Dtype to_dtype(const std::string& text, const std::string& flag) {
    if (const auto t = dtype_from(text)) return *t;
    const std::string instead = flag == "--dtype" ? instead_of(Asked::dtype, text) : "";
    throw UsageError(flag + ' ' + text::shown(text) + ": must be f32, f16 or bf16; " +
                     (instead.empty() ? "try " + flag + (flag == "--dtype" ? " f16" : " f32") : instead));
}

Bits16 to_bits16(const std::string& text) {
    if (text.empty()) return Bits16::unknown;
    if (text == name_of(Dtype::bf16)) return Bits16::bf16;
    throw UsageError("--bits16 " + text::shown(text) + ": must be bf16, or left out; try --bits16 bf16");
}

Index to_tile(const std::string& flag, const std::string& text) {
    if (text == "auto") return 0;
    const Index value = to_index(flag, text);
    if (value < 1) refuse(flag, text, "must be at least 1, or auto", "64");
    return value;
}

std::pair<std::string, std::vector<BiasTerm>> to_bias(const std::string& text) {
    if (text == "none") return {text, {}};
    if (const auto terms = Bias::terms_from(text)) return {text, *terms};
    refuse("--bias", text,
           "must be axes out of b or g, h, q, and k last, in this order, of one bias or of two with a +", "hqk");
}

const char* name_of(DropoutMask mask) { return mask == DropoutMask::stored ? "stored" : "regenerated"; }

Splits to_splits(const std::string& flag, const std::string& text) {
    if (text == "auto") return {};
    for (const SplitRule rule : split_rules)
        if (text == name_of(rule)) return {0, rule};
    Index value = 0;
    const std::errc error = text::to_whole(text, value);
    if (error == std::errc() && value >= 1 && value <= most_splits) return {value};
    refuse(flag, text, "must be from 1 to " + std::to_string(most_splits) + ", or auto, fa2 or fa3", "8");
}

CLI::Option* add_whole_option(CLI::App& app, const char* flag, const Whole& allowed, const char* help,
                              std::function<void(Index)> set) {
    const auto read = [name = std::string(flag), allowed, set = std::move(set)](const std::string& text) {
        set(to_index(name, text, allowed));
    };
    return app.add_option_function<std::string>(flag, read, help)->type_name("N");
}

}  // namespace tilescope::lab
