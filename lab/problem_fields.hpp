// The properties of a workload as files and tables have them, one a row: recordings, reports and CSV are loops over it.
// For sources that have nlohmann-json.
#pragma once

#include <span>

#include "algorithms/contract/algorithm.hpp"
#include "core/record/json_entry.hpp"
#include "lab/metric.hpp"

namespace tilescope::lab {

struct ProblemField {
    const char* key;
    /// Of CSV, nothing where it means nothing; nullptr where CSV lacks it.
    MetricValue (*column)(const Problem&);
    /// CSV has it behind the machine and the tiles.
    bool behind;
    /// Whether JSON has it: of a run of that algorithm, and in a file of which all rows above have been read.
    bool (*written)(const Problem&, const Algorithm&);
    bool (*needed)(const JsonEntry&, const Problem&);
    Json (*get)(const Problem&);
    /// `file` for messages.
    void (*read)(JsonEntry&, const char* key, Problem&, const std::string& file);
};

/// In the order of files.
std::span<const ProblemField> problem_fields();
/// Its first rows: batch to dim_v.
std::span<const ProblemField> problem_sizes();

}  // namespace tilescope::lab
