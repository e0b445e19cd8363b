// The lanes at each operation of a recorded run. A recording has the operations in the order of the program; lanes
// carry them out at the same time, and this says when.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "lab/model/laned.hpp"
#include "show/run/run.hpp"
#include "show/stage/lanes.hpp"

namespace tilescope::show {

/// What lanes do when an operation begins.
struct LaneMoment {
    const LaneView* view;  ///< cycle 0 is where the first product of the operation's key tile begins
    double cycle;          ///< when the first warpgroup begins the operation
    const std::vector<std::uint32_t>* segments;  ///< that carry it out: numbers in LaneView::segments()
    bool own;  ///< false: it takes no time of its own; the segments are those of the pass over a tile beside it
};

/// Plays one thread block alone on its SM, with as many key tiles as the run's block has, all of them full. What is
/// told of an operation depends on nothing but the operation, so that a walk goes both ways.
class LaneWalk {
  public:
    /// `run` must outlive this object.
    explicit LaneWalk(const Run& run) : run_(run), timed_(lab::has_timed_lanes(run.experiment())) {}

    /// Whether the run's kernel has lanes whose times are modelled.
    bool exists() const { return timed_; }
    /// At the operation of the step shown; nullopt where the SM has none, or none that a lane carries out. Valid until
    /// the next call.
    std::optional<LaneMoment> at(const SmState& sm);

  private:
    struct Place {
        Index tile;  ///< the turn of the loop over keys that the operation belongs to
        const std::vector<std::uint32_t>* segments;
        bool own;
    };
    void walk(Index launch, Index block);
    void play(Index tiles);
    const LaneView& view_of(Index tile);

    const Run& run_;
    const bool timed_;
    Index launch_ = -1, block_ = -1;  // the block that was walked
    std::map<Index, Place> places_;   // of its operations, by step of the recording
    Index tiles_ = 0;                 // key tiles that were played
    lab::PlayedLanes played_;
    std::map<std::tuple<LaneDoing, std::string, Index>, std::vector<std::uint32_t>> segments_;  // by what and turn
    Index tile_ = -1;                                                                           // that the view is of
    std::optional<LaneView> view_;
};

/// "Carried out by WG1 in cycles 762 to 1,430, by WG2 in cycles 2,219 to 2,903."
std::string carried_out_text(const LaneMoment& moment);

}  // namespace tilescope::show
