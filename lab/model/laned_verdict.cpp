#include "lab/model/laned_verdict.hpp"

#include <algorithm>

#include "core/text/message.hpp"
#include "core/text/numbers.hpp"

namespace tilescope::lab {
using text::message;
namespace {

constexpr double nearly_all = 0.92, most_of_step = 0.75, long_wait = 0.2;  // shares of a step

double share(double cycles, const TileLaw& law) { return cycles / law.step; }

/// The longest wait for a tile by a lane that computes, or of all lanes that compute; nullptr: there is none.
const TileLaw::Wait* longest_wait(const TileLaw& law, bool for_tiles) {
    const auto found = std::find_if(law.waits.begin(), law.waits.end(), [&](const TileLaw::Wait& w) {
        const bool of_producer = w.awaited == Awaited::slot || w.awaited == Awaited::stored;
        return !of_producer && (!for_tiles || w.awaited == Awaited::load);
    });
    return found == law.waits.end() ? nullptr : &*found;
}

std::string awaited_by(const TileLaw::Wait& w, const TileLaw& law) {
    const std::string part = text::percent(share(w.cycles, law));
    if (w.awaited == Awaited::turn) return message("laned.waits_for_turn", w.lane, part);
    if (w.awaited == Awaited::all) return message("laned.waits_for_all", w.lane, part);
    return message(w.awaited == Awaited::load      ? "laned.waits_for_load"
                   : w.awaited == Awaited::product ? "laned.waits_for_product"
                                                   : "laned.waits_for_work",
                   w.lane, w.what, part);
}

}  // namespace

LanedLimit laned_limit(const TileLaw& law) {
    const double tensor = share(law.busy.tensor, law), cuda = share(law.busy.cuda, law);
    if (const TileLaw::Wait* w = longest_wait(law, true); w && share(w->cycles, law) >= long_wait)
        return LanedLimit::ring;
    if (cuda >= nearly_all) return tensor >= most_of_step ? LanedLimit::both : LanedLimit::cuda;
    return tensor >= nearly_all ? LanedLimit::tensor : LanedLimit::waits;
}

Bound laned_bound(const TileLaw& law) {
    switch (laned_limit(law)) {
        case LanedLimit::both:
            return law.busy.cuda > law.busy.tensor ? Bound::exp : Bound::tensor;
        case LanedLimit::tensor:
            return Bound::tensor;
        case LanedLimit::cuda:
            return Bound::exp;
        default:
            return Bound::dependency;
    }
}

std::string verdict_of(const TileLaw& law) {
    const std::string tensor = text::percent(share(law.busy.tensor, law)),
                      cuda = text::percent(share(law.busy.cuda, law)), exp = text::percent(share(law.busy.exp, law));
    const LanedLimit limit = laned_limit(law);
    if (limit == LanedLimit::both) return message("laned.both", tensor, cuda);
    if (limit == LanedLimit::cuda) return message("laned.cuda", cuda, exp, tensor);
    if (limit == LanedLimit::tensor) return message("laned.tensor", tensor, cuda);
    const TileLaw::Wait* w = longest_wait(law, limit == LanedLimit::ring);
    if (!w) return message("laned.no_wait", tensor, cuda);
    return message(limit == LanedLimit::ring ? "laned.ring" : "laned.waits", tensor, cuda, awaited_by(*w, law));
}

}  // namespace tilescope::lab
