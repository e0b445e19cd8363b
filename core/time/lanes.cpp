#include "core/time/lanes.hpp"

#include <algorithm>
#include <deque>
#include <limits>
#include <queue>
#include <stdexcept>

#include "core/text/message.hpp"
#include "core/text/words.hpp"

namespace tilescope {
using text::message;
namespace {

constexpr double never = std::numeric_limits<double>::infinity();
constexpr double least_of_tensor_cores = 0.1;  // the least share that other work leaves to the tensor cores

class Play {
  public:
    Play(std::span<const LaneProgram> lanes, std::size_t flags, const LaneMachine& machine, bool phases)
        : lanes_(lanes),
          machine_(machine),
          keeps_phases_(phases),
          next_(lanes.size(), 0),
          waited_(lanes.size(), 0),
          tile_(lanes.size(), 0),
          waits_(lanes.size()),
          flags_(flags, 0),
          set_by_(flags_.size(), no_phase) {
        for (std::uint32_t l = 0; l < lanes.size(); ++l) ready_.push_back(l);
    }

    LanePlay run() {
        for (;;) {
            while (!ready_.empty()) go_on(take(ready_));
            if (wake()) continue;
            set_rates();
            const double passed = until_next();
            if (passed == never) break;
            pass(passed);
        }
        if (!waiting_.empty()) throw Stuck(who_waits());
        out_.end = now_;
        for (const std::vector<LaneWait>& of_lane : waits_)
            out_.waits.insert(out_.waits.end(), of_lane.begin(), of_lane.end());
        return std::move(out_);
    }

  private:
    struct Product {
        std::uint32_t lane;
        const Act* act;
        double left, from;
    };
    struct Work {
        std::uint32_t lane;
        const Act* act;
        double left, from;  // left: the share of the work that is left
        double rate = 0;    // the share that is done in a cycle
    };
    struct Waiting {
        std::uint32_t lane;
        const Act* act;
        double from;
    };
    struct Timer {
        double at;
        std::uint64_t number;  // for timers of one time, the order in which they were set
        std::uint32_t lane;    // the lane that goes on, where there is no flag
        Signal flag;
        std::uint32_t phase;  // that sets the flag
        friend bool operator>(const Timer& a, const Timer& b) {
            return a.at != b.at ? a.at > b.at : a.number > b.number;
        }
    };

    static std::uint32_t take(std::deque<std::uint32_t>& from) {
        const std::uint32_t first = from.front();
        from.pop_front();
        return first;
    }
    void set(Signal f, std::uint32_t phase) {
        if (f == no_signal) return;
        ++flags_[f];
        set_by_[f] = phase;
    }
    bool is_there(const Act& wait) const { return flags_[wait.flag] >= wait.count; }
    void at(double when, std::uint32_t lane, Signal flag, std::uint32_t phase = no_phase) {
        timers_.push({when, ++timers_set_, lane, flag, phase});
    }
    /// Returns the number of the phase.
    std::uint32_t note(std::uint32_t lane, const Act& act, double from, double to, double sent = 0) {
        const bool sets = act.kind != Act::Kind::wait && (act.flag != no_signal || act.frees != no_signal);
        if (!keeps_phases_ || (to <= from && !sets)) return no_phase;
        const auto number = static_cast<std::uint32_t>(&act - lanes_[lane].acts.data());
        const std::uint32_t by = act.kind == Act::Kind::wait ? set_by_[act.flag] : no_phase;
        out_.phases.push_back({lane, act.kind, act.what, act.step, from, to, number, sent, by});
        return static_cast<std::uint32_t>(out_.phases.size() - 1);
    }
    /// Notes an act that ends now, and sets its flags.
    void finish(std::uint32_t lane, const Act& act, double from) {
        const std::uint32_t phase = note(lane, act, from, now_);
        set(act.flag, phase), set(act.frees, phase);
    }

    void set_later(std::uint32_t lane, const Act& act) {
        const double there = now_ + act.cycles;
        at(there, lane, act.flag, note(lane, act, now_, there));
    }

