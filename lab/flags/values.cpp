#include "lab/flags/values.hpp"

#include <CLI/CLI.hpp>
#include <cmath>
#include <iterator>
#include <optional>

#include "algorithms/contract/choices.hpp"
#include "core/machine/dtypes.hpp"
#include "core/machine/error.hpp"
#include "core/text/message.hpp"
#include "core/text/numbers.hpp"
#include "core/text/words.hpp"
#include "lab/gpu/asked.hpp"

namespace tilescope::lab {
using text::message;
namespace {

constexpr Index largest_guess = Index{1} << 50;

/// Throws a message about the flag, its value and what to write instead: "--seq 1e3: must be a whole number; try --seq
/// 1000".
template <class... A>
[[noreturn]] void refuse_value(const char* id, const std::string& flag, const std::string& text, const std::string& fix,
                               const A&... more) {
    throw UsageError(message(id, flag, text::shown(text), fix, more...));
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

[[noreturn]] void refuse_range(const std::string& flag, const std::string& text, const Whole& allowed) {
    const std::string fix = std::to_string(allowed.fix), least = std::to_string(allowed.least);
    if (allowed.most == Whole().most) refuse_value("values.at_least", flag, text, fix, least);
    refuse_value("values.from_to", flag, text, fix, least, std::to_string(allowed.most));
}

}  // namespace

Index to_index(const std::string& flag, const std::string& text, const Whole& allowed) {
    Index value = 0;
    const std::errc error = text::to_whole(text, value);
    const bool beyond = error == std::errc::result_out_of_range;
    if (beyond && allowed.most == Whole().most) refuse_value("values.too_large", flag, text, "65536");
    if (error != std::errc() && !beyond) refuse_value("values.no_whole", flag, text, meant(text, allowed.fix));
    if (beyond || value < allowed.least || value > allowed.most) refuse_range(flag, text, allowed);
    return value;
}

std::uint64_t to_seed(const std::string& flag, const std::string& text) {
    std::uint64_t value = 0;
    if (text::to_whole(text, value) == std::errc()) return value;
    refuse_value("values.no_seed", flag, text, "1");
}

double to_real(const std::string& flag, const std::string& text, const char* fix) {
    if (const auto value = text::to_number(text)) return *value;
    refuse_value("values.no_number", flag, text, fix);
}

bool to_bool(const std::string& flag, const std::string& text) {
    if (text == "true" || text == "1" || text == "yes" || text == "on") return true;
    if (text == "false" || text == "0" || text == "no" || text == "off") return false;
    throw UsageError(message("values.no_bool", flag, text::shown(text)));
}

bool to_switch(const std::string& flag, const std::string& text) {
    if (text != "on" && text != "off") refuse_name(flag, text, {"on", "off"});
    return text == "on";
}

void refuse_name(const std::string& flag, const std::string& text, const std::vector<std::string>& names) {
    refuse_value("values.one_of", flag, text, text::nearest(text, names).value_or(names[0]), text::alternatives(names));
}

Distribution to_distribution(const std::string& text) {
    return to_named("--distribution", text, std::span<const Distribution>(distributions));
}

Dtype to_dtype(const std::string& text, const std::string& flag) {
    if (const auto t = dtype_from(text)) return *t;
    const bool of_all = flag == "--dtype", of_some = flag == "--q-dtype" || flag == "--kv-dtype";
    if (const std::string instead = of_all ? instead_of(Asked::dtype, text) : ""; !instead.empty())
        throw UsageError(message("values.other_dtype", flag, text::shown(text), instead));
    const std::string meant = of_some ? dtype_called(text) : "", usual = flag == "--kv-dtype" ? "e4m3" : "f16";
    refuse_value("values.no_dtype", flag, text, !meant.empty() ? meant : of_all || of_some ? usual : "f32");
}

std::optional<Dtype> to_bits16(const std::string& text) {
    if (text.empty()) return std::nullopt;
    if (text == name_of(Dtype::bf16)) return Dtype::bf16;
    throw UsageError(message("values.no_bits16", text::shown(text)));
}

Index to_tile(const std::string& flag, const std::string& text) {
    if (text == "auto") return 0;
    const Index value = to_index(flag, text);
    if (value < 1) refuse_value("values.no_tile", flag, text, "64");
    return value;
}

std::pair<std::string, std::vector<BiasTerm>> to_bias(const std::string& text) {
    if (text == "none") return {text, {}};
    if (const auto terms = Bias::terms_from(text)) return {text, *terms};
    throw UsageError(message("values.no_bias", text::shown(text)));
}

void to_scales(const std::string& text, Problem& p) {
    if (set_scales(p, text)) return;
    const std::vector<std::string> names(std::begin(scalings), std::end(scalings));
    refuse_value("values.no_scales", "--scales", text, text::nearest(text, names).value_or("64"),
                 text::alternatives(names));
}

void to_accumulator(const std::string& text, Problem& p) {
    if (set_accumulator(p, text)) return;
    const std::vector<std::string> names(std::begin(accumulators), std::end(accumulators));
    refuse_value("values.no_accumulator", "--accumulator", text, text::nearest(text, names).value_or("13"),
                 text::alternatives(names));
}

const char* name_of(DropoutMask mask) { return mask == DropoutMask::stored ? "stored" : "regenerated"; }

Splits to_splits(const std::string& flag, const std::string& text) {
    if (text == "auto") return {};
    for (const SplitRule rule : split_rules)
        if (text == name_of(rule)) return {0, rule};
    Index value = 0;
    const std::errc error = text::to_whole(text, value);
    if (error == std::errc() && value >= 1 && value <= most_splits) return {value};
    refuse_value("values.no_splits", flag, text, "8", std::to_string(most_splits));
}

Tiling to_knob(const std::string& flag, const std::string& text, const Knob& knob) {
    Tiling t;
    const std::optional<Index> value =
        knob.names.empty() ? to_index(flag, text, {1, knob.most, 2}) : knob.value_of(text);
    if (!value) refuse_name(flag, text, {knob.names.begin(), knob.names.end()});
    t.*knob.value = *value;
    return t;
}

CLI::Option* add_whole_option(CLI::App& app, const char* flag, const Whole& allowed, const std::string& help,
                              std::function<void(Index)> set) {
    const auto read = [name = std::string(flag), allowed, set = std::move(set)](const std::string& text) {
        set(to_index(name, text, allowed));
    };
    return app.add_option_function<std::string>(flag, read, help)->type_name("N");
}

}  // namespace tilescope::lab
