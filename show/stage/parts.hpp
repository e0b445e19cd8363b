// Keys that are cut into parts: the result of each part's thread block for a row block, where that result lies, and how
// a later launch adds the results up. Knows no algorithm: keys are cut where an axis of a grid promises parts.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "show/run/run.hpp"
#include "show/run/walk.hpp"

namespace tilescope::show {

/// The partial result of one thread block: of its rows and one part of the keys.
struct Partial {
    Index part;
    Span rows;
    Index block;                     ///< of the launch that works on the parts
    bool empty = true;               ///< its rows see none of the part's keys
    std::vector<TileId> tiles = {};  ///< on chip in all iterations; statistics before the output
    // Its regions of the partial outputs and statistics, and the steps that stored them; -1: not recorded.
    Region output{}, statistic{};
    Index output_stored = -1, statistic_stored = -1;
};

/// Rows of a partial output that a later launch reads and adds to a sum.
struct Addition {
    std::size_t partial;  ///< an index into Parts::partials()
    Span rows;
    Index first;  ///< row of the problem in row 0 of the tile that is read, which may hold several partials
    Index block;
    Index read;          ///< the step that reads these rows, ...
    Index weighed = -1;  ///< ... that multiplies them by their weights, ...
    Index added = -1;    ///< ... and that adds them to the sum
    Index weights = -1;  ///< the step that wrote the weights, one a row
};

/// The parts of one head.
class Parts : StepReader {
  public:
    Parts(const Run& run, Index head);

    /// Where keys are not cut into parts, everything below is empty.
    Index count() const { return count_; }
    Index launch() const { return launch_; }  ///< the launch that works on the parts
    /// The first launch that adds parts up; -1: none that is recorded.
    Index merge() const { return merge_; }
    Span keys(Index part) const;  ///< empty beyond the last key
    /// The number of parts that have keys; these are the first parts.
    Index with_keys() const;
    /// Whether a tensor holds partial results: O_s, LSE_s.
    bool is_partial(TensorId tensor) const { return tensors_.contains(tensor); }

    const std::vector<Partial>& partials() const { return partials_; }
    const std::vector<Addition>& additions() const { return additions_; }
    /// The partial result (O_s, LSE_s) that a thread block writes; nullptr for a block that writes none.
    const Partial* of_block(Index launch, Index block) const;
    /// The addition of a row of a partial result; nullptr: none that is recorded.
    const Addition* addition(const Partial& partial, Index row) const;
    /// The rows that a thread block of the merging launch adds up; nullopt for other thread blocks.
    std::optional<Span> rows_merged(Index launch, Index block) const;

    // The state after a tick of the run.

    /// Whether a step of a Partial or Addition has been carried out.
    bool happened(Index step, Index tick) const;
    /// The share of a partial output's rows that are part of a sum: 0 to 1.
    double added_share(const Partial& partial, Index tick) const;
    /// The weight of a part in the sum of a row; nullopt while it is not known, and without values.
    std::optional<float> weight(const Partial& partial, Index row, Index tick) const;

  private:
    std::size_t place(const Partial& p) const { return static_cast<std::size_t>(&p - partials_.data()); }
    void read_grid();
    void step(const Reading& r) override;
    void read_part(const Step& step, Index number);
    void read_merge(const Step& step, Index number);

    const Run& run_;
    Index head_, launch_ = -1, merge_ = -1, count_ = 0, keys_a_part_ = 0;
    std::set<TensorId> tensors_;
    std::vector<Partial> partials_;
    std::map<Index, std::size_t> by_block_, by_row_;  // into partials_, by thread block; by first row in HBM
    std::vector<Addition> additions_;
    std::vector<std::vector<std::size_t>> of_partial_;  // indices into additions_
    std::map<TileId, Span> reading_;                    // spans of additions_, by the tile that they are read into
    std::map<TileId, Index> written_;                   // tiles of one column: the step that wrote them last
    std::map<Index, Span> merged_;                      // rows, by thread block of the merging launch
};

/// What exists of a partial result now: m, l and O on chip, O_s and LSE_s in HBM, the weight in the sum.
struct PartCell {
    std::string name;
    Meaning meaning;
    std::string value = {};  ///< of one row; empty: not one number, or not known
    bool on_chip = false;    ///< as opposed to in HBM
    bool now = false;        ///< written or read in this step
    double added = 0;        ///< share of its rows that are part of a sum
};
std::vector<PartCell> part_cells(const Run& run, const Parts& parts, const Partial& partial, Index row);

}  // namespace tilescope::show
