#include "core/time/timeline.hpp"

#include <algorithm>
#include <queue>
#include <random>

namespace tilescope {
namespace {

constexpr double same_instant = 1e-9, done = 1e-9;  // relative; of a block

struct Resident {
    double left;  ///< of the block, 1 to 0
    std::uint32_t kind;
    std::size_t block;
};

struct Sm {
    std::vector<Resident> residents;
    double now = 0;
    std::uint32_t version = 0;  ///< of its next end
};

struct End {
    double when;
    std::uint32_t sm, version;
    friend bool operator>(const End& a, const End& b) { return std::pair(a.when, a.sm) > std::pair(b.when, b.sm); }
};

class Player {
  public:
    Player(const Grid& grid, Index sms, Index slots, Refill refill, double uneven)
        : grid_(grid), refill_(refill), uneven_(uneven), blocks_(grid.blocks()), sms_(static_cast<std::size_t>(sms)) {
        for (Sm& sm : sms_) sm.residents.reserve(static_cast<std::size_t>(slots));
        std::vector<std::uint32_t> order(sms_.size());
        for (std::size_t k = 0; k < order.size(); ++k) order[k] = static_cast<std::uint32_t>(k);
        for (Index round = 0; round < slots; ++round) {
            for (const std::uint32_t sm : order) start(sms_[sm]);
            for (std::size_t k = order.size(); k > 1; --k) std::swap(order[k - 1], order[random_() % k]);
        }
        for (std::uint32_t sm = 0; sm < sms_.size(); ++sm) expect(sm);
    }

    Timeline run() {
        while (!ends_.empty()) {
            // Whose end comes first within the instant is a matter of rounding: for what follows they end at once.
            const double instant = ends_.top().when;
            freed_.clear();
            while (!ends_.empty() && ends_.top().when <= instant * (1 + same_instant)) {
                const End e = ends_.top();
                ends_.pop();
                if (sms_[e.sm].version == e.version) end(e.sm, instant);
            }
            std::sort(freed_.begin(), freed_.end());
            refill();
            for (const auto& [sm, slots] : freed_) expect(sm);
        }
        for (const Stay& s : t_.stays) t_.after_start += std::max(0.0, s.to - std::max(s.from, t_.last_start));
        t_.resident = t_.cycles > 0 ? slot_time_ / t_.cycles / static_cast<double>(sms_.size()) : 0;
        return t_;
    }

  private:
    double cycles_with(std::size_t residents, const Resident& r) const { return grid_.kinds[r.kind][residents - 1]; }
    double rate(const Sm& sm, const Resident& r) const { return 1 / cycles_with(sm.residents.size(), r); }

    void start(Sm& sm) {
        if (next_ == blocks_) return;
        const auto block = static_cast<std::size_t>(next_++);
        sm.residents.push_back({1 + uneven_ * (static_cast<double>(random_()) / 4294967296.0 - 0.5),
                                grid_.sequence[block % grid_.sequence.size()], block});
        t_.stays.push_back({static_cast<std::uint32_t>(&sm - sms_.data()), sm.now, 0});
        t_.last_start = sm.now;
    }
    void expect(std::uint32_t number) {
        Sm& sm = sms_[number];
        ++sm.version;
        double first = -1;
        for (const Resident& r : sm.residents)
            if (const double t = r.left / rate(sm, r); first < 0 || t < first) first = t;
        if (first >= 0) ends_.push({sm.now + first, number, sm.version});
    }
    void end(std::uint32_t number, double instant) {
        Sm& sm = sms_[number];
        const double passed = instant - sm.now;
        for (Resident& r : sm.residents) r.left -= passed * rate(sm, r);
        slot_time_ += passed * static_cast<double>(sm.residents.size());
        sm.now = t_.cycles = instant;
        const std::size_t before = sm.residents.size();
        // Late in a long run rounding leaves more of a short block than `done`.
        std::erase_if(sm.residents, [&](const Resident& r) {
            if (r.left > done && r.left * cycles_with(before, r) > sm.now * 2 * same_instant) return false;
            t_.stays[r.block].to = sm.now;
            return true;
        });
        freed_.emplace_back(number, before - sm.residents.size());
    }
    void refill() {
        for (bool more = true; more && next_ < blocks_;) {
            more = false;
            for (auto& [sm, slots] : freed_)
                while (slots > 0) {
                    start(sms_[sm]);
                    --slots, more = true;
                    if (refill_ == Refill::spread) break;
                }
        }
    }

    const Grid& grid_;
    const Refill refill_;
    const double uneven_;
    std::mt19937 random_{1};
    const Count blocks_;
    Count next_ = 0;
    std::vector<Sm> sms_;
    std::priority_queue<End, std::vector<End>, std::greater<>> ends_;
    std::vector<std::pair<std::uint32_t, std::size_t>> freed_;
    double slot_time_ = 0;
    Timeline t_;
};

}  // namespace

Count last_wave(Count blocks, Index sms, Index slots) {
    const Count wave = sms * slots;
    return blocks > wave ? (blocks - 1) % wave + 1 : 0;
}

Index most_on_an_sm(Count wave, bool first, Index sms, Index slots, Refill refill) {
    return first || refill == Refill::spread ? ceil_div(wave, sms) : std::min<Count>(wave, slots);
}

Timeline play_alike(const BlockCycles& cycles, const BlockCycles& last, Count blocks, Index sms, Index slots,
                    Refill refill) {
    Timeline t;
    if (blocks == 0) return t;
    const double full = cycles[static_cast<std::size_t>(slots - 1)];
    const Count after_others = last_wave(blocks, sms, slots), left = after_others > 0 ? after_others : blocks;
    const Count waves = (blocks - left) / (sms * slots);
    t.last_start = static_cast<double>(waves) * full;
    // Later waves go as slots become free.
    const bool one_by_one = waves == 0 || refill == Refill::spread;
    const Index most = most_on_an_sm(left, waves == 0, sms, slots, refill);
    const Count with_most = one_by_one ? left - (most - 1) * sms : left / most;  // SMs
    const auto time_of = [&](Index residents) {
        return (waves == 0 ? cycles : last)[static_cast<std::size_t>(residents - 1)];
    };
    const Index rest = one_by_one ? most - 1 : left - with_most * most;  // residents of the others, or of one more SM
    const Count with_rest = rest == 0 ? 0 : one_by_one ? sms - with_most : 1;
    t.after_start = static_cast<double>(with_most * most) * time_of(most) +
                    (rest > 0 ? static_cast<double>(with_rest * rest) * time_of(rest) : 0);
    t.cycles = t.last_start + time_of(most);
    t.resident = (static_cast<double>(blocks - left) * full + t.after_start) / t.cycles / static_cast<double>(sms);
    return t;
}

Timeline play(const Grid& grid, Index sms, Index slots, Refill refill, double uneven) {
    if (grid.blocks() == 0) return {};
    return Player(grid, sms, slots, refill, uneven).run();
}

}  // namespace tilescope
