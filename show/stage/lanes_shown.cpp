#include "show/stage/lanes_shown.hpp"

#include <algorithm>
#include <cmath>

#include "algorithms/contract/roles.hpp"
#include "core/text/message.hpp"
#include "show/stage/lanes_text.hpp"

namespace tilescope::show {
namespace {

struct SimplerKernel {
    const char* title;
    bool one, turns, overlap;
};
constexpr SimplerKernel simpler_kernels[] = {{"lanes_shown.one", true, false, false},
                                             {"lanes_shown.free", false, false, false},
                                             {"lanes_shown.turns", false, true, false}};

lab::Experiment simpler(lab::Experiment e, const SimplerKernel& k) {
    e.tiling.turns = k.turns ? on : off, e.tiling.overlap = k.overlap ? on : off;
    if (!k.one) return e;
    e.tiling.br /= e.tiling.warpgroups;
    e.tiling.warpgroups = 1;
    return e;
}

}  // namespace

std::span<const LaneView> LanesShown::of(const lab::Experiment& e, Lanes which, std::uint64_t version) {
    if (!views_.empty() && version == version_ && which == which_) return views_;
    version_ = version, which_ = which;
    views_.clear(), titles_.clear();
    if (which == Lanes::four)
        for (const SimplerKernel& k : simpler_kernels) {
            views_.push_back(lane_view(simpler(e, k)));
            titles_.push_back(text::message(k.title));
        }
    views_.push_back(lane_view(e));
    if (which == Lanes::four) titles_.push_back(text::message("lanes_shown.own"));
    on_one_axis(views_);
    return views_;
}

Index next_cycle(std::span<const LaneView> views, Index cycle, int direction) {
    const auto last = static_cast<Index>(views[0].cycles());
    Index nearest = direction > 0 ? last : 0;
    for (const LaneView& view : views)
        for (const LaneSegment& s : view.segments()) {
            if (s.doing == LaneDoing::load || s.doing == LaneDoing::hand_on) continue;
            const auto at = static_cast<Index>(std::llround(s.from));
            if (at < 0 || at > last) continue;
            if (direction > 0 && at > cycle) nearest = std::min(nearest, at);
            if (direction < 0 && at < cycle) nearest = std::max(nearest, at);
        }
    return nearest;
}

Index cycle_of(const View& view, std::span<const LaneView> views) {
    const auto last = static_cast<Index>(views[0].cycles());
    return std::clamp<Index>(view.cycle ? *view.cycle : static_cast<Index>(telling_cycle(views.back())), 0, last);
}

}  // namespace tilescope::show
