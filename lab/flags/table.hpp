// The flags of a workload, its mapping and a machine, as a table. Options, help, sweeps, links and the flags that other
// commands take or refuse are loops over it.
#pragma once

#include <functional>
#include <span>
#include <string>

#include "lab/flags/options.hpp"

namespace tilescope::lab {

/// What a flag says something about.
enum class FlagOf : std::uint8_t {
    sizes,      ///< of the workload, and its type
    attention,  ///< the rest of the workload, which a softmax kernel does not have
    mapping,    ///< tiles and where they run
    machine
};

struct Flag {
    const char* name;  ///< without dashes
    FlagOf of;
    const char *help, *type, *fallback;                     ///< as help shows them; a switch has no type
    std::function<void(Options&, const std::string&)> set;  ///< throws UsageError
    std::function<void(Options&)> clear;                    ///< as if the flag had not been given
    std::function<std::string(const Options&)> get;         ///< empty where the flag says nothing new

    bool is_switch() const { return type == nullptr; }
    bool given(const Options& o) const { return !get(o).empty(); }
};

/// In the order of help.
std::span<const Flag> flags();

}  // namespace tilescope::lab
