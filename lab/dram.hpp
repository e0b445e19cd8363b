// What of a run's SM traffic reaches DRAM: the L2, played launch by launch.
#pragma once

#include <functional>
#include <string>

#include "core/record/accesses.hpp"
#include "core/record/outline.hpp"
#include "core/time/l2.hpp"
#include "lab/experiment.hpp"

namespace tilescope::lab {

class DramModel {
  public:
    static constexpr double most_visits = 4 << 20;  ///< of tiles in HBM, that the L2 is played with
    /// `outline`: of the run that `counted` tells of. Both have to stay.
    DramModel(const Report& counted, const Outline& outline, double at_most = most_visits);

    /// With an empty L2, as hardware counters have it, and run after run, as times are taken.
    struct Traffic {
        DramTraffic first, again;
    };
    /// How long thread blocks take, by their number within a head; asked for where they have to be played.
    using Kinds = std::function<std::vector<BlockCycles>()>;
    /// Of a launch. Where all its visits of tiles are too many to be played, its first heads are, and what each further
    /// one adds repeats; nullopt where it does not.
    std::optional<Traffic> of(std::size_t launch, const Kinds& kinds, Index slots, Refill refill);

    /// SM traffic of a launch.
    Counters counted(std::size_t launch) const;
    /// Why there is none, of the launches so far; empty where there is.
    const std::string& why_not() const { return why_not_; }

  private:
    void find_accesses();
    std::string too_many() const;
    /// Heads after which a launch goes on as it began, in the order of its thread blocks; none where it never does.
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
