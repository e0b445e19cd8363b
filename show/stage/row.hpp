// The row of one query under the microscope: its scores as they arrive, what is made of them, and the sums that they
// enter. Knows no algorithm: what a tile holds follows from the operations that wrote it.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "show/stage/wall.hpp"

namespace tilescope::show {

/// What the row's numbers in a tile are, judged by what was done to them.
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
    RowForm form;  ///< after the operation
    Index a_step;  ///< step that wrote its first operand; -1: none
    Index before;  ///< step that wrote the tile before; -1: the tile is new
    Index a_row;   ///< the row's number in the first operand
};

/// One iteration of a loop, or the work outside of loops, as far as it concerns the row.
struct RowVisit {
    Index launch, block, turn;
    Span keys;                ///< the keys whose scores the visit has; empty: none
    Index from, to;           ///< ticks
    Index pass;               ///< how often the first of its keys was visited before
    std::size_t first, last;  ///< writes: [first, last)
    Index update = -1;        ///< the write that takes its scores into m, as an index; -1: none

    /// Whether `v` is of another thread block of this launch, which runs beside this visit's and shares nothing with
    /// it.
    bool is_beside(const RowVisit& v) const { return v.launch == launch && v.block != block; }
};

/// Weights in a sum: those of a tile, times `factor`, by which the sum has been scaled since.
struct RowShare {
    Span keys;
    Index step, row;  ///< the step that wrote the tile, and the row in it
    float factor;
};

/// What a visit does to a tile: operations on it one after the other, until another operation reads it.
struct RowLine {
    TileId tile;
    RowForm form;
    std::string name;                   ///< "O"
    std::string formula;                ///< "c · O + S V"
    std::string numbers;                ///< "0.32 · (−0.90) + 1.11", of the first column
    Index tick, step;                   ///< of the last operation
    std::vector<float> was, kept, now;  ///< before; what scaling left of it; after
    bool copied = false;                ///< nothing but a copy of another tile's row so far
    bool of_old = false;                ///< a copy of a tile that has changed since
    bool is_sum = false;                ///< the formula is a sum: it gets brackets where more is done to it
    bool scaled = false, added = false;
};

/// A key's state after a tick.
struct RowKey {
    enum class State : std::uint8_t { unread, known, masked, skipped };

    State state = State::unread;
    bool now = false;                      ///< one of the keys of the visit under way
    bool has_weight = false;               ///< its score was exponentiated
    bool in_sum = false;                   ///< its weight is in the running sum
    float score = 0, weight = 0, was = 0;  ///< weight: as the sum has it; was: before this visit scaled the sum
};

/// What is known of the row after a tick.
struct RowMoment {
    const RowVisit* visit = nullptr;  ///< under way, or the last one; nullptr: none has begun
    std::vector<RowKey> keys;
    std::vector<RowLine> lines;  ///< of the visit, as far as it is done
    std::vector<RowLine> all;    ///< the lines of the visit at its end
    float m = 0, m_was = 0;      ///< the running maximum, and what it was before the visit
    bool has_m = false;
    bool m_updated = false;             ///< m has taken in the visit's scores
    bool in_part = false;               ///< other thread blocks have other keys of the row at the same time
    const RowLine* sum_line = nullptr;  ///< the running sum, of `lines`; nullptr: not written in the visit so far
    const RowLine* output_line = nullptr;
    std::vector<float> output;  ///< the row in the output tile written last
    float sum = 0;
    bool has_sum = false;
    Index sum_step = -1;     ///< the step that wrote `sum`; -1: none
    bool overflows = false;  ///< exponentials are taken without a maximum
};

/// What the row would be if earlier sums were not rescaled.
struct Forgotten {
    bool possible = false;         ///< the program rescales sums
    bool rescales_output = false;  ///< the program rescales O too, not the sum of weights alone
    double error = 0;              ///< relative, of the finished row
};

class RowStory {
  public:
    /// `run` has values, and has to outlive this object.
    RowStory(const Run& run, Index head, Index query);
    /// Whether a row's story is that of its maxima: not where these may be stale, or P has a factor.
    static bool tells_of(const Run& run);

    const Run& run() const { return run_; }
    Index head() const { return head_; }
    Index query() const { return query_; }
    const std::vector<RowVisit>& visits() const { return visits_; }
    const std::vector<RowWrite>& writes() const { return writes_; }
    /// The visit that is under way after a tick, or the last one before it.
    const RowVisit* visit_at(Index tick) const;
    RowMoment at(Index tick) const;
    Forgotten forgotten() const;
    /// A row of a tile as this step left it.
    std::span<const float> values(Index step, Index row) const;
    std::span<const float> values(const RowWrite& w) const { return values(w.step, w.row); }
    /// Lines of a visit after a tick.
    std::vector<RowLine> lines(const RowVisit& visit, Index tick) const;
    /// Whether the program takes maxima at all.
    bool takes_maxima() const;
    /// How many passes over the row's scores, loaded or computed, have begun up to a tick.
    Index passes(Index tick) const;

  private:
    friend class RowReader;
    struct Weight {
        float value = 0;
        bool there = false, summed = false;
    };
    /// The weight of every key after a tick.
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
    std::map<Index, std::vector<RowShare>> shares_;  // by the step that wrote a sum: the weights in this sum
};

/// Stories of rows that are looked at, made when they are asked for.
class RowStories {
  public:
    const RowStory& of(const Run& run, Index head, Index query, std::uint64_t version);

  private:
    Told<RowStory, const Run*, Index, Index> told_;
};

/// The row under the microscope: the `row`-th of the queries of the SM in focus, or the last where there are fewer.
struct RowPlace {
    Index head, query;
    Span queries;
};
RowPlace row_place(const Run& run, const Wall& wall, const std::vector<Painter>& painters, Index focus, Index row);

}  // namespace tilescope::show
