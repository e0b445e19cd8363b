#include "show/stage/l2_shown.hpp"

#include <algorithm>
#include <numeric>

#include "core/time/l2.hpp"

namespace tilescope::show {

L2Shown::L2Shown(const Run& run) : run_(run), keyframe_every_(std::max<Index>(256, run.ticks() / 32)) {
    std::size_t tiles = 0;
    for (const RecordedTensor& t : run.trace().tensors()) first_.push_back(tiles), tiles += t.regions.size();
    first_.push_back(tiles);
    now_.read.assign(run.trace().tensors().size(), 0);
    empty();
    keyframes_.push_back(now_);
}

void L2Shown::empty() { now_.caches = caches_for(l2_of(run_.experiment().gpu), first_.back()); }

void L2Shown::seek(Index tick) {
    if (tick == now_.tick) return;
    // A keyframe before `tick`, so that the accesses of `tick` itself are carried out.
    const auto before = static_cast<std::size_t>(std::max<Index>(0, tick - 1) / keyframe_every_);
    const State& keyframe = keyframes_[std::min(before, keyframes_.size() - 1)];
    if (tick < now_.tick || keyframe.tick > now_.tick) now_ = keyframe, missed_.clear();
    while (now_.tick < tick) advance();
}

void L2Shown::advance() {
    missed_.clear();
    const Index end = run_.schedule().steps_after(now_.tick + 1);
    for (Index step = run_.schedule().steps_after(now_.tick); step < end; ++step) carry_out(step);
    ++now_.tick;
    if (now_.tick == static_cast<Index>(keyframes_.size()) * keyframe_every_) keyframes_.push_back(now_);
}

void L2Shown::carry_out(Index number) {
    const Step& step = run_.trace()[number];
    if (step.kind() == Kind::launch) empty();
    if (!step.moves_data()) return;
    const Event& e = step.event;
    const Bytes read = e.cost.hbm_read, written = e.cost.hbm_sent();
    if (!exists()) {
        missed_[number] = read, now_.read[e.region.tensor] += read, now_.written += written;
        return;
    }
    const Placement* at = run_.schedule().placement_of(step.launch, e.block);
    const auto started = static_cast<std::size_t>(at - run_.schedule().placements_of(step.launch).data());
    Cache& cache = now_.caches[started % now_.caches.size()];
    const int partition = partition_of(static_cast<std::uint32_t>(at->sm), cache.partitions());
    const auto tile = static_cast<std::uint32_t>(first_[e.region.tensor] + static_cast<std::size_t>(step.region));
    const DramTraffic before = cache.dram();
    read > 0 ? cache.read(partition, tile, read) : cache.write(partition, tile, written);
    const DramTraffic after = cache.dram();
    missed_[number] = after.read - before.read;
    now_.read[e.region.tensor] += after.read - before.read;
    now_.written += after.written - before.written;
}

Bytes L2Shown::held() const {
    return std::accumulate(now_.caches.begin(), now_.caches.end(), Bytes{0},
                           [](Bytes sum, const Cache& c) { return sum + c.held(); });
}

double L2Shown::share_held(TensorId tensor, std::size_t region) const {
    const RecordedTensor& t = run_.trace().tensors()[tensor];
    const Region& r = t.regions[region];
    const auto bytes = static_cast<double>(r.rows.size * r.cols.size * size_of(t.dtype));
    Bytes held = 0;
    for (const Cache& c : now_.caches) held += c.held(static_cast<std::uint32_t>(first_[tensor] + region));
    return bytes > 0 ? std::min(1.0, static_cast<double>(held) / bytes) : 0;
}

Bytes L2Shown::missed(Index step) const {
    const auto known = missed_.find(step);
    return known == missed_.end() ? 0 : known->second;
}

Bytes L2Shown::dram_read() const { return std::accumulate(now_.read.begin(), now_.read.end(), Bytes{0}); }

const L2Shown& L2sShown::of(const Run& run, std::uint64_t version) {
    L2Shown& l2 = told_.of(version, {&run}, [&] { return L2Shown(run); });
    l2.seek(run.tick());
    return l2;
}

}  // namespace tilescope::show
