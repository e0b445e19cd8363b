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
    /// The value in CSV, nothing where it means nothing; nullptr where CSV has no such column.
    MetricValue (*column)(const Problem&);
    /// Whether the CSV column stands behind those of the machine and the tiles.
    bool behind;
    /// Whether JSON has it: `written` of a run of that algorithm; `needed` in a file whose rows above are read already.
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
