// Rows of a table: an algorithm, and the flags that only this row has.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "algorithms/contract/algorithm.hpp"
#include "lab/flags/options.hpp"

namespace tilescope::lab {

/// Flags by name, without dashes, and their values.
using Settings = std::vector<std::pair<std::string, std::string>>;

/// The options with these flags set, too. UsageError for a key that cannot be set or is given twice, and for a value
/// that its flag refuses.
Options with(Options options, const Settings& settings);

struct Variant {
    const Algorithm* algorithm = nullptr;
    Settings settings;
    std::string label;    ///< as it was typed, with the algorithm's present name; or the value of label=
    std::string title{};  ///< its name in figures: "FlashAttention-2, br=64 on H100"; or the value of label=
    std::string typed{};  ///< as it can be typed again
    std::string like{};   ///< a named kernel or a library in place of an algorithm: like.hpp says what it stands for
};

/// "flash_v2", "cudnn-9.19", "pytorch-2.11:math@H100", "flash_v2:br=64,bc=64", "flash_v2:label=ours", "flash_v2@H100",
/// "flash_v2:br=64@my-gpu.json",
/// "./mine.cpp:br=64", "./mine.cpp:lazy:br=64". Throws UsageError.
Variant variant_from(const std::string& text);

/// The part of a variant's text that names the algorithm.
std::string algorithm_in(const std::string& variant);

}  // namespace tilescope::lab
