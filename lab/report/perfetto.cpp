#include "lab/report/perfetto.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "core/text/message.hpp"
#include "core/text/numbers.hpp"
#include "core/text/words.hpp"
#include "lab/model/basis.hpp"
#include "lab/model/mapping.hpp"

namespace tilescope::lab {
using text::message;
namespace {

constexpr double percent = 100;
constexpr std::size_t bars_of_launch = 500;  // of a counter of all SMs together

using Track = PerfettoTrace::Track;
using Name = PerfettoTrace::Name;

std::uint64_t ns(double us) { return static_cast<std::uint64_t>(std::llround(us * 1e3)); }

/// A track for each thread block that an SM holds at a time and, in detail, counters of its units.
struct SmTracks {
    Track group = Track::none;
    std::vector<Track> slots;
    std::array<Track, unit_count> units{};
};

/// Draws slices one after the other on a track; cycles count from the start of a launch's thread blocks.
class Pen {
  public:
    Pen(PerfettoTrace& out, Track track, double start_us, double clock_mhz, double cycles, std::uint64_t last)
        : out_(out), track_(track), start_us_(start_us), clock_mhz_(clock_mhz), cycles_(cycles), last_(last) {}

    /// Draws a slice of `cycles`, and calls `within` to draw inside it. Slices shorter than a nanosecond are left out.
    template <class Within>
    void slice(const auto& name, double cycles, Within&& within) {
        const double after = cycles_ + cycles;
        const std::uint64_t from = now(), to = at(after);
        if (from < to) {
            out_.begin(track_, from, name);
            const std::uint64_t last = std::exchange(last_, to);
            within();
            last_ = last;
            out_.end(track_, to);
        }
        cycles_ = after;
    }
    void slice(const auto& name, double cycles) {
        slice(name, cycles, [] {});
    }

  private:
    std::uint64_t at(double cycles) const { return std::min(ns(start_us_ + cycles / clock_mhz_), last_); }
    std::uint64_t now() const { return at(cycles_); }

    PerfettoTrace& out_;
    Track track_;
    double start_us_, clock_mhz_, cycles_;
    std::uint64_t last_;  // ns: the end of the enclosing slice
};

/// How busy the units of all SMs are, and how many thread blocks are there, in equal parts of a launch's time.
class Bars {
  public:
    explicit Bars(double cycles) : width_(cycles / static_cast<double>(bars_of_launch)), bars_(bars_of_launch) {}

    void add(double from, double to, const PerUnit& busy, double residents) {
        for (std::size_t k = index(from); k < bars_.size() && static_cast<double>(k) * width_ < to; ++k) {
            const double begin = static_cast<double>(k) * width_;
            const double share = (std::min(to, begin + width_) - std::max(from, begin)) / width_;
            for (std::size_t u = 0; u < unit_count; ++u) bars_[k].busy[u] += share * busy[u];
            bars_[k].residents += share * residents;
        }
    }
    struct Bar {
        PerUnit busy{};
        double residents = 0;
    };
    double begin(std::size_t k) const { return static_cast<double>(k) * width_; }
    const std::vector<Bar>& bars() const { return bars_; }

  private:
    std::size_t index(double cycles) const {
        return std::min(static_cast<std::size_t>(cycles / width_), bars_.size() - 1);
    }
    double width_;
    std::vector<Bar> bars_;
};

/// The position of a launch's time in the time of the run.
struct LaunchPlace {
    const LaunchTime& time;
    const PlayedLaunch& played;
    double from_us;
    std::vector<PerUnit> busy;  // by thread block of a head

    double blocks_us() const { return from_us + played.launch_us; }
    double us(double cycles_passed) const { return blocks_us() + cycles_passed / time.clock_mhz; }
    /// Calls f(begin, end, blocks) for each part of `from` to `to` (cycles) in which so many blocks share L2 and DRAM.
    template <class F>
    void each_share(double from, double to, F&& f) const {
        const std::vector<Shared>& shared = played.timeline.shared;
        for (std::size_t k = 0; k < shared.size(); ++k) {
            const double begin = std::max(from, shared[k].from),
                         end = k + 1 < shared.size() ? std::min(to, shared[k + 1].from) : to;
            if (begin < end) f(begin, end, shared[k].at_work);
        }
    }
};

class Drawing {
  public:
    Drawing(std::ostream& out, const Experiment& e, const RunTime& run, std::span<const PlayedLaunch> played,
            Index detailed, const Control* control)
        : out_(out), e_(e), run_(run), played_(played), detailed_(detailed), control_(control) {}

