// The plane of tile sizes: every tiling of a problem, first counted, then timed roughly, then timed exactly.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "core/machine/parallel.hpp"
#include "lab/run/experiment.hpp"

namespace tilescope::lab {

/// How well a cell's time and DRAM traffic are known. Fit, counts and occupancy are exact as soon as they exist.
enum class Known : std::uint8_t {
    pending,    ///< there are none yet
    estimated,  ///< the time if nothing missed in the L2; no DRAM traffic yet
    exact,      ///< as `tilescope run` has them
};

struct PlaneCell {
    Tiling tiling;
    bool fits = false;
    Space lacks_room = Space::sram;        ///< the space that is too small, where the tiling does not fit
    std::optional<Report> report = {};     ///< where it fits; with a time from `estimated` on
    std::vector<Occupancy> launches = {};  ///< where it fits
    Known known = Known::pending;

    /// The residency of the launch with the fewest thread blocks on an SM.
    const Residency& residency() const;
    /// Whether a thread would need more registers than there are.
    bool spills() const;
    /// Whether the cell has a time, or will get one: it fits on chip and in HBM, and an SM has room for a thread block.
    bool has_time() const;
    /// why_infeasible() of the cell's run.
    std::string why_infeasible() const;
};

class TilePlane {
  public:
    /// Up to 32 x 32 tilings, up to 512 or the problem's size; Br and Bc of `e` are ignored. The algorithm has to
    /// outlive the plane.
    explicit TilePlane(Experiment e);

    const Experiment& experiment() const { return e_; }
    const std::vector<Index>& brs() const { return brs_; }  ///< of the rows of cells
    const std::vector<Index>& bcs() const { return bcs_; }  ///< of the columns of cells

    /// Does the next unit of work and returns how many are left, for a Job. The first unit counts all cells (where a
    /// tiling does not fit, wider ones do not either). Every other unit times one cell: first all cells without the L2,
    /// then all with it. Throws Interrupted, and what a wrong program throws.
    Index work(Control& control);
    /// Makes this cell the next one that is timed; the others follow, the fastest first. Cells are numbered row by row.
    void look_at(std::size_t cell);

    // Other threads may call these while one thread is in work().

    /// How many tilings of each row fit into SRAM if registers were unlimited, and into registers if SRAM was.
    struct Limits {
        std::vector<std::size_t> sram, registers;
    };
    Limits limits() const;

    /// Rises whenever a cell has changed; 0 until all cells are counted.
    std::uint64_t version() const;
    template <class F>
    auto read(F&& f) const {
        const Lock lock(mutex_);
        return f(std::as_const(cells_));
    }

    /// How far estimated times are from exact ones, over the cells that have had both.
    struct EstimateError {
        Index cells = 0;
        double mean = 0, worst = 0;  ///< relative to the exact time; worst: with its sign
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
    std::vector<std::size_t> order_;  // the cells that get a time, in the order of timing
    std::size_t timed_ = 0;           // how many times were found: up to two per cell

    mutable Mutex mutex_;  // guards all members below
    std::vector<PlaneCell> cells_;
    Limits limits_;
    std::optional<std::size_t> looked_at_;
    std::uint64_t version_ = 0;
    EstimateError error_;
};

/// The tile sizes along an axis of `rows` rows.
std::vector<Index> plane_sizes(Index rows);

}  // namespace tilescope::lab
