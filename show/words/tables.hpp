// What was counted, as tables: every number in words, with its unit.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "show/run/run.hpp"

namespace tilescope::show {

/// The text of a cell, and the explanation that its tooltip shows.
struct TableCell {
    std::string text, explanation;
};

/// A counter: so far, in the whole run, and in another algorithm's.
struct CounterRow {
    std::string name, brief;  ///< brief: where there is little room
    std::string explanation;
    TableCell so_far, whole, other;
    std::string ratio;                 ///< of the other's whole run to this one's
    std::optional<double> progress{};  ///< how much of what is recorded has happened, where that is known
    bool of_whole_run = false;         ///< has no number so far: the cell says how the numbers of the row were obtained
};
/// `other` is the report of `other_name`'s run; nullptr where it does not fit.
std::vector<CounterRow> counter_rows(const Run& run, const std::string& other_name, const lab::Report* other);
/// Above the columns: this algorithm, so far, whole run, the other algorithm, ratio.
std::array<TableCell, 5> counter_header(const Run& run, const std::string& other_name);

/// A tensor in HBM, or the sum of all.
struct TensorRow {
    struct Amount : TableCell {
        double share = 0;  ///< of the same amount in the whole run, or of the largest of any tensor
        bool any = false;
    };
    TableCell name, size;
    Meaning meaning = Meaning::other;
    Amount read, written;          ///< so far
    Amount all_reads, all_writes;  ///< in the whole run
};
std::vector<TensorRow> tensor_rows(const Run& run);
TensorRow tensor_total(const Run& run);
std::array<TableCell, 6> tensor_header();

/// How many times `own` goes into `other`: "×2.2"; nothing where `own` is 0.
std::string ratio_text(double other, double own);

}  // namespace tilescope::show