    Drawn draw(const std::function<void(PerfettoTrace&)>& also) {
        name_words();
        make_tracks();
        double from = 0;
        for (std::size_t k = 0; k < run_.launches.size(); ++k) {
            const LaunchTime& t = run_.launches[k];
            LaunchPlace place{t, played_[k], from, {}};
            for (const BlockWork& w : played_[k].works) place.busy.push_back(w.busy());
            draw(place, from += t.us);
        }
        if (also) also(out_);
        return drawn_;
    }

  private:
    void name_words() {
        for (std::size_t u = 0; u < unit_count; ++u) {
            const std::string unit = name_of(static_cast<Unit>(u));
            unit_names_[u] = out_.slice_name(unit);
            wait_names_[u] = out_.slice_name(message("perfetto.waiting_for", unit));
        }
    }

    bool at_work(std::size_t unit) const {
        return std::any_of(run_.launches.begin(), run_.launches.end(),
                           [&](const LaunchTime& l) { return l.busy[unit] > 0; });
    }
    std::array<Track, unit_count> unit_tracks(Track parent) {
        std::array<Track, unit_count> tracks{};
        for (std::size_t u = 0; u < unit_count; ++u)
            if (at_work(u)) tracks[u] = out_.counter(name_of(static_cast<Unit>(u)), "%", parent);
        return tracks;
    }

    void make_tracks() {
        root_ =
            out_.track(message("perfetto.run_on", e_.algorithm->name, e_.gpu.name), Track::none,
                       text::sentences({message("perfetto.about_run", tiles_text(e_), sms_in_words(detailed_, e_.gpu)),
                                        basis(run_, e_)}));
        launches_ = out_.track(message("perfetto.launches"), root_);
        const Track on_all = out_.track(message("perfetto.all_sms"), root_);
        residents_ = out_.counter(message("perfetto.thread_blocks"), "", on_all);
        units_ = unit_tracks(on_all);
        std::vector<std::size_t> slots(static_cast<std::size_t>(e_.gpu.sms));
        for (std::size_t k = 0; k < played_.size(); ++k) {
            std::vector<std::size_t> there(slots.size());
            for (const Stay& s : played_[k].timeline.stays) ++there[s.sm];
            for (std::size_t sm = 0; sm < slots.size(); ++sm)
                slots[sm] = std::max(slots[sm],
                                     std::min(there[sm], static_cast<std::size_t>(run_.launches[k].residency.blocks)));
        }
        for (std::size_t sm = 0; sm < slots.size(); ++sm) {
            SmTracks& t = sms_.emplace_back();
            if (slots[sm] == 0) continue;
            t.group = out_.track(message("perfetto.sm", std::to_string(sm)), root_);
            for (std::size_t k = 0; k < slots[sm]; ++k)
                t.slots.push_back(out_.track(message("perfetto.slot", std::to_string(k)), t.group));
            if (in_detail(sm)) t.units = unit_tracks(t.group);
        }
    }
    bool in_detail(std::size_t sm) const { return static_cast<Index>(sm) < detailed_; }

    void draw(const LaunchPlace& l, double end_us) {
        out_.begin(launches_, ns(l.from_us), l.time.kernel, notes_of(l.time));
        out_.begin(launches_, ns(l.from_us), message("perfetto.launch_overhead"));
        out_.end(launches_, ns(l.blocks_us()));
        out_.end(launches_, ns(end_us));
        std::vector<std::vector<std::size_t>> on_sm(sms_.size());
        const std::vector<Stay>& stays = l.played.timeline.stays;
        for (std::size_t s = 0; s < stays.size(); ++s) on_sm[stays[s].sm].push_back(s);
        Bars bars(l.played.timeline.cycles);
        for (std::size_t sm = 0; sm < sms_.size(); ++sm) {
            check_stop(control_);
            if (!on_sm[sm].empty()) draw(l, sm, on_sm[sm], bars);
        }
        const auto sms = static_cast<double>(e_.gpu.sms);
        for (std::size_t k = 0; k < bars_of_launch; ++k) {
            PerUnit busy = bars.bars()[k].busy;
            for (double& b : busy) b /= sms;
            const std::uint64_t at = ns(l.us(bars.begin(k)));
            count(units_, at, busy);
            out_.count(residents_, at, bars.bars()[k].residents);
        }
        count(units_, ns(end_us), {});
        out_.count(residents_, ns(end_us), 0);
    }
    void count(const std::array<Track, unit_count>& tracks, std::uint64_t at, const PerUnit& busy) {
        for (std::size_t u = 0; u < unit_count; ++u)
            if (tracks[u] != Track::none) out_.count(tracks[u], at, percent * busy[u]);
    }

