// The plane of tile sizes: what can be said of every tiling of a problem, the quick things first.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "core/machine/parallel.hpp"
#include "lab/timing.hpp"

namespace tilescope::lab {

/// Where a cell's time and DRAM traffic come from. Fit, counts and occupancy are exact wherever they are there.
enum class Known : std::uint8_t {
    pending,    ///< there are none yet
    estimated,  ///< the time is that of an L2 which lacks nothing; no DRAM traffic yet
    exact,      ///< as `tilescope run` has them
};

struct PlaneCell {
    Tiling tiling;
    bool fits = false;
    Space lacks_room = Space::sram;        ///< where it does not fit
    std::optional<Report> report = {};     ///< where it fits; with a time from `estimated` on
    std::vector<Occupancy> launches = {};  ///< where it fits
    Known known = Known::pending;

    /// Thread blocks on an SM, of the launch that has fewest of them.
    const Residency& residency() const;
    /// Whether a thread would need more registers than there are.
    bool spills() const;
    /// Whether it has a time, or will have: it fits, in HBM too.
    bool has_time() const;
    /// As why_infeasible() of its run.
    std::string why_infeasible() const;
};

class TilePlane {
  public:
    /// All tilings in up to 32 x 32 steps, to 512 or to the problem's end; `e` without its own. `e`'s algorithm stays.
    explicit TilePlane(Experiment e);

    const Experiment& experiment() const { return e_; }
    const std::vector<Index>& brs() const { return brs_; }  ///< of the rows
    const std::vector<Index>& bcs() const { return bcs_; }  ///< of the columns

    /// Does the next unit and returns how many are left, for a Job: the first counts all cells (and finds what fits:
    /// what does not fit does not fit wider), each of the others times one, all of them without the L2 before the
    /// first with it. Throws Interrupted, and what a wrong program throws.
    Index work(Control& control);
    /// This cell is timed next; the others the fastest first. Cells are numbered row by row.
    void look_at(std::size_t cell);

    // While one thread works, others may ask.

    /// How many tilings of each row have room in SRAM, and in registers, where the other space is endless.
    struct Limits {
        std::vector<std::size_t> sram, registers;
    };
    Limits limits() const;

    /// Rises whenever a cell has changed; 0: nothing is there yet.
    std::uint64_t version() const;
    template <class F>
    auto read(F&& f) const {
        const Lock lock(mutex_);
        return f(std::as_const(cells_));
    }

    /// Of estimated times against exact ones, where there are both.
    struct EstimateError {
        Index cells = 0;
        double mean = 0, worst = 0;  ///< shares of the exact; worst: with its sign
    };
    EstimateError estimate_error() const;

  private:
    Tiling with_parts(Index br, Index bc) const;
    void count_all(Control& control);
    std::vector<std::size_t> border(const GpuSpec& gpu, Control& control) const;
    void time(std::size_t cell, Known as, Control& control);
    std::optional<std::size_t> next(Known as);
    void fastest_first();

    const Experiment e_;
    const std::vector<Index> brs_, bcs_;
    std::vector<std::size_t> order_;  // of what fits: in which it is timed
    std::size_t timed_ = 0;           // once or twice each

    mutable Mutex mutex_;  // of all that follows
    std::vector<PlaneCell> cells_;
    Limits limits_;
    std::optional<std::size_t> looked_at_;
    std::uint64_t version_ = 0;
    EstimateError error_;
};

/// The sizes along an axis of so many rows.
std::vector<Index> plane_sizes(Index rows);

}  // namespace tilescope::lab
