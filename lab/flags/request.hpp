// What the flags ask for, once files are read and everything is checked.
#pragma once

#include "lab/flags/options.hpp"
#include "lab/model/mapping.hpp"
#include "lab/run/experiment.hpp"

namespace tilescope::lab {

struct Request {
    Problem problem;
    Wish wish;  ///< of the mapping
    GpuSpec gpu;
    std::size_t file_rank = 0;  ///< of the Q (or X) file; 0 without files
    Inputs inputs;              ///< from files; empty without
    std::string model, phase;   ///< "llama-3-70b", "decode": whose layer it is; empty without --model
    std::string remark;         ///< what looks wrong about the files, and what to do; empty where nothing does
    std::vector<std::string> notes = {};  ///< which numbers of the files became infinite when they were read
};

/// Reads files, checks everything and throws UsageError for the first thing that is wrong: also where the algorithm
/// does not do what is asked for. Throws Interrupted.
Request resolve(const Options& options, const Algorithm& algorithm, Control* control = nullptr);
/// The same for any algorithm of the computation; check_supported() is left to the caller.
Request resolve(const Options& options, const Computation& computation, Control* control = nullptr);

/// The problem as the algorithm runs it: with heads packed, where the request's wish leads to that.
Problem problem_of(const Algorithm& algorithm, const Request& request);
/// What is asked for, with the mapping completed. Throws Interrupted.
Experiment experiment_of(const Algorithm& algorithm, const Request& request, Control* control = nullptr);

/// The sizes that the flags and --model ask for, valid or not; all else as in a default problem.
Problem sizes_from(const Options& options);

/// The inputs of a numeric run: the user's files or random numbers.
Inputs inputs_for(const Options& options, const Request& request, const Algorithm& algorithm,
                  Control* control = nullptr);

}  // namespace tilescope::lab
