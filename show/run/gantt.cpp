#include "show/run/gantt.hpp"

#include <algorithm>

#include "core/machine/sorted.hpp"

namespace tilescope::show {
using namespace lab;
namespace {

/// Whether all thread blocks take equally long.
bool are_alike(const PlayedLaunch& p, Index slots) {
    return std::all_of(p.works.begin(), p.works.end(),
                       [&](const BlockWork& w) { return w.cycles(slots) == p.works[0].cycles(slots); });
}

/// The stays of a launch in microseconds, and what follows from them. Where thread blocks are alike, it does not matter
/// which of them start first: in the kernel's order they then start by their numbers, as in the recording.
void place_stays(GanttLaunch& l, const PlayedLaunch& p, Index sms, Order order) {
    const auto& stays = p.timeline.stays;
    const auto us = [&](double cycles) { return l.begin + cycles / l.time.clock_mhz; };
    Index blocks_of_head = 1;
    for (std::size_t axis = 1; axis < p.axes.size(); ++axis) blocks_of_head *= p.axes[axis].tiles.count();
    const bool as_numbered = order == Order::kernel && are_alike(p, l.slots());
    const auto block_of = [&](std::size_t stay) {
        if (as_numbered) return static_cast<Index>(stay);
        return static_cast<Index>(p.order[stay].head) * blocks_of_head + static_cast<Index>(p.order[stay].block);
    };
    std::vector<std::vector<std::size_t>> on_sm(static_cast<std::size_t>(sms));
    for (std::size_t k = 0; k < stays.size(); ++k) on_sm[stays[k].sm].push_back(k);
    // The model does not say which SM is called SM 0. Numbered by their first thread block, SMs have the same thread
    // blocks as in the recording, as far as the recording goes.
    sort_stably(on_sm, [&](const auto& a, const auto& b) {
        return !a.empty() && (b.empty() || block_of(a[0]) < block_of(b[0]));
    });
    l.stays.reserve(stays.size());
    l.stay_of_block.resize(stays.size());
    for (std::size_t sm = 0; sm < on_sm.size(); ++sm) {
        const std::vector<std::uint32_t> slots = slots_of(stays, on_sm[sm]);
        l.first_stay.push_back(l.stays.size());
        for (std::size_t n = 0; n < on_sm[sm].size(); ++n) {
            const std::size_t k = on_sm[sm][n];
            l.stay_of_block[static_cast<std::size_t>(block_of(k))] = l.stays.size();
            l.stays.push_back({block_of(k), static_cast<Index>(sm), static_cast<Index>(slots[n]), us(stays[k].from),
                               us(stays[k].to)});
        }
        auto& companies = l.companies.emplace_back();
        each_company(stays, on_sm[sm], [&](const Company& c) {
            const auto blocks = static_cast<Index>(c.stays.size());
            if (!companies.empty() && companies.back().blocks == blocks && companies.back().to == us(c.from))
                companies.back().to = us(c.to);
            else
                companies.push_back({us(c.from), us(c.to), blocks});
        });
    }
    l.first_stay.push_back(l.stays.size());
}

}  // namespace

std::span<const GanttStay> GanttLaunch::on_sm(Index sm) const {
    if (stays.empty()) return {};
    const auto k = static_cast<std::size_t>(sm);
    return std::span(stays).subspan(first_stay[k], first_stay[k + 1] - first_stay[k]);
}

const GanttStay* GanttLaunch::stay_of(Index block) const {
    const auto k = static_cast<std::size_t>(block);
    return k < stay_of_block.size() ? &stays[stay_of_block[k]] : nullptr;
}

std::vector<const GanttStay*> GanttLaunch::at(Index sm, double us) const {
    std::vector<const GanttStay*> there;
    for (const GanttStay& s : on_sm(sm))
        if (s.from <= us && us < s.to) there.push_back(&s);
    return there;
}

Gantt::Gantt(const Report& timed, std::vector<PlayedLaunch> played) : sms_(timed.experiment.gpu.sms) {
    double now = 0;
    for (std::size_t k = 0; k < played.size(); ++k) {
        const LaunchTime& t = timed.time->launches[k];
        GanttLaunch& l = launches_.emplace_back();
        l.time = t;
        l.from = now, l.begin = now + played[k].launch_us, l.to = now += t.us;
        l.last_start = l.begin + played[k].timeline.last_start / t.clock_mhz;
        l.axes = played[k].axes;
        if (!played[k].timeline.stays.empty()) place_stays(l, played[k], sms_, timed.experiment.placing.order);
    }
}

Index Gantt::sms_used() const {
    Index used = 0;
    for (const GanttLaunch& l : launches_) used = std::max(used, l.time.sms);
    return used;
}

const GanttLaunch& Gantt::longest() const {
    return *std::max_element(launches_.begin(), launches_.end(),
                             [](const GanttLaunch& a, const GanttLaunch& b) { return a.time.us < b.time.us; });
}

std::vector<double> Gantt::taken(std::size_t columns, double us) const {
    std::vector<double> share(columns, 0);
    const double width = us / static_cast<double>(columns);
    const auto add = [&](double from, double to, double part) {
        for (auto k = static_cast<std::size_t>(from / width); k < columns && static_cast<double>(k) * width < to; ++k) {
            const double begin = static_cast<double>(k) * width;
            share[k] += part * (std::min(to, begin + width) - std::max(from, begin)) / width;
        }
    };
    for (const GanttLaunch& l : launches_) {
        const auto slots = static_cast<double>(l.slots());
        if (l.stays.empty()) add(l.begin, l.to, l.time.resident / slots);
        for (const auto& lane : l.companies)
            for (const GanttCompany& c : lane)
                add(c.from, c.to, static_cast<double>(c.blocks) / (slots * static_cast<double>(sms_)));
    }
    return share;
}

}  // namespace tilescope::show
