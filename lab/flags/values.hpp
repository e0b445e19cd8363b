// Reads the values of flags. A refusal names the flag, the value and what to write instead.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "algorithms/contract/bias.hpp"
#include "algorithms/contract/knobs.hpp"
#include "algorithms/contract/problem.hpp"
#include "core/machine/units.hpp"
#include "lab/workload/inputs.hpp"
#include "lab/workload/splits.hpp"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace tilescope::lab {

/// The range of a whole number, and a value that messages propose instead of a wrong one.
struct Whole {
    Index least = std::numeric_limits<Index>::min(), most = std::numeric_limits<Index>::max();
    Index fix = 64;
};

/// A whole number, or UsageError: "64", and "16k", "1M", "2G" for multiples of 1024, 1024^2 and 1024^3.
Index to_index(const std::string& flag, const std::string& text, const Whole& allowed = {});
std::uint64_t to_seed(const std::string& flag, const std::string& text);
/// A finite number, or UsageError that proposes `fix`.
double to_real(const std::string& flag, const std::string& text, const char* fix);
bool to_bool(const std::string& flag, const std::string& text);
/// "on" or "off".
bool to_switch(const std::string& flag, const std::string& text);
[[noreturn]] void refuse_name(const std::string& flag, const std::string& text, const std::vector<std::string>& names);
/// One of the values, by the name that name_of() gives it.
template <class T>
T to_named(const std::string& flag, const std::string& text, std::span<const T> values) {
    std::vector<std::string> names;
    for (const T value : values) {
        if (text == name_of(value)) return value;
        names.emplace_back(name_of(value));
    }
    refuse_name(flag, text, names);
}
Distribution to_distribution(const std::string& text);
Dtype to_dtype(const std::string& text, const std::string& flag = "--dtype");
/// What u2 and i2 of NumPy files mean: bf16, or unknown where the text is empty.
std::optional<Dtype> to_bits16(const std::string& text);
/// A tile's size; 0 stands for auto.
Index to_tile(const std::string& flag, const std::string& text);
/// Reads a bias, written as its axes, or "none". Returns the text, and the terms of the bias.
std::pair<std::string, std::vector<BiasTerm>> to_bias(const std::string& text);
/// Reads which values share a scale into the problem.
void to_scales(const std::string& text, Problem& problem);
void to_accumulator(const std::string& text, Problem& problem);
/// Whether the mask of dropout is drawn again where it is needed, or stored in HBM.
enum class DropoutMask : std::uint8_t { regenerated, stored };
inline constexpr DropoutMask dropout_masks[] = {DropoutMask::regenerated, DropoutMask::stored};
const char* name_of(DropoutMask mask);
/// A number of parts; where it is 0, `rule` chooses the number.
struct Splits {
    Index number = 0;
    SplitRule rule = SplitRule::fa2;
};
Splits to_splits(const std::string& flag, const std::string& text);
/// A tiling with a value of the knob: one of its names, or a number.
Tiling to_knob(const std::string& flag, const std::string& text, const Knob& knob);

/// Adds a flag whose value to_index() reads.
CLI::Option* add_whole_option(CLI::App& app, const char* flag, const Whole& allowed, const std::string& help,
                              std::function<void(Index)> set);

}  // namespace tilescope::lab
