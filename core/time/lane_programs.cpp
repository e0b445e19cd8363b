#include "core/time/lane_programs.hpp"

#include <algorithm>

#include "core/text/message.hpp"
#include "core/time/lane_acts.hpp"

namespace tilescope {
using text::message;

LaneMachine machine_of(const LaneConstants& c, const LanedKernel& k) {
    return {.bus = c.bus,
            .latency = c.latency + k.misses * c.dram_latency,
            .port = c.port,
            .dram = k.misses > 0 ? c.dram / k.misses : 0,
            .credit = c.credit};
}

LanePrograms::LanePrograms(const Rates& rates, const LaneConstants& constants, const LanedKernel& kernel, Index tiles,
                           Index block)
    : rates_(rates), c_(constants), kernel_(kernel), tiles_(tiles), block_(block), machine_(machine_of(c_, kernel_)) {
    machine_.name_of = [this](Signal f) { return name_of(f); };
}

void LanePrograms::end(const BlockMark&) {
    LaneActs acts(record_, rates_, c_, kernel_);
    acts.add_tiles(tiles_);
    programs_ = acts.take_programs(), flags_ = acts.take_flags();
    const std::size_t lanes = programs_.size();
    programs_.reserve(lanes * static_cast<std::size_t>(kernel_.blocks));
    for (Index b = 1; b < kernel_.blocks; ++b)
        for (std::size_t l = 0; l < lanes; ++l) {
            LaneProgram& copy = programs_.emplace_back(programs_[l]);
            copy.name = message("lanes.of_block", programs_[l].name, std::to_string(b + 1));
            for (Act& a : copy.acts)
                for (Signal* f : {&a.flag, &a.frees})
                    if (*f != no_signal) *f += static_cast<Signal>(b) * static_cast<Signal>(flags_.size());
        }
}

std::string LanePrograms::name_of(Signal f) const {
    const LaneFlag& flag = flags_.at(f % flags_.size());
    const std::size_t first = f / flags_.size() * (programs_.size() / static_cast<std::size_t>(kernel_.blocks));
    const std::string& by = programs_[first + flag.program].name;
    const auto when = [&](const std::string& name) {
        const std::string of_step = flag.step < 0 ? name : message("lanes.of_step", name, std::to_string(flag.step));
        return tiles_ == 1 ? of_step : message("lanes.of_tile", of_step, std::to_string(flag.tile + 1));
    };
    switch (flag.says) {
        case LaneFlag::Says::made:
            return when(flag.name);
        case LaneFlag::Says::product:
            return when(message("lanes.product_of", flag.name, by));
        case LaneFlag::Says::freed:
            return message("lanes.slot_of", std::to_string(flag.number), flag.name);
        case LaneFlag::Says::turn:
            return message("lanes.turn_of", by);
        case LaneFlag::Says::meeting:
            return message("lanes.meeting_of", flag.name);
        case LaneFlag::Says::stored:
            return when(message("lanes.store_of", flag.name));
    }
    return {};
}

}  // namespace tilescope
