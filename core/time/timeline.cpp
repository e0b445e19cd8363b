#include "core/time/timeline.hpp"

#include <algorithm>
#include <queue>
#include <random>
#include <unordered_map>
#include <utility>

#include "core/time/lone_blocks.hpp"

namespace tilescope {
namespace {

constexpr double done = 1e-9;  // share of a block

struct Resident {
    double left;  ///< of the block, 1 to 0
    std::uint32_t kind;
    const BlockCycles* cycles;
    std::size_t block;
};

/// Whether a block has a much larger share of L2 and DRAM among `at_work` blocks than it had among `before` blocks.
bool much_fewer(Count at_work, Count before) { return 16 * at_work <= 15 * before; }

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

class Playing {
  public:
    Playing(const Grid& grid, Index sms, Index slots, Refill refill, double uneven)
        : grid_(grid), refill_(refill), uneven_(uneven), blocks_(grid.blocks()), sms_(static_cast<std::size_t>(sms)) {
        for (Sm& sm : sms_) sm.residents.reserve(static_cast<std::size_t>(slots));
        std::vector<std::uint32_t> order(sms_.size());
        for (std::size_t k = 0; k < order.size(); ++k) order[k] = static_cast<std::uint32_t>(k);
        for (Index round = 0; round < slots; ++round) {
            for (const std::uint32_t sm : order) start(sms_[sm]);
            for (std::size_t k = order.size(); k > 1; --k) std::swap(order[k - 1], order[random_() % k]);
        }
        t_.shared.push_back({0, at_work_});
        for (std::uint32_t sm = 0; sm < sms_.size(); ++sm) expect(sm);
    }

    Timeline run() {
        bool some_waited = next_ < blocks_;
        while (!ends_.empty()) {
            // Which block ends first within the instant depends on rounding alone, so all of them end at once.
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
            if (next_ < blocks_) continue;
            const Count before = t_.shared.back().at_work;
            if (std::exchange(some_waited, false) ? at_work_ < before : grid_.again && much_fewer(at_work_, before))
                share(instant);
        }
        for (const Stay& s : t_.stays) t_.after_start += std::max(0.0, s.to - std::max(s.from, t_.last_start));
        t_.resident = t_.cycles > 0 ? slot_time_ / t_.cycles / static_cast<double>(sms_.size()) : 0;
        return t_;
    }

  private:
    double cycles_with(std::size_t residents, const Resident& r) const { return (*r.cycles)[residents - 1]; }
    double rate(const Sm& sm, const Resident& r) const { return 1 / cycles_with(sm.residents.size(), r); }