    /// Carries out the lane's acts up to one that takes time or enters a queue.
    void go_on(std::uint32_t lane) {
        const std::vector<Act>& acts = lanes_[lane].acts;
        for (std::size_t& k = next_[lane]; k < acts.size();) {
            const Act& act = acts[k++];
            switch (act.kind) {
                case Act::Kind::set:
                    act.cycles > 0 ? set_later(lane, act) : finish(lane, act, now_);
                    continue;
                case Act::Kind::mark:
                    out_.marks.push_back({lane, act.step, now_, waited_[lane]});
                    continue;
                case Act::Kind::end:
                    out_.ends.push_back({lane, act.step, now_, out_.busy});
                    tile_[lane] = act.step + 1;
                    continue;
                case Act::Kind::product:
                    queue_.push_back({lane, &act, act.cycles, now_});
                    return ready_.push_back(lane);
                case Act::Kind::load:
                    load(lane, act);
                    if (!machine_.bus_queues) continue;
                    return ready_.push_back(lane);
                case Act::Kind::work:
                    if (act.cycles == 0) {
                        finish(lane, act, now_);
                        continue;
                    }
                    return work_.push_back({lane, &act, 1, now_});
                case Act::Kind::wait:
                    return waiting_.push_back({lane, &act, now_});
                case Act::Kind::idle:
                    waited_[lane] += act.cycles;
                    [[fallthrough]];
                case Act::Kind::pass:
                    note(lane, act, now_, now_ + act.cycles);
                    return at(now_ + act.cycles, lane, no_signal);
            }
        }
    }

    void load(std::uint32_t lane, const Act& act) {
        if (!machine_.bus_queues) {
            const double there = now_ + act.bytes / machine_.bus + machine_.latency;
            return at(there, lane, act.flag, note(lane, act, now_, there, there - machine_.latency));
        }
        const double from = std::max(now_, bus_free_);
        bus_free_ = std::max(now_ - machine_.credit / machine_.bus, bus_free_) + act.bytes / machine_.bus;
        const double sent = std::max(
            {bus_free_, served(port_free_, act.bytes, machine_.port), served(dram_free_, act.bytes, machine_.dram)});
        at(sent + machine_.latency, lane, act.flag, note(lane, act, from, sent + machine_.latency, sent));
    }
    /// When a server of so many bytes per cycle is done with a load that is issued now; 0 where there is no server.
    double served(double& free, double bytes, double rate) const {
        return rate > 0 ? free = std::max(now_, free) + bytes / rate : 0;
    }

    /// Makes lanes ready whose flag was set often enough. Returns whether there were any.
    bool wake() {
        const std::size_t before = waiting_.size();
        std::erase_if(waiting_, [&](const Waiting& w) {
            if (!is_there(*w.act)) return false;
            note(w.lane, *w.act, w.from, now_);
            waited_[w.lane] += now_ - w.from;
            count_wait(w);
            ready_.push_back(w.lane);
            return true;
        });
        return waiting_.size() < before;
    }

    void count_wait(const Waiting& w) {
        if (now_ == w.from) return;
        std::vector<LaneWait>& all = waits_[w.lane];
        for (auto of = all.rbegin(); of != all.rend() && of->tile == tile_[w.lane]; ++of)
            if (of->awaited == w.act->awaited && of->what == w.act->what) {
                of->cycles += now_ - w.from;
                return;
            }
        all.push_back({w.lane, tile_[w.lane], w.act->awaited, w.act->what, now_ - w.from});
    }

    Index at_work_on(const std::optional<Unit>& unit) const {
        return std::count_if(work_.begin(), work_.end(), [&](const Work& w) { return w.act->unit == unit; });
    }
    /// Sets how fast products and work go on from now until the next of them begins or ends.
    void set_rates() {
        const auto all = static_cast<double>(static_cast<Index>(work_.size()) - at_work_on(std::nullopt));
        double stolen = 0;
        for (Work& w : work_) {
            const Act& a = *w.act;
            const double beside = queue_.empty() ? 0 : a.beside * all;
            w.rate = 1 / (a.unit ? a.cycles * static_cast<double>(at_work_on(a.unit)) + beside : a.cycles);
            stolen += a.steals * w.rate;
        }
        rate_of_products_ = std::max(least_of_tensor_cores, 1 - stolen);
    }
    double until_next() const {
        double least = timers_.empty() ? never : timers_.top().at - now_;
        if (!queue_.empty()) least = std::min(least, queue_.front().left / rate_of_products_);
        for (const Work& w : work_) least = std::min(least, w.left / w.rate);
        return least == never ? never : std::max(least, 0.0);
    }

