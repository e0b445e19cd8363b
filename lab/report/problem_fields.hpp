// The properties of a workload as a table, one per row: recordings, reports and CSV are loops over it. For sources that
// have nlohmann-json.
#pragma once

#include <span>

#include "algorithms/contract/algorithm.hpp"
#include "core/record/json_entry.hpp"
#include "lab/report/metric.hpp"

namespace tilescope::lab {

struct ProblemField {
    const char* key;
    /// The value in CSV, monostate where the field has no meaning; nullptr where CSV has no such column.
    MetricValue (*column)(const Problem&);
    /// Whether the CSV column comes after those of the machine and the tiles.
    bool behind;
    /// `written`: whether JSON has the field, in a run of the algorithm. `needed`: whether a file must have it; the
    /// problem has the fields of earlier rows already.
    bool (*written)(const Problem&, const Algorithm&);
    bool (*needed)(const JsonEntry&, const Problem&);
    Json (*get)(const Problem&);
    /// Reads the field from JSON into the problem. Messages name `file`.
    void (*read)(JsonEntry&, const char* key, Problem&, const std::string& file);
};

/// All fields, in the order in which files have them.
std::span<const ProblemField> problem_fields();
/// The first rows of problem_fields(): batch to dim_v.
std::span<const ProblemField> problem_sizes();

}  // namespace tilescope::lab
