#include "core/time/lone_blocks.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

namespace tilescope {
namespace {

/// SMs that started equal thread blocks at the same instant.
struct Crew {
    double from, to;
    Count block;  ///< number of the first block
    std::uint32_t sms;
    std::uint32_t next;  ///< that ends on the same day
};

/// Crews in the order in which they end. Time is cut into days, and a ring of days is enough, because nothing ends
/// later than the longest thread block after what ends first.
class Calendar {
  public:
    Calendar(Index sms, double longest)
        : days_(std::bit_ceil(std::max(days_of_word, days_of_an_sm * static_cast<std::size_t>(sms))), nobody),
          marks_(days_.size() / days_of_word),
          days_per_cycle_(longest > 0 ? static_cast<double>(days_.size() - 2) / longest : 0) {
        crews_.reserve(static_cast<std::size_t>(sms));
    }

    bool empty() const { return first_ == never; }
    const Crew& first() const { return crews_[days_[place_of(first_)]]; }
    void add(double from, double to, Count block, std::uint32_t sms) {
        const auto day = static_cast<std::int64_t>(to * days_per_cycle_);
        std::uint32_t* at = &days_[place_of(day)];
        while (*at != nobody && crews_[*at].to < to) at = &crews_[*at].next;
        const Crew crew{from, to, block, sms, *at};
        if (free_ == nobody) {
            *at = static_cast<std::uint32_t>(crews_.size());
            crews_.push_back(crew);
        } else {
            *at = std::exchange(free_, crews_[free_].next);
            crews_[*at] = crew;
        }
        marks_[place_of(day) / days_of_word] |= bit_of(place_of(day));
        if (day < first_) first_ = day;
    }
    /// Takes the first crew out, and frees its place in `crews_`: add() may write over a freed place.
    Crew take_first() {
        const std::size_t place = place_of(first_);
        const std::uint32_t number = days_[place];
        const Crew crew = crews_[number];
        days_[place] = crew.next;
        crews_[number].next = std::exchange(free_, number);
        if (crew.next == nobody) marks_[place / days_of_word] &= ~bit_of(place), go_on();
        return crew;
    }

  private:
    static constexpr std::uint32_t nobody = 0xffffffff;
    static constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();
    static constexpr std::size_t days_of_word = 64, days_of_an_sm = 4;  // so few crews share a day

    std::size_t place_of(std::int64_t day) const { return static_cast<std::size_t>(day) & (days_.size() - 1); }
    static std::uint64_t bit_of(std::size_t place) { return std::uint64_t{1} << place % days_of_word; }
    /// Goes on to the next day on which a crew ends.
    void go_on() {
        const std::size_t from = place_of(first_);
        std::size_t word = from / days_of_word;
        std::uint64_t marks = marks_[word] & ~(bit_of(from) - 1);  // the days before are those after all others
        for (std::size_t n = 0; marks == 0 && n < marks_.size(); ++n) marks = marks_[word = (word + 1) % marks_.size()];
        if (marks == 0) {
            first_ = never;
            return;
        }
        const std::size_t to = word * days_of_word + static_cast<std::size_t>(std::countr_zero(marks));
        first_ += static_cast<std::int64_t>(place_of(static_cast<std::int64_t>(to - from)));
    }

    std::vector<Crew> crews_;
    std::vector<std::uint32_t> days_;   // the first crew of each; a power of two
    std::vector<std::uint64_t> marks_;  // a bit for each day on which a crew ends
    std::uint32_t free_ = nobody;       // the first place in `crews_` without one
    std::int64_t first_ = never;
    double days_per_cycle_;
};

class LoneBlocks {
  public:
    LoneBlocks(const Grid& grid, Index sms)
        : sequence_(grid.sequence),
          blocks_(grid.blocks()),
          each_(grid.each),
          sms_(sms),
          durations_(durations_of(grid)),
          calendar_(sms, *std::max_element(durations_.begin(), durations_.end())) {}

    Timeline play() {
        Timeline t;
        const Count at_first = std::min<Count>(sms_, blocks_);
        t.shared.push_back({0, at_first});
        start(at_first, 0);
        while (next_ < blocks_) {
            t.last_start = calendar_.first().to;
            start(end(), t.last_start);
        }
        std::vector<std::pair<Count, double>> last;  // the first block of each crew, and how long its blocks stay
        while (!calendar_.empty()) {
            t.cycles = calendar_.first().to;
            const double until = t.cycles * (1 + same_instant);
            while (!calendar_.empty() && calendar_.first().to <= until) {
                const Crew crew = calendar_.take_first();
                const double sms = static_cast<double>(crew.sms);
                occupied_ += sms * (t.cycles - crew.from);
                last.emplace_back(crew.block, sms * (t.cycles - std::max(crew.from, t.last_start)));
            }
        }
        std::sort(last.begin(), last.end());
        for (const auto& [_, cycles] : last) t.after_start += cycles;
        t.resident = t.cycles > 0 ? occupied_ / t.cycles / static_cast<double>(sms_) : 0;
        return t;
    }

  private:
    static std::vector<double> durations_of(const Grid& grid) {
        std::vector<double> all;
        all.reserve(grid.kinds.size());
        for (const BlockCycles& k : grid.kinds) all.push_back(1 / (1 / k[0]));  // rounded as where rates add up
        return all;
    }
    /// Ends all crews whose end is the next instant. Returns how many SMs that leaves free.
    Count end() {
        const double instant = calendar_.first().to, until = instant * (1 + same_instant);
        Count freed = 0;
        do {
            const Crew crew = calendar_.take_first();
            occupied_ += static_cast<double>(crew.sms) * (instant - crew.from);
            freed += crew.sms;
        } while (!calendar_.empty() && calendar_.first().to <= until);
        return freed;
    }
    /// Starts the next blocks on so many SMs, those of an entry as one crew.
    void start(Count sms, double now) {
        for (sms = std::min(sms, blocks_ - next_); sms > 0;) {
            const Count crew = std::min(sms, left_of_entry_);
            calendar_.add(now, now + durations_[sequence_[at_]], next_, static_cast<std::uint32_t>(crew));
            next_ += crew, sms -= crew;
            if ((left_of_entry_ -= crew) > 0) continue;
            left_of_entry_ = each_, at_ = at_ + 1 == sequence_.size() ? 0 : at_ + 1;
        }
    }

    const std::vector<std::uint32_t>& sequence_;
    const Count blocks_, each_;
    const Index sms_;
    const std::vector<double> durations_;  // of kinds
    Calendar calendar_;
    Count next_ = 0;
    std::size_t at_ = 0;  // the sequence's entry whose blocks are next
    Count left_of_entry_ = each_;
    double occupied_ = 0;
};

}  // namespace

Timeline play_lone(const Grid& grid, Index sms) {
    return grid.blocks() > 0 ? LoneBlocks(grid, sms).play() : Timeline{};
}

}  // namespace tilescope