    void pass(double cycles) {
        constexpr double of_a_cycle = 1e-6, of_work = 1e-9;
        account(cycles);
        // If only timers run, the time is that of the next timer, without a rounding error.
        now_ = queue_.empty() && work_.empty() ? timers_.top().at : now_ + cycles;
        if (!queue_.empty() && (queue_.front().left -= rate_of_products_ * cycles) < of_a_cycle) {
            const Product done = queue_.front();
            queue_.pop_front();
            finish(done.lane, *done.act, done.from);
            if (!queue_.empty()) queue_.front().from = now_;
        }
        for (Work& w : work_) w.left -= w.rate * cycles;
        std::erase_if(work_, [&](const Work& w) {
            if (w.left >= of_work) return false;
            finish(w.lane, *w.act, w.from);
            ready_.push_back(w.lane);
            return true;
        });
        while (!timers_.empty() && timers_.top().at <= now_ + of_work) {
            const Timer t = timers_.top();
            timers_.pop();
            t.flag == no_signal ? ready_.push_back(t.lane) : set(t.flag, t.phase);
        }
    }
    void account(double cycles) {
        const bool cuda = static_cast<Index>(work_.size()) > at_work_on(std::nullopt);
        LaneBusy& busy = out_.busy;
        if (!queue_.empty()) busy.tensor += cycles;
        if (cuda) busy.cuda += cycles;
        if (at_work_on(Unit::exp) > 0) busy.exp += cycles;
        if (!queue_.empty() && cuda) busy.both += cycles;
        // With credit, the bus sends at the rate of the port.
        const double sends_until = machine_.port > 0 ? port_free_ : bus_free_;
        if (sends_until > now_) busy.bus += std::min(cycles, sends_until - now_);
    }

    std::string name_of(Signal f) const {
        return machine_.name_of ? machine_.name_of(f) : message("lanes.flag", std::to_string(f));
    }
    /// The lane whose remaining acts set the flag; nullptr: none.
    const LaneProgram* who_sets(Signal f) const {
        for (std::size_t l = 0; l < lanes_.size(); ++l)
            for (std::size_t k = next_[l]; k < lanes_[l].acts.size(); ++k)
                if (const Act& a = lanes_[l].acts[k]; a.kind != Act::Kind::wait && (a.flag == f || a.frees == f))
                    return &lanes_[l];
        return nullptr;
    }
    std::string who_waits() const {
        std::vector<std::string> all;
        for (const Waiting& w : waiting_) {
            const LaneProgram* by = who_sets(w.act->flag);
            const std::string &name = lanes_[w.lane].name, flag = name_of(w.act->flag);
            all.push_back(by ? message("lanes.waits", name, flag, by->name)
                             : message("lanes.waits_forever", name, flag));
        }
        return text::join(all, "; ");
    }

    std::span<const LaneProgram> lanes_;
    const LaneMachine& machine_;
    const bool keeps_phases_;
    std::vector<std::size_t> next_;  // act of each lane
    std::vector<double> waited_;
    std::vector<Index> tile_;                   // that each lane is at
    std::vector<std::vector<LaneWait>> waits_;  // of each lane
    std::vector<Index> flags_;                  // how often each was set
    std::vector<std::uint32_t> set_by_;         // the phase that set each last
    std::deque<std::uint32_t> ready_;
    std::vector<Waiting> waiting_;
    std::deque<Product> queue_;
    double rate_of_products_ = 1;  // cycles of the first product that are done in a cycle
    std::vector<Work> work_;
    std::priority_queue<Timer, std::vector<Timer>, std::greater<>> timers_;
    std::uint64_t timers_set_ = 0;
    double now_ = 0, bus_free_ = 0, port_free_ = 0, dram_free_ = 0;
    LanePlay out_;
};

}  // namespace

LanePlay play_lanes(std::span<const LaneProgram> lanes, const LaneMachine& machine, bool phases) {
    std::size_t flags = 0;
    for (const LaneProgram& l : lanes)
        for (const Act& a : l.acts) {
            if (!(a.cycles >= 0 && a.cycles < never && a.bytes >= 0 && a.bytes < never))
                throw std::invalid_argument(message("lanes.takes_no_number", l.name, a.what));
            for (const Signal f : {a.flag, a.frees})
                if (f != no_signal) flags = std::max<std::size_t>(flags, f + 1);
        }
    return Play(lanes, flags, machine, phases).run();
}

}  // namespace tilescope
