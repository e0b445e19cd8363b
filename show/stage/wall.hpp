// The score matrix and what lies around it, as the thread blocks of one head go through it: Q on the left of it, K
// above, V below and O on the right, so that tile (i, j) of S lies in the row of tile i of Q and O and in the column
// of tile j of K and V. A gradient lies beside its tensor. The wall knows no algorithm: everything on it comes from
// recorded events.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "show/run/told.hpp"
#include "show/stage/parts.hpp"

namespace tilescope::show {

/// How often a tile crossed the SMs' boundary; half a tile counts half.
struct Trips {
    double read = 0, written = 0, reduced = 0;  ///< reduced: added to what HBM holds

    double all() const { return read + written + reduced; }
    Trips& operator+=(const Trips& t) { return read += t.read, written += t.written, reduced += t.reduced, *this; }
};

/// What a thread block does with some tiles of scores: in one iteration of a loop, or in all that lies outside of
/// loops.
struct Visit {
    Index launch, block;
    Span rows, cols;     ///< tiles: i from rows.begin to rows.end(), j alike
    Span queries, keys;  ///< the scores
    Index from, to;      ///< ticks
    Index painted;       ///< the first tick in which there are scores
    Index loop;          ///< whose iteration it is: an index into Trace::loops(); -1: none

    /// The share of the visit's coat of paint that is done after a tick: 0 to 1.
    double painted_share(Index tick) const;
};

/// The meaning of a tensor; of a gradient, the meaning of the tensor that it is the gradient of.
inline Meaning belongs_to(const RecordedTensor& t) {
    return t.meaning == Meaning::gradient ? t.gradient_of : t.meaning;
}

/// A tensor along the matrix.
struct WallEdge {
    enum class Side : std::uint8_t {
        left,
        above,
        below,
        right,
        between
    };  ///< between: row by row, between the matrix and `right`

    Side side;
    TensorId tensor;
    std::string name;
    Meaning meaning;
    Tiles tiles;  ///< along the matrix: of its rows, or of its columns above and below
    Index rows;   ///< of the matrix on that side: a tensor may have several copies, one below the other
    int nth = 0;  ///< number on its side, from the matrix outwards; of those between, from the left

    bool by_row() const { return side != Side::above && side != Side::below; }
    /// Where rows of the tensor lie along the matrix.
    Span along(Span of_tensor) const { return {of_tensor.begin % rows, of_tensor.size}; }
};

/// A tensor as large as the matrix: scores that lie in HBM, or their gradients.
struct WallSheet {
    TensorId tensor;
    std::string name;
    Meaning meaning;
};

/// Tiles that are drawn as one where each alone would be too small to be seen.
struct WallGroup {
    Span rows, cols;
    Index hidden = 0;   ///< tiles in which no query sees a key
    Index skipped = 0;  ///< hidden tiles that no thread block ever visits
    // Ticks, sorted.
    std::vector<Index> painted;              ///< first coats, one a tile
    std::vector<Index> begun;                ///< all coats
    std::vector<std::vector<Index>> stored;  ///< by sheet: when each stored tile came into HBM

    Index tiles() const { return rows.size * cols.size; }
};

class Wall {
  public:
    /// Whether a run has few enough tiles of scores to be looked at one by one.
    static bool has_room_for(const Run& run);
    /// The wall of one head. `run` has to outlive it, and has_room_for(run) has to be true.
    Wall(const Run& run, Index head);

    Index head() const { return head_; }
    const Parts& parts() const { return parts_; }
    Index rows() const { return rows_.count(); }
    Index cols() const { return cols_.count(); }
    Span row(Index i) const { return rows_[i]; }  ///< queries
    Span col(Index j) const { return cols_[j]; }  ///< keys
    Index tile_rows() const { return rows_.tile_size(); }
    Index tile_cols() const { return cols_.tile_size(); }
    /// Rows of a tile that are drawn: all, except where a single row of tiles lies mostly beyond the matrix.
    Index rows_drawn() const { return rows() == 1 ? std::min(tile_rows(), 2 * rows_[0].size) : tile_rows(); }
    Cover cover(Index i, Index j) const { return covers_[cell(i, j)]; }
    /// Whether no query sees a key in the tile and no thread block ever visits it.
    bool skipped(Index i, Index j) const { return cover(i, j) == Cover::hidden && visits(i, j).empty(); }
    Index skipped_tiles() const { return skipped_; }
    /// Row blocks up to the last one that is visited: the thread blocks of those below were not recorded.
    Index recorded_rows() const { return recorded_rows_; }
    const std::vector<WallEdge>& edges() const { return edges_; }
    const std::vector<WallSheet>& sheets() const { return sheets_; }  ///< in the order in which they are stored
    /// The name of scores of an earlier pass that a launch recomputes from Q and K; empty: it recomputes none.
    const std::string& recomputed(Index launch) const;
    /// The scores recomputed by the first launch that recomputes any; empty: none does.
    const std::string& recomputed() const { return recomputed(recomputed_.empty() ? -1 : recomputed_.begin()->first); }