    /// Draws an SM in a launch: computes how far its blocks get while others are beside them, then draws the blocks.
    void draw(const LaunchPlace& l, std::size_t sm, std::span<const std::size_t> on_sm, Bars& bars) {
        const std::vector<Stay>& stays = l.played.timeline.stays;
        std::vector<std::vector<Progress>> progress(on_sm.size());
        each_company(stays, on_sm, [&](const Company& c) {
            l.each_share(c.from, c.to, [&](double from, double to, Count at_work) {
                const auto residents = static_cast<Index>(c.stays.size());
                const double sharing = still_shared(l.played.sharing, residents, at_work);
                PerUnit busy{};
                for (const std::size_t s : c.stays) {
                    const double cycles = l.played.work(s).cycles_beside(residents, sharing);
                    const auto here = std::lower_bound(on_sm.begin(), on_sm.end(), s) - on_sm.begin();
                    progress[static_cast<std::size_t>(here)].push_back({residents, sharing, (to - from) / cycles});
                    for (std::size_t u = 0; u < unit_count; ++u) busy[u] += l.busy[l.played.order[s].block][u] / cycles;
                }
                bars.add(from, to, busy, static_cast<double>(residents));
                if (in_detail(sm)) count(sms_[sm].units, ns(l.us(from)), busy);
            });
        });
        const std::vector<std::uint32_t> slots = slots_of(stays, on_sm);
        double last = 0;
        for (std::size_t k = 0; k < on_sm.size(); ++k) {
            draw(l, on_sm[k], sms_[sm].slots[slots[k]], progress[k]);
            last = std::max(last, stays[on_sm[k]].to);
        }
        if (in_detail(sm)) count(sms_[sm].units, ns(l.us(last)), {});
    }

    /// Draws a thread block.
    void draw(const LaunchPlace& l, std::size_t number, Track track, std::span<const Progress> progress) {
        const Stay& stay = l.played.timeline.stays[number];
        const BlockWork& work = l.played.work(number);
        const std::uint64_t from = ns(l.us(stay.from)), to = ns(l.us(stay.to));
        out_.begin(track, from, block_name(l.played, number), notes_of(l.played, number));
        Pen pen(out_, track, l.blocks_us(), l.time.clock_mhz, stay.from, to);
        pen.slice(start_, work.outside(progress));
        for (const LoopWork& loop : work.loops) draw(pen, loop, time_in(loop, progress), in_detail(stay.sm));
        out_.end(track, to);
        ++drawn_.blocks;
    }
    std::vector<PerfettoTrace::Note> notes_of(const LaunchTime& l) {
        return {{note(message("perfetto.thread_blocks")), text::grouped(l.blocks)},
                {note(message("perfetto.blocks_on_sm")), text::grouped(l.residency.blocks)},
                {note(message("perfetto.clock")), message("perfetto.mhz", std::to_string(std::lround(l.clock_mhz)))},
                {note(message("perfetto.bound")), name_of(l.bound)}};
    }
    std::string block_name(const PlayedLaunch& l, std::size_t number) const {
        const BlockOfHead& b = l.order[number];
        std::vector<std::string> place = {message("perfetto.head", std::to_string(b.head))};
        for (std::size_t k = 1; k < l.axes.size(); ++k) {
            const Tiles& tiles = l.axes[k].tiles;
            const Index tile = l.works[b.block].at[k].begin / tiles.tile_size();
            place.push_back(std::string(tiles.name()) + ' ' + std::to_string(tile));
        }
        return text::join(place, ", ");
    }
    std::vector<PerfettoTrace::Note> notes_of(const PlayedLaunch& l, std::size_t number) {
        const BlockOfHead& b = l.order[number];
        std::vector<PerfettoTrace::Note> notes{
            {note(message("perfetto.thread_block")),
             text::grouped(Count{b.head} * static_cast<Count>(l.works.size()) + b.block)}};
        for (std::size_t k = 1; k < l.axes.size(); ++k) {
            const Span at = l.works[b.block].at[k];
            notes.push_back({note(l.axes[k].tiles.name()),
                             message("perfetto.from_to", std::to_string(at.begin), std::to_string(at.end() - 1))});
        }
        return notes;
    }
    Name note(const std::string& name) {
        const auto known = notes_.find(name);
        return known != notes_.end() ? known->second : notes_[name] = out_.note_name(name);
    }

