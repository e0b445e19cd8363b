#include "show/words/gantt_text.hpp"

#include <algorithm>
#include <cmath>

#include "core/text/message.hpp"
#include "core/text/numbers.hpp"
#include "core/text/words.hpp"
#include "lab/figure/ticks.hpp"
#include "lab/model/verdict.hpp"
#include "show/words/modelled.hpp"

namespace tilescope::show {
using namespace lab;
using text::message;
namespace {

constexpr double notable = 0.05;  // share of the time

std::string three_digits(double x) { return x < 1000 ? text::number(x) : text::grouped(std::llround(x)); }

const LaunchTime& longest(const Run& run) { return run.gantt().longest().time; }

std::string name_of_run(const Run& run) { return run.algorithm().name; }

/// How the thread blocks of a launch fill the SMs.
std::string filling(const LaunchTime& l, Index sms) {
    const Index places = sms * l.residency.blocks;
    if (l.blocks <= places) return message("gantt.all_at_once", l.blocks, l.sms, sms);
    const bool has_tail = l.tail >= notable;
    const std::string waves = three_digits(l.waves), tail = text::percent(l.tail);
    if (l.persistent > 0)
        return has_tail ? message("gantt.persistent_and_tail", l.persistent, l.blocks, tail)
                        : message("gantt.persistent", l.persistent, l.blocks);
    return has_tail ? message("gantt.waves_and_tail", l.blocks, places, waves, tail)
                    : message("gantt.waves", l.blocks, places, waves);
}

/// The same of a run; where there are several launches, of the longest of them.
std::string filling(const Run& run) {
    const LaunchTime& l = longest(run);
    const std::string text = filling(l, run.gantt().sms());
    const std::size_t launches = run.gantt().launches().size();
    return launches == 1 ? text : message("gantt.longest_of_launches", l.kernel, std::to_string(launches), text);
}

/// Where time is lost, as sentences.
std::vector<std::string> lost_time(const Run& run) {
    const GanttLaunch& l = run.gantt().longest();
    const bool in_waves = l.time.blocks > run.gantt().sms() * l.slots();
    std::vector<std::string> all;
    if (in_waves && l.time.tail >= notable) all.push_back(message("gantt.tail", text::microseconds(l.last_start)));
    if (l.time.imbalance < 1 + 2 * notable) return all;
    const bool other_order = in_waves && run.experiment().placing.order != Order::longest;
    all.push_back(
        message(other_order ? "gantt.imbalance_of_order" : "gantt.imbalance", three_digits(l.time.imbalance)));
    return all;
}

/// At the start of a race: the two runs on the SMs that their longest launches use, and not yet the winner.
std::string both_start(const Run& run, const Run& rival) {
    return message("gantt.both_start", name_of_run(run), longest(run).sms, name_of_run(rival), longest(rival).sms);
}

/// How far a run is: "26%".
std::string so_far(const Session& s, const Run& run) {
    return text::percent(s.seconds(run, run.tick()) * 1e6 / run.gantt().us());
}

std::string one_is_done(const Session& s, const Run& done, const Run& other) {
    return message("gantt.one_is_done", name_of_run(done), text::microseconds(done.gantt().us()), name_of_run(other),
                   so_far(s, other));
}

/// When both runs of a race are done.
std::string result(const Run& run, const Run& rival) {
    const bool first = run.gantt().us() <= rival.gantt().us();
    const Run &winner = first ? run : rival, &loser = first ? rival : run;
    const double ratio = loser.gantt().us() / winner.gantt().us();
    const bool even = ratio < 1 + notable;
    return message(even ? "gantt.took_as_long" : "gantt.winner", name_of_run(winner), name_of_run(loser),
                   text::microseconds(winner.gantt().us()),
                   even ? text::microseconds(loser.gantt().us()) : three_digits(ratio));
}

}  // namespace

std::string gantt_headline(const Session& s) {
    const Run& run = *s.run();
    if (!s.rival()) return filling(run);
    const Run& rival = *s.rival();
    const bool ended = run.tick() == run.ticks(), rival_ended = rival.tick() == rival.ticks();
    if (ended && rival_ended) return result(run, rival);
    if (ended) return one_is_done(s, run, rival);
    if (rival_ended) return one_is_done(s, rival, run);
    if (run.tick() == 0 && rival.tick() == 0) return both_start(run, rival);
    return message("gantt.both_run", name_of_run(run), so_far(s, run), name_of_run(rival), so_far(s, rival));
}

std::string gantt_reason(const Session& s) {
    const Run& run = *s.run();
    std::vector<std::string> all;
    if (s.rival())
        for (const Run* r : {&run, s.rival()}) all.push_back(message("modelled.of_run", name_of_run(*r), filling(*r)));
    else
        all = lost_time(run), all.push_back(verdict(*run.counted().time, run.experiment()));
    return text::sentences(all);
}

std::vector<std::string> gantt_title(const Run& run, bool says_when_it_ends) {
    const Tiling tiles = run.experiment().tiling;
    const std::string brief = name_of_run(run) + " · " + std::to_string(tiles.br) + " × " + std::to_string(tiles.bc) +
                              (says_when_it_ends ? " · " + text::microseconds(run.gantt().us()) : "");
    return {brief + " · " + message("gantt.room", run.gantt().longest().slots(), run.gantt().sms()), brief,
            name_of_run(run)};
}

std::string gantt_left_out(const Session& s, Index every) {
    std::vector<std::string> all;
    for (const Run* run : {s.run(), s.rival()}) {
        if (!run) continue;
        const auto add = [&](const std::string& sentence) {
            all.push_back(s.rival() ? message("modelled.of_run", name_of_run(*run), sentence) : sentence);
        };
        for (const GanttLaunch& l : run->gantt().launches())
            if (l.stays.empty()) add(message("gantt.too_many", l.time.blocks, l.time.kernel));
        const Index used = run->gantt().sms_used(), last = run->gantt().sms() - 1;
        if (used == last) add(message("gantt.idle_sm", last));
        if (used < last) add(message("gantt.idle_sms", used, last));
    }
    if (every > 1) all.push_back(message("gantt.one_drawn", std::to_string(every)));
    return text::sentences(all);
}

std::string gantt_legend(const Run& run) {
    Count blocks = 0;
    bool drawn = false;
    for (const GanttLaunch& l : run.gantt().launches()) blocks += l.time.blocks, drawn |= !l.stays.empty();
    const auto played = static_cast<Count>(run.schedule().placements().size());
    std::vector<std::string> all;
    if (drawn && played == blocks) all = {message("gantt.bars")};
    if (drawn && played < blocks) all = {message("gantt.strong_bars", played, blocks)};
    const bool assumed = run.counted().time->basis == Basis::assumed;
    all.push_back(message(assumed ? "gantt.legend_of_assumed_gpu" : "gantt.legend"));
    return text::sentences(all);
}

std::string gantt_note(const Session& s, Index every) {
    return text::sentences({gantt_left_out(s, every), gantt_legend(*s.run())});
}

std::string places_title() { return message("gantt.places"); }

std::string about_gantt(const Run& run, const GanttLaunch& l, Index sm, double us) {
    std::vector<std::string> lines = {message("gantt.sm_at", std::to_string(sm), text::microseconds(us))};
    if (run.gantt().launches().size() > 1) lines.push_back(l.time.kernel);
    if (us < l.begin) lines.push_back(message("gantt.launching"));
    if (us < l.begin || l.stays.empty()) return text::join(lines, "\n");
    const auto there = l.at(sm, us);
    if (there.empty()) lines.push_back(message("gantt.nothing_left"));
    for (const GanttStay* stay : there) {
        std::vector<std::string> place(l.axes.size());
        Index rest = stay->block;
        for (std::size_t k = l.axes.size(); k-- > 0;) {
            const Tiles& tiles = l.axes[k].tiles;
            place[k] = std::string(tiles.name()) + " " + std::to_string(rest % tiles.count() + 1);
            rest /= tiles.count();
        }
        lines.push_back(message("gantt.block", stay->block, text::join(place, ", "), text::microseconds(stay->from),
                                text::microseconds(stay->to)));
    }
    return text::join(lines, "\n");
}

StepParts step_parts(const Run& run) {
    const LaunchTime& l = longest(run);
    const Index blocks = std::clamp<Index>(ceil_div(l.blocks, run.gantt().sms()), 1, l.residency.blocks);
    StepParts step{"", {}, l.step.together(blocks)};
    for (const Term& t : terms_of(l.step)) step.parts.push_back({in_words(t.unit), name_of(t.unit), t.cycles, false});
    if (const std::string lanes = message("gantt.lanes"); l.step.overlapped)
        step.parts.push_back({lanes, lanes, l.step.alone, false});
    const double turn = l.step.waiting_for_unit(blocks), memory = step.cycles - l.step.alone - turn;
    if (l.step.waiting > 0) step.parts.push_back({message("gantt.loads_and_barriers"), "", l.step.waiting, true});
    if (turn > 0) step.parts.push_back({message("gantt.unit_of_others"), "", turn, true});
    if (memory > 0) step.parts.push_back({message("gantt.l2_or_dram"), "", memory, true});
    const auto cycles = std::llround(step.cycles);
    step.title = blocks > 1 ? message("gantt.step_of_several", l.kernel, cycles, blocks)
                            : message(l.step.residents > 1 ? "gantt.step_of_half" : "gantt.step", l.kernel, cycles);
    return step;
}

std::vector<std::string> part_text(const StepParts& step, const StepPart& part) {
    const std::string share = text::percent(part.cycles / step.cycles);
    if (part.waits) return {message("gantt.waits_for", part.name, share), message("gantt.waits", share), share, ""};
    return {message("gantt.part", part.name, share), message("gantt.part", part.brief, share), share, ""};
}

std::string about_part(const StepParts& step, const StepPart& part) {
    return message("gantt.about_part", part_text(step, part)[0], std::llround(part.cycles)) + "\n" +
           message("gantt.about_phases");
}

std::vector<TimeTick> time_ticks(double us, int most) {
    const double unit = us >= 1e6 ? 1e6 : us >= 1e3 ? 1e3 : 1;
    const char* name = unit == 1e6 ? " s" : unit == 1e3 ? " ms" : " µs";
    const double step = round_step(us, std::max(1, most));
    std::vector<TimeTick> ticks;
    for (int k = 0; k * step <= us * (1 + 1e-9); ++k) ticks.push_back({k * step, text::number(k * step / unit) + name});
    return ticks;
}

}  // namespace tilescope::show