    /// All visits, in order of time. visits(i, j): those of a tile, way(): those of a thread block, as indices into
    /// visits().
    const std::vector<Visit>& visits() const { return visits_; }
    const std::vector<std::size_t>& visits(Index i, Index j) const { return cells_[cell(i, j)]; }
    const std::vector<std::size_t>& way(Index launch, Index block) const;
    /// The ways of all thread blocks, by launch and block.
    const std::map<std::pair<Index, Index>, std::vector<std::size_t>>& ways() const { return ways_; }
    /// The tiles in groups of so many rows and columns, row by row. Valid until others are asked for.
    const std::vector<WallGroup>& groups(Index rows, Index cols) const;

    // The state after a tick of the run.

    /// Coats of paint: visits that had begun to paint the tile; a visit that paints half of the tile is half a coat.
    double coats(Index i, Index j, Index tick) const;
    /// painted_tiles(): tiles whose first coat is done. tiles_begun(): whose first coat has begun but is not done.
    /// tiles_to_paint(): tiles that are painted at the end.
    Index painted_tiles(Index tick) const;
    Index tiles_begun(Index tick) const;
    Index tiles_to_paint() const { return static_cast<Index>(first_begun_.size()); }
    /// Whether a sheet has been stored at this tile.
    bool stored(std::size_t sheet, Index i, Index j, Index tick) const;
    Trips trips(const WallEdge& edge, Index k, Index tick) const;
    /// The most reads of any tile of an edge in the whole recording, and likewise the most writes and reductions.
    Trips most_trips(const WallEdge& edge) const;
    /// Trips of a tensor per iteration of a visit's loop: about 1 where a tile of the tensor comes for every tile of
    /// scores, 0 where it stays on chip meanwhile.
    Trips trips_a_visit(const Visit& like, TensorId tensor) const;

  private:
    friend class WallReader;
    struct Trip {
        Index tick;
        Trips so_far;
    };
    std::size_t cell(Index i, Index j) const { return static_cast<std::size_t>(i * cols() + j); }
    std::size_t place(const WallEdge& edge) const { return static_cast<std::size_t>(&edge - edges_.data()); }
    void find_tensors();
    void find_edge(TensorId tensor);
    void sort_edges();
    void read_visits();
    void look_at_mask();
    WallGroup group(Span rows, Span cols) const;
    Index first_coat(const std::vector<std::size_t>& visits) const;
    Index first_done(Index i, Index j) const;
    Count scores_in(const Visit& v, Index i, Index j) const;
    void sort_visits();

    const Run& run_;
    Index head_;
    Parts parts_;
    Tiles rows_, cols_;
    std::vector<WallEdge> edges_;
    std::vector<WallSheet> sheets_;
    std::vector<Visit> visits_;
    std::vector<std::vector<std::size_t>> cells_;
    std::vector<Cover> covers_;
    Index skipped_ = 0, recorded_rows_ = 0;
    mutable Span grouped_{0, 0};  // rows and columns of tiles in a group
    mutable std::vector<WallGroup> groups_;
    std::map<std::pair<Index, Index>, std::vector<std::size_t>> ways_;
    std::vector<Index> first_begun_, first_done_;        // first coats: ticks, sorted
    std::vector<std::vector<Index>> stored_;             // by sheet, then by cell: the tick; -1: never
    std::vector<std::vector<std::vector<Trip>>> trips_;  // by edge, then by tile
    struct Habits {
        Index visits = 0;
        std::map<TensorId, Trips> trips;
    };
    std::map<std::pair<Index, Index>, Habits> habits_;  // by launch and loop, of this head's thread blocks
    std::map<Index, std::string> recomputed_;           // by launch
};

/// The walls of runs that are looked at, made when they are asked for.
class Walls {
  public:
    /// `version` changes with what the session shows.
    const Wall& of(const Run& run, Index head, std::uint64_t version);

  private:
    Told<Wall, const Run*, Index> told_;
};

/// The head that an SM works on, or did last, or will first.
Index head_of_sm(const Run& run, Index sm);

/// An SM at work on a wall.
struct Painter {
    Index sm;
    const Visit* visit;  ///< that it paints, or loads for; the last one where it has painted all
    const Visit* next;   ///< nullptr: none
    bool done;           ///< has painted all that it paints
    bool between;        ///< done with one visit, and not yet at the next: paints nothing
};
/// The painters: SMs that have a thread block of the wall's head in the tick shown.
std::vector<Painter> painters(const Run& run, const Wall& wall);

/// The painter of the SM in focus or, where this SM has none on this wall, another one at work; nullptr: nobody.
const Painter* looked_at(const std::vector<Painter>& painters, Index focus);

/// Which tiles of an edge lie on chip in the tick shown, for this head.
std::vector<bool> held(const Run& run, const Wall& wall, const std::vector<Painter>& painters, const WallEdge& edge);

/// The recorded heads that share K and V with this one, which is one of them.
std::vector<Index> heads_sharing(const Run& run, Index head);

/// How far a head is, in numbers of its thread blocks.
struct HeadState {
    Index done = 0, busy = 0, all = 0;
};
std::vector<HeadState> heads_of(const Run& run);

}  // namespace tilescope::show
