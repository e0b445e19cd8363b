// What the flags ask for, once files are read and everything is checked.
#pragma once

#include "lab/flags/options.hpp"
#include "lab/model/mapping.hpp"
#include "lab/run/experiment.hpp"

namespace tilescope::lab {

struct Request {
    Problem problem;
    Wish wish;  ///< the mapping that the flags ask for
    GpuSpec gpu;
    std::size_t file_rank = 0;  ///< the number of dimensions of the Q (or X) file; 0 without files
    Inputs inputs;              ///< from files; empty without
    std::string model, phase;   ///< "llama-3-70b", "decode": the model that the problem is a layer of; empty: none
    std::string remark;         ///< what looks wrong about the files, and what to do; empty where nothing does
    std::vector<std::string> notes = {};  ///< which numbers of the files became infinite when they were read
};

/// Reads files and checks everything, also that the algorithm supports the problem. Throws UsageError for the first
/// thing that is wrong, and Interrupted.
Request resolve(const Options& options, const Algorithm& algorithm, Control* control = nullptr);
/// The same for any algorithm of the computation. The caller has to call check_supported().
Request resolve(const Options& options, const Computation& computation, Control* control = nullptr);

/// The problem as the algorithm runs it: with heads packed where the request's wish and the algorithm lead to packing.
Problem problem_of(const Algorithm& algorithm, const Request& request);
/// The experiment that the request asks for; its mapping is completed. Throws Interrupted.
Experiment experiment_of(const Algorithm& algorithm, const Request& request, Control* control = nullptr);

/// A problem with the sizes that the flags and --model ask for, valid or not. All else is as in a default problem.
Problem sizes_from(const Options& options);

/// The inputs of a numeric run: the user's files or random numbers.
Inputs inputs_for(const Options& options, const Request& request, const Algorithm& algorithm,
                  Control* control = nullptr);

}  // namespace tilescope::lab