    void start(Sm& sm) {
        if (next_ == blocks_) return;
        const auto block = static_cast<std::size_t>(next_++);
        const std::uint32_t kind = grid_.sequence[block / static_cast<std::size_t>(grid_.each) % grid_.sequence.size()];
        sm.residents.push_back(
            {1 + uneven_ * (static_cast<double>(random_()) / 4294967296.0 - 0.5), kind, &grid_.kinds[kind], block});
        ++at_work_;
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
    void go_on(Sm& sm, double instant) {
        const double passed = instant - sm.now;
        for (Resident& r : sm.residents) r.left -= passed * rate(sm, r);
        slot_time_ += passed * static_cast<double>(sm.residents.size());
        sm.now = instant;
    }
    void end(std::uint32_t number, double instant) {
        Sm& sm = sms_[number];
        go_on(sm, instant);
        t_.cycles = instant;
        const std::size_t before = sm.residents.size();
        // Late in a long run, rounding errors leave more than `done` of a short block.
        std::erase_if(sm.residents, [&](const Resident& r) {
            if (r.left > done && r.left * cycles_with(before, r) > sm.now * 2 * same_instant) return false;
            t_.stays[r.block].to = sm.now;
            return true;
        });
        freed_.emplace_back(number, before - sm.residents.size());
        at_work_ -= static_cast<Count>(freed_.back().second);
    }
    /// The blocks still at work now share L2 and DRAM, which more blocks shared before.
    void share(double instant) {
        if (!grid_.among || at_work_ == 0) return;
        std::unordered_map<std::uint32_t, BlockCycles> kinds;
        for (std::uint32_t number = 0; number < sms_.size(); ++number) {
            Sm& sm = sms_[number];
            if (sm.residents.empty()) continue;
            go_on(sm, instant);
            for (Resident& r : sm.residents) {
                const auto [at, is_new] = kinds.try_emplace(r.kind);
                if (is_new) at->second = grid_.among(r.kind, at_work_);
                r.cycles = &at->second;
            }
            expect(number);
        }
        kinds_.swap(kinds);
        t_.shared.push_back({instant, at_work_});
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
    std::unordered_map<std::uint32_t, BlockCycles> kinds_;  // of blocks at work, since the last share()
    Count at_work_ = 0;
    double slot_time_ = 0;
    Timeline t_;
};

/// The last wave of thread blocks that are alike, which may leave slots free: `with_most` SMs have `most` blocks each,
/// and `with_rest` SMs have `rest`.
struct Wave {
    Count blocks;
    Index most, rest;
    Count with_most, with_rest;  ///< SMs
};

Wave last_wave(Count blocks, Index sms, Index slots, Refill refill) {
    const Count wave = sms * slots;
    const bool first = blocks <= wave;
    Wave w{first ? blocks : (blocks - 1) % wave + 1, 0, 0, 0, 0};
    // Blocks of later waves start as slots become free.
    const bool one_by_one = first || refill == Refill::spread;
    w.most = one_by_one ? ceil_div(w.blocks, sms) : std::min<Count>(w.blocks, slots);
    w.with_most = one_by_one ? w.blocks - (w.most - 1) * sms : w.blocks / w.most;
    w.rest = one_by_one ? w.most - 1 : w.blocks - w.with_most * w.most;
    w.with_rest = w.rest == 0 ? 0 : one_by_one ? sms - w.with_most : 1;
    return w;
}

}  // namespace

Timeline play_alike(const BlockCycles& cycles, Count blocks, Index sms, Index slots, Refill refill,
                    const Among& among) {
    Timeline t;
    if (blocks == 0) return t;
    const double full = cycles[static_cast<std::size_t>(slots - 1)];
    const Wave last = last_wave(blocks, sms, slots, refill);
    const Count waves = (blocks - last.blocks) / (sms * slots);
    t.last_start = static_cast<double>(waves) * full;
    const auto time_of = [](const BlockCycles& of, Index residents) {
        return of[static_cast<std::size_t>(residents - 1)];
    };
    const BlockCycles at_last = among && waves > 0 ? among(0, last.blocks) : cycles;
    const double first = last.rest > 0 ? time_of(at_last, last.rest) : 0, longest = time_of(at_last, last.most);
    t.after_start = static_cast<double>(last.with_most * last.most) * longest +
                    static_cast<double>(last.with_rest * last.rest) * first;
    t.cycles = t.last_start + longest;
    t.resident =
        (static_cast<double>(blocks - last.blocks) * full + t.after_start) / t.cycles / static_cast<double>(sms);
    return t;
}

Timeline play(const Grid& grid, Index sms, Index slots, Refill refill, double uneven, Keep keep) {
    if (grid.blocks() == 0) return {};
    if (keep == Keep::totals && slots == 1 && uneven == 0 && !grid.among) return play_lone(grid, sms);
    return Playing(grid, sms, slots, refill, uneven).run();
}

Timeline deal(const Grid& grid, Index sms, Index slots, Keep keep) {
    const Count blocks = grid.blocks(), places = std::min<Count>(blocks, sms * slots);
    std::vector<double> free(static_cast<std::size_t>(sms * slots), 0);
    std::vector<double> cycles_of;
    for (const BlockCycles& kind : grid.kinds) cycles_of.push_back(kind.back());
    std::size_t next = 0;
    Count of_entry = 0;
    Timeline t;
    if (keep == Keep::stays) t.stays.reserve(static_cast<std::size_t>(blocks));
    double occupied = 0;
    for (Count first = 0; first < blocks; first += places)
        for (Count turn = 0; turn < std::min(places, blocks - first); ++turn) {
            const Count place = grid.places.empty() ? turn : grid.places[static_cast<std::size_t>(first + turn)];
            double& end = free[static_cast<std::size_t>(place)];
            const double from = end, cycles = cycles_of[grid.sequence[next]];
            if (++of_entry == grid.each) of_entry = 0, next = next + 1 == grid.sequence.size() ? 0 : next + 1;
            end += cycles, occupied += cycles;
            t.last_start = std::max(t.last_start, from);
            if (keep == Keep::stays) t.stays.push_back({static_cast<std::uint32_t>(place % sms), from, end});
        }
    for (const double end : free)
        t.cycles = std::max(t.cycles, end), t.after_start += std::max(0.0, end - t.last_start);
    t.resident = occupied / t.cycles / static_cast<double>(sms);
    t.shared = {{0, std::count_if(free.begin(), free.end(), [](double end) { return end > 0; })}};
    return t;
}

}  // namespace tilescope
