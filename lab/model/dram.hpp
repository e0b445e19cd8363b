// How much of a run's SM traffic reaches DRAM: the L2, played launch by launch.
#pragma once

#include <functional>
#include <string>

#include "core/record/accesses.hpp"
#include "core/record/outline.hpp"
#include "core/time/l2.hpp"
#include "lab/run/experiment.hpp"

namespace tilescope::lab {

class DramModel {
  public:
    static constexpr double most_visits = 4 << 20;  ///< most visits of tiles in HBM with which the L2 is played
    /// `outline`: of the same run as `counted`. Both have to outlive this object.
    DramModel(const Report& counted, const Outline& outline, double at_most = most_visits);

    /// `first`: with an empty L2, as hardware counters measure. `again`: when the run is repeated, as for times.
    struct Traffic {
        DramTraffic first, again;
    };
    /// The cycles of thread blocks, by their number within a head; called only where thread blocks have to be played.
    using Kinds = std::function<std::vector<BlockCycles>()>;
    /// The traffic of a launch. Where its visits of tiles are too many, only its first heads are played, and every
    /// further head is assumed to add as much. nullopt, with a reason in why_not(), where that is not possible.
    std::optional<Traffic> of(std::size_t launch, const Kinds& kinds, Index slots, Refill refill);

    /// The counted SM traffic of a launch.
    Counters counted(std::size_t launch) const;
    /// Why of() returned nullopt for a launch; empty if there was no reason so far.
    const std::string& why_not() const { return why_not_; }

  private:
    void find_accesses();
    /// The number of heads after which a launch repeats, in the order of its thread blocks; nullopt: it never does.
    std::optional<Index> period(std::size_t launch) const;
    std::vector<Sharing> sharing_of(const LaunchAccesses& head) const;
    DramTraffic play_heads(std::size_t launch, Index heads, const std::vector<BlockCycles>& kinds, Index slots,
                           Refill refill, DramTraffic* again, std::span<Mark> marks = {}) const;
    std::optional<DramTraffic> folded(std::size_t launch, const std::vector<BlockCycles>& kinds, Index slots,
                                      Refill refill) const;

    const Report& report_;
    const Outline& outline_;
    const double at_most_;
    Accesses accesses_;
    std::string why_not_;
};

}  // namespace tilescope::lab
