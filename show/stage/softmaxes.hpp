// One row of scores through every softmax program: what it costs to know the row's maximum and sum, and what becomes of
// a row without the maximum.
#pragma once

#include <optional>
#include <string>

#include "show/stage/row.hpp"

namespace tilescope::show {

/// One of the programs, on its way through the row.
struct SoftmaxMoment {
    const Algorithm* algorithm = nullptr;
    RowMoment row;                             ///< what it has read and summed so far
    std::vector<std::optional<float>> result;  ///< by key, once it was written
    std::uint16_t line = 0;                    ///< of its pseudo-code; 0: not begun
    Index pass = 0, passes = 0;                ///< over the row: begun so far, and in all
    Bytes read = 0, written = 0;               ///< so far, of HBM

    bool done() const { return !result.empty() && result.back(); }
};

/// Runs the programs, on real numbers, on a matrix of one row: their bytes and passes are counted.
class Softmaxes {
  public:
    /// Takes the scores that `story` has at its end, for the keys that its query sees, in the problem's type.
    Softmaxes(const Run& run, const RowStory& story);

    Index keys() const { return keys_; }  ///< of the row; 0: there is nothing to take a softmax of
    Index block() const { return block_; }
    Dtype dtype() const { return dtype_; }
    /// Scores that the type holds as infinite, though they were computed as numbers.
    Index out_of_range() const { return out_of_range_; }
    /// The programs, in the order of their ladder (algorithms/README.md), after the program that moves most has moved a
    /// share (0 to 1) of its bytes. All move bytes equally fast, so one with fewer bytes ends earlier.
    std::vector<SoftmaxMoment> at(double share) const;

  private:
    struct Program {
        Program(const Algorithm& algorithm, const Problem& problem, const RowStory& of, std::span<const float> scores);
        Run run;
        RowStory story;
    };

    Index keys_ = 0, block_ = 0, out_of_range_ = 0;
    Dtype dtype_{};
    std::vector<std::unique_ptr<Program>> programs_;
};

/// The softmaxes of rows that are looked at, made when they are asked for.
class SoftmaxesOfRows {
  public:
    const Softmaxes& of(const Run& run, const RowStory& story, std::uint64_t version);

  private:
    Told<Softmaxes, const Run*, Index, Index> told_;
};

/// What the switch is called.
std::string softmaxes_label();
/// softmaxes_headline(): which programs lost the row, or what each moved for it. softmaxes_reason(): what they are
/// given, and why.
std::string softmaxes_headline(const std::vector<SoftmaxMoment>& programs);
std::string softmaxes_reason(const Softmaxes& softmaxes, const std::vector<SoftmaxMoment>& programs);
/// softmax_counts(): "pass 2 of 3 · 64 B read, 0 B written (counted)", and shorter. softmax_line(): the line of the
/// pseudo-code that the program is at.
std::vector<std::string> softmax_counts(const SoftmaxMoment& program);
std::string softmax_line(const SoftmaxMoment& program);
/// softmax_sum(): "sum so far 3.35". softmax_result(): how many results are NaN, and how many an infinite sum made 0,
/// and shorter.
std::string softmax_sum(const SoftmaxMoment& program);
std::vector<std::string> softmax_result(const SoftmaxMoment& program);

}  // namespace tilescope::show
