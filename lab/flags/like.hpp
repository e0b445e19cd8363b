// --like, and names of libraries' kernels in place of an algorithm: what they stand for on a problem.
#pragma once

#include <string>

#include "lab/flags/variant.hpp"
#include "lab/library/kernels.hpp"
#include "lab/library/libraries.hpp"

namespace tilescope::lab {

/// Whether the text is a named kernel, LIBRARY-VERSION or LIBRARY-VERSION:BACKEND.
bool names_kernel(const std::string& text);
/// The same, or UsageError with what --like takes.
std::string as_named_kernel(const std::string& flag, const std::string& text);

/// The program of a name; of a library without a backend, that of its first one.
const Algorithm& program_of(const std::string& name);

/// What a name stands for.
struct Likeness {
    std::string name;                  ///< as it was typed
    const Library* library = nullptr;  ///< nullptr: the name is that of a kernel
    const Backend* backend = nullptr;  ///< of the library; the one that it picks, where the name has none
    const NamedKernel* kernel = nullptr;
    bool picked = false;    ///< the name has no backend
    std::string rule = {};  ///< why the library picks this backend; empty where the name has one

    const Algorithm& algorithm() const;
    /// What makes the program this kernel; and what gives its answer on the problem that it was found for.
    Settings of_kernel() const;
    Settings of_meaning = {};
};
/// Finds out for the problem that the other flags ask for. UsageError where the library refuses the problem.
Likeness likeness(const std::string& name, const Options& options);

/// The value of --like; empty without it.
std::string like_of(const Options& options);

/// ALGO and --like together: the algorithm, and options in which the flags that the name stands for are set where they
/// were not given. `said`: what --like turned out to mean; empty without it.
struct Named {
    const Algorithm* algorithm;
    Options options;
    std::string said = {};
};
/// `algorithm`: as typed, or empty. Throws UsageError.
Named named(const std::string& algorithm, const Options& options);
/// The same for a variant, with the options of the command.
Named named(const Variant& variant, const Options& options);

}  // namespace tilescope::lab