    /// Draws the iterations of a loop, one after the other, all equal: waits are spread evenly over all of them.
    void draw(Pen& pen, const LoopWork& loop, const LoopTime& time, bool detailed) {
        const double steps = std::floor(loop.turns - loop.masked + 1e-6);
        const auto number = static_cast<Count>(steps);
        const bool fits = drawn_.steps + number <= most_steps_drawn;
        const bool computes = loop.step.alone > 0;  // Loads and stores of an outer loop are no steps.
        pen.slice(message(computes ? "perfetto.loop_steps" : "perfetto.moves", number), time.all(), [&] {
            if (!detailed) return;
            if (!fits) return void(drawn_.steps_left_out += number);
            const LoopTime one{time.own / loop.turns, time.unit / loop.turns, time.memory / loop.turns};
            for (Count k = 0; k < number; ++k)
                pen.slice(computes ? step_ : move_, one.all(), [&] { draw(pen, loop.step, one); });
            pen.slice(mask_, one.all() * (loop.turns - steps));
            drawn_.steps += number;
        });
    }
    /// Draws a step: the terms of D (docs/time.md), then the waits beyond them.
    void draw(Pen& pen, const StepTime& step, const LoopTime& time) {
        for (const Term& t : terms_of(step)) pen.slice(unit_names_[static_cast<std::size_t>(t.unit)], t.cycles);
        pen.slice(barriers_, step.waiting);
        const auto busiest = [&](Unit from, Unit to) {
            const auto first = step.busy.begin();
            return wait_names_[static_cast<std::size_t>(
                std::max_element(first + static_cast<int>(from), first + static_cast<int>(to) + 1) - first)];
        };
        pen.slice(busiest(Unit::tensor, Unit::sram), time.unit);
        pen.slice(busiest(Unit::l2, Unit::dram), time.memory);
    }

    PerfettoTrace out_;
    const Experiment& e_;
    const RunTime& run_;
    std::span<const PlayedLaunch> played_;
    const Index detailed_;
    const Control* control_;
    Drawn drawn_;

    std::array<Name, unit_count> unit_names_{}, wait_names_{};
    const Name start_ = out_.slice_name(message("perfetto.start_and_end")),
               step_ = out_.slice_name(message("perfetto.loop_step")),
               move_ = out_.slice_name(message("perfetto.move")), mask_ = out_.slice_name(message("perfetto.mask")),
               barriers_ = out_.slice_name(message("perfetto.waiting"));
    std::map<std::string, Name> notes_;
    Track root_{}, launches_{}, residents_{};
    std::array<Track, unit_count> units_{};
    std::vector<SmTracks> sms_;
};

}  // namespace

std::string sms_in_words(Index detailed, const GpuSpec& gpu) {
    const Index last = std::min(detailed, gpu.sms) - 1;
    return last == 0 ? message("perfetto.sm", "0") : message("perfetto.sms_to", std::to_string(last));
}

Drawn write_perfetto(std::ostream& out, const Experiment& e, const RunTime& run, std::span<const PlayedLaunch> played,
                     Index detailed, const Control* control, const std::function<void(PerfettoTrace&)>& also) {
    return Drawing(out, e, run, played, detailed, control).draw(also);
}

}  // namespace tilescope::lab
