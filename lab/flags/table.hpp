// The flags of a workload, its mapping and a machine, as a table. Options, help, sweeps, links, the problem that flags
// ask for, the flags that ask for a problem, and the flags that other commands take or refuse are loops over it.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>

#include "algorithms/contract/problem.hpp"
#include "lab/flags/options.hpp"

namespace tilescope::lab {

/// What a flag is about.
enum class FlagOf : std::uint8_t {
    sizes,      ///< sizes and data type of the workload
    attention,  ///< the rest of the workload, which a softmax kernel does not have
    mapping,    ///< tiles and where they run
    machine
};

struct Flag {
    const char* name;  ///< without dashes
    FlagOf of;
    const char* help;                                       ///< the id of its message
    const char* type;                                       ///< as help shows it; a switch has none
    const char* fallback;                                   ///< as help shows it, or the id of its message
    std::function<void(Options&, const std::string&)> set;  ///< throws UsageError
    std::function<void(Options&)> clear;                    ///< as if the flag had not been given
    std::function<std::string(const Options&)> get;         ///< the value as text; empty where it is the default
    bool is_size = false;                                   ///< whether it is a size of Q, K, V and O
    std::optional<Feature> asks_for = {};                   ///< the feature that an algorithm needs for it

    // For flags of the workload; nullptr where not needed. ask() puts a given flag into the problem, after the flags of
    // all rows above; it throws UsageErrors only. write() does the reverse. A mask needs more (lab/flags/mask.hpp).
    void (*ask)(const Options&, Problem&) = nullptr;
    void (*write)(const Problem&, Options&) = nullptr;

    bool is_switch() const { return type == nullptr; }
    bool given(const Options& o) const { return !get(o).empty(); }
    std::string as_given(const Options& options) const;  ///< "--soft-cap 50", "--alibi"
};

/// All flags, in the order of help.
std::span<const Flag> flags();

/// Options whose flags of the workload turn a default problem into this one.
Options options_of(const Problem& problem);
/// The flag that asks for the feature, as it was given; --model where no given flag asks for it.
std::string flag_of(Feature feature, const Options& options);
/// The first given flag, without dashes, that means nothing to a softmax kernel; nullptr where there is none.
const char* attention_flag(const Options& options);

}  // namespace tilescope::lab
