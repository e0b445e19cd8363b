// One row of queries under the microscope: its scores as they arrive, what is made of them, and the sums that they go
// into. It knows of no algorithm: what a tile holds follows from the operations that wrote it.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "show/wall.hpp"

namespace tilescope::show {

/// What a row's numbers in a tile are, from what was done to them.
enum class RowForm : std::uint8_t {
    other,
    scores,   ///< S
    weights,  ///< exp(S - m), or exp(S)
    shares,   ///< weights divided by their sum
    maximum,
    sum,
    factor,  ///< made of maxima or sums, to multiply with
    output
};

/// An operation that wrote the row.
struct RowWrite {
    Index tick, step;
    Index row;     ///< of the tile
    RowForm form;  ///< after it
    Index a_step;  ///< that wrote its first operand; -1: none
    Index before;  ///< that wrote the tile before; -1: it is new
    Index a_row;   ///< the row's in the first operand
};

/// A turn of a loop, or what lies outside of loops: as far as it has to do with the row.
struct RowVisit {
    Index launch, block, turn;
    Span keys;                ///< whose scores it has; none where it has none
    Index from, to;           ///< ticks
    Index pass;               ///< how often the first of its keys was visited before
    std::size_t first, last;  ///< writes: [first, last)
    Index update = -1;        ///< of the writes the one that has m take in its scores; -1: none

    /// Whether the other one is of a thread block that runs beside this one's, and shares nothing with it.
    bool is_beside(const RowVisit& v) const { return v.launch == launch && v.block != block; }
};

/// Weights that are in a sum: those of a tile, times what the sum was scaled with since.
struct RowShare {
    Span keys;
    Index step, row;  ///< that wrote the tile, and the row's in it
    float factor;
};

/// What became of a tile in a visit: operations on it one after the other, until something else reads it.
struct RowLine {
    TileId tile;
    RowForm form;
    std::string name;                   ///< "O"
    std::string formula;                ///< "c · O + S V"
    std::string numbers;                ///< "0.32 · (−0.90) + 1.11", of the first column
    Index tick, step;                   ///< of the last operation
    std::vector<float> was, kept, now;  ///< before; what is left of that when it was scaled; after
    bool copied = false;                ///< all that was done so far: another tile's row was taken over
    bool of_old = false;                ///< what the other tile had, which has changed since
    bool is_sum = false;                ///< the formula, which brackets enclose where more is done to it
    bool scaled = false, added = false;
};

/// A key, after a tick.
struct RowKey {
    enum class State : std::uint8_t { unread, known, masked, skipped };

    State state = State::unread;
    bool now = false;                      ///< the visit that is under way has it
    bool has_weight = false;               ///< it was exponentiated
    bool in_sum = false;                   ///< its weight is in the sum that is told
    float score = 0, weight = 0, was = 0;  ///< weight: as the sum has it; was: before this visit scaled the sum
};

/// What is known of the row after a tick.
struct RowMoment {
    const RowVisit* visit = nullptr;  ///< that is under way, or the last one; nullptr: none has begun
    std::vector<RowKey> keys;
    std::vector<RowLine> lines;  ///< of the visit, as far as it is done
    std::vector<RowLine> all;    ///< the same when it is done
    float m = 0, m_was = 0;      ///< the running maximum, and what it was before the visit
    bool has_m = false;
    bool m_updated = false;             ///< m has taken in the visit's scores
    bool in_part = false;               ///< other thread blocks have other keys of the row at the same time
    const RowLine* sum_line = nullptr;  ///< the running sum, of `lines`; nullptr: not written in the visit so far
    const RowLine* output_line = nullptr;
    std::vector<float> output;  ///< of the tile written last
    float sum = 0;
    bool has_sum = false;
    Index sum_step = -1;     ///< that wrote it; -1: there is none
    bool overflows = false;  ///< exponentials are taken without a maximum
};

/// What the row would be without a factor on what was summed before.
struct Forgotten {
    bool possible = false;         ///< the program rescales sums
    bool rescales_output = false;  ///< and not the sum of weights alone
    double error = 0;              ///< relative, of the row when all is done
};

class RowStory {
  public:
    /// Of a run with values, which has to outlive it.
    RowStory(const Run& run, Index head, Index query);

    const Run& run() const { return run_; }
    Index head() const { return head_; }
    Index query() const { return query_; }
    const std::vector<RowVisit>& visits() const { return visits_; }
    const std::vector<RowWrite>& writes() const { return writes_; }
    /// The visit that is under way after a tick, or the last one before it.
    const RowVisit* visit_at(Index tick) const;
    RowMoment at(Index tick) const;
    Forgotten forgotten() const;
    /// The row of what a step wrote.
    std::span<const float> values(Index step, Index row) const;
    std::span<const float> values(const RowWrite& w) const { return values(w.step, w.row); }
    /// Lines of a visit after a tick.
    std::vector<RowLine> lines(const RowVisit& visit, Index tick) const;
    /// Whether the program takes maxima at all.
    bool takes_maxima() const;
    /// How often its scores were loaded or computed up to a tick.
    Index passes(Index tick) const;

  private:
    friend class RowReader;
    struct Weight {
        float value = 0;
        bool there = false, summed = false;
    };
    /// Of every key.
    std::vector<Weight> weights(Index tick) const;
    void take_weights(std::vector<Weight>& to, const RowWrite& w, Span keys) const;
    void take_summed(std::vector<Weight>& to, Index tick) const;
    void tell_maximum(RowMoment& m, Index tick) const;
    void tell_keys(RowMoment& m, Index tick) const;
    void tell_sums(RowMoment& m, Index tick) const;
    void tell_output(RowMoment& m, Index tick) const;
    void add_values(Index key, double w, double r, std::vector<double>& wrong, std::vector<double>& right) const;
    Forgotten forget() const;
    bool is_of_part(const RowVisit& v) const;
    float m_before(const RowVisit& v) const;
    std::optional<float> m_updated(const RowVisit& v, Index tick) const;

    const Run& run_;
    Index head_, query_;
    mutable std::optional<Forgotten> forgotten_;  // once it was asked for
    std::vector<RowWrite> writes_;
    std::vector<RowVisit> visits_;
    std::map<Index, std::vector<RowShare>> shares_;  // by step: what is in a sum that it wrote
};

/// Stories of rows that are looked at, made when they are asked for.
class RowStories {
  public:
    const RowStory& of(const Run& run, Index head, Index query, std::uint64_t version);

  private:
    Told<RowStory, const Run*, Index, Index> told_;
};

/// The row in focus: of the queries that an SM is at, the `row`-th, or the last one.
struct RowPlace {
    Index head, query;
    Span queries;
};
RowPlace row_place(const Run& run, const Wall& wall, const std::vector<Painter>& painters, Index focus, Index row);

}  // namespace tilescope::show
