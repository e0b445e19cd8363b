#include "show/words/roles_text.hpp"

#include <vector>

#include "algorithms/contract/roles.hpp"
#include "core/text/message.hpp"
#include "core/text/page.hpp"
#include "core/text/words.hpp"

namespace tilescope::show {
using text::message;
namespace {

std::string about_thread_blocks(Index persistent) {
    switch (persistent) {
        case dealt:
            return message("roles.persistent_static");
        case dealt_in_pairs:
            return message("roles.persistent_paired");
        case by_counter:
            return message("roles.persistent_counter");
        default:
            return message("roles.persistent_off");
    }
}

}  // namespace

std::string roles_text(const lab::Experiment& e) {
    const Tiling& t = e.tiling;
    if (!has_knob(e.algorithm->knobs, &Tiling::specialised) || t.slots == 0 || t.warpgroups == 0) return "";
    std::vector<std::string> groups;
    for (Index k = 1; k <= t.warpgroups; ++k) groups.push_back(message("lanes.warpgroup", std::to_string(k)));
    std::vector<std::string> words = {message(t.specialised == off ? "roles.no_producer" : "roles.producer", t.slots),
                                      message("roles.warpgroups", t.warpgroups, text::listed(groups))};
    if (t.warpgroups > 1) words.push_back(message(t.turns == on ? "roles.turns" : "roles.no_turns"));
    words.push_back(message(t.overlap == on ? "roles.overlap" : "roles.no_overlap"));
    if (t.cluster > 1) words.push_back(message("roles.cluster", t.cluster));
    words.push_back(about_thread_blocks(t.persistent));
    return text::sentences(words);
}

std::string lanes_text(std::span<const std::pair<std::string, LaneSpec>> lanes) {
    std::vector<std::string> words;
    for (const auto& [name, spec] : lanes)
        words.push_back(spec.registers_per_thread > 0
                            ? message("roles.lane_with_registers", name, spec.warps, spec.registers_per_thread)
                            : message("roles.lane", name, spec.warps));
    return text::join(words, "; ");
}

}  // namespace tilescope::show
