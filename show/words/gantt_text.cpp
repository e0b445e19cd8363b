#include "show/words/gantt_text.hpp"

#include <algorithm>
#include <cmath>

#include "core/text/numbers.hpp"
#include "core/text/words.hpp"
#include "lab/figure/ticks.hpp"
#include "lab/model/timing.hpp"
#include "show/words/modelled.hpp"

namespace tilescope::show {
using namespace lab;
namespace {

constexpr double notable = 0.05;  // share of the time

std::string thread_blocks(Count n) { return text::counted(n, "thread block"); }

std::string three_digits(double x) { return x < 1000 ? text::number(x) : text::grouped(std::llround(x)); }

const LaunchTime& longest(const Run& run) { return run.gantt().longest().time; }

/// "softmax, the longest of 3 launches: "
std::string of_launch(const Run& run) {
    const std::size_t n = run.gantt().launches().size();
    if (n == 1) return "";
    return longest(run).kernel + ", the longest of " + std::to_string(n) + " launches: ";
}

/// How the thread blocks of the longest launch fill the SMs.
std::string filling(const Run& run) {
    const LaunchTime& l = longest(run);
    const Index sms = run.gantt().sms(), places = sms * l.residency.blocks;
    if (l.blocks <= places)
        return thread_blocks(l.blocks) + (l.blocks == 1 ? " runs" : ", all at once,") + " on " + text::grouped(l.sms) +
               " of " + text::grouped(sms) + " SMs.";
    return thread_blocks(l.blocks) + ", " + text::grouped(places) + " at a time: " + three_digits(l.waves) + " waves" +
           (l.tail >= notable ? ", and " + text::percent(l.tail) + " of the slots' time is tail." : ".");
}

std::string about_tail(const Run& run) {
    const GanttLaunch& l = run.gantt().longest();
    const bool in_waves = l.time.blocks > run.gantt().sms() * l.slots();
    std::string text;
    if (in_waves && l.time.tail >= notable)
        text = "Once the last thread block has started, at " + text::microseconds(l.last_start) +
               ", SMs that are done have nothing left to do. ";
    if (l.time.imbalance < 1 + 2 * notable) return text;
    const bool other_order = in_waves && run.experiment().placing.order != Order::longest;
    return text + "The longest thread block takes " + three_digits(l.time.imbalance) + " times the mean" +
           (other_order ? ": compare --order longest. " : ". ");
}

std::string name_of_run(const Run& run) { return run.algorithm().name; }

/// "flash_v1 on 1 SM": as many as its longest launch uses.
std::string on_sms(const Run& run) { return name_of_run(run) + " on " + text::counted(longest(run).sms, "SM"); }

/// At the start of a race: the two runs, and not yet the winner.
std::string both_start(const Run& run, const Run& rival) {
    return on_sms(run) + " against " + on_sms(rival) + ": both start now.";
}

/// "flash_v1 is 26% through".
std::string so_far(const Session& s, const Run& run) {
    return name_of_run(run) + " is " + text::percent(s.seconds(run, run.tick()) * 1e6 / run.gantt().us()) + " through";
}

std::string one_is_done(const Session& s, const Run& done, const Run& other) {
    return name_of_run(done) + " is done, after " + text::microseconds(done.gantt().us()) + "; " + so_far(s, other) +
           " (modelled).";
}

/// When both runs of a race are done.
std::string result(const Run& run, const Run& rival) {
    const bool first = run.gantt().us() <= rival.gantt().us();
    const Run &winner = first ? run : rival, &loser = first ? rival : run;
    const double ratio = loser.gantt().us() / winner.gantt().us();
    if (ratio < 1 + notable)
        return name_of_run(winner) + " and " + name_of_run(loser) +
               " took about as long: " + text::microseconds(winner.gantt().us()) + " and " +
               text::microseconds(loser.gantt().us()) + " (modelled).";
    return name_of_run(winner) + " took " + text::microseconds(winner.gantt().us()) + ", " + name_of_run(loser) + " " +
           three_digits(ratio) + " times as long (modelled).";
}

}  // namespace

std::string gantt_headline(const Session& s) {
    const Run& run = *s.run();
    if (!s.rival()) return of_launch(run) + filling(run);
    const Run& rival = *s.rival();
    const bool ended = run.tick() == run.ticks(), rival_ended = rival.tick() == rival.ticks();
    if (ended && rival_ended) return result(run, rival);
    if (ended) return one_is_done(s, run, rival);
    if (rival_ended) return one_is_done(s, rival, run);
    if (run.tick() == 0 && rival.tick() == 0) return both_start(run, rival);
    return so_far(s, run) + ", " + so_far(s, rival) + " (modelled).";
}

std::string gantt_reason(const Session& s) {
    const Run& run = *s.run();
    const auto waits = [](const Run& r) { return verdict(*r.counted().time, r.experiment()); };
    if (!s.rival()) return about_tail(run) + waits(run);
    return name_of_run(run) + ": " + of_launch(run) + filling(run) + " " + name_of_run(*s.rival()) + ": " +
           of_launch(*s.rival()) + filling(*s.rival());
}

std::vector<std::string> gantt_title(const Run& run, bool says_when_it_ends) {
    const Tiling tiles = run.experiment().tiling;
    const std::string brief = name_of_run(run) + " · " + std::to_string(tiles.br) + " × " + std::to_string(tiles.bc) +
                              (says_when_it_ends ? " · " + text::microseconds(run.gantt().us()) : "");
    return {brief + " · room for " + thread_blocks(run.gantt().longest().slots()) + " on each of " +
                text::grouped(run.gantt().sms()) + " SMs",
            brief, name_of_run(run)};
}

std::string gantt_left_out(const Session& s, Index every) {
    std::string text;
    for (const Run* run : {s.run(), s.rival()}) {
        if (!run) continue;
        const std::string whose = s.rival() ? name_of_run(*run) + ": " : "";
        for (const GanttLaunch& l : run->gantt().launches())
            if (l.stays.empty())
                text += whose + thread_blocks(l.time.blocks) + " of " + l.time.kernel +
                        " are too many to draw: one bar stands for all. ";
        const Index used = run->gantt().sms_used(), last = run->gantt().sms() - 1;
        if (used == last) text += whose + "SM " + text::grouped(last) + " has nothing to do. ";
        if (used < last)
            text += whose + "SMs " + text::grouped(used) + " to " + text::grouped(last) + " have nothing to do. ";
    }
    if (every > 1) text += "One of " + std::to_string(every) + " SMs is drawn. ";
    return text;
}

std::string gantt_legend(const Run& run) {
    Count blocks = 0;
    bool drawn = false;
    for (const GanttLaunch& l : run.gantt().launches()) blocks += l.time.blocks, drawn |= !l.stays.empty();
    const auto played = static_cast<Count>(run.schedule().placements().size());
    std::string text;
    if (drawn && played == blocks) text = "Bars are thread blocks; hatched: nothing to do, or not launched yet. ";
    if (drawn && played < blocks)
        text = "Strong bars are the " + text::grouped(played) + " of " + thread_blocks(blocks) +
               " that are played; hatched: nothing to do, or not launched yet. ";
    const bool assumed = run.counted().time->basis == Basis::assumed;
    return text + "Modelled, of the whole run" + (assumed ? " (no such GPU was measured)" : "") +
           "; drag to go through time.";
}

std::string places_title() { return "places for thread blocks that are taken, 0 to 100%"; }

std::string about_gantt(const Run& run, const GanttLaunch& l, Index sm, double us) {
    std::string text = "SM " + std::to_string(sm) + " at " + text::microseconds(us) + ", modelled";
    if (run.gantt().launches().size() > 1) text += "\n" + l.time.kernel;
    if (us < l.begin) return text + "\nthe launch itself: no thread block has started";
    if (l.stays.empty()) return text;
    const auto there = l.at(sm, us);
    if (there.empty()) return text + "\nno thread block: nothing is left for it";
    for (const GanttStay* stay : there) {
        text += "\nthread block " + text::grouped(stay->block) + " (";
        Index rest = stay->block;
        std::string place;
        for (std::size_t k = l.axes.size(); k-- > 0;) {
            const Tiles& tiles = l.axes[k].tiles;
            const std::string one = std::string(tiles.name()) + " " + std::to_string(rest % tiles.count() + 1);
            place = place.empty() ? one : one + ", " + place;
            rest /= tiles.count();
        }
        text += place + "): " + text::microseconds(stay->from) + " to " + text::microseconds(stay->to);
    }
    return text;
}

StepParts step_parts(const Run& run) {
    const LaunchTime& l = longest(run);
    const Index blocks = std::clamp<Index>(ceil_div(l.blocks, run.gantt().sms()), 1, l.residency.blocks);
    StepParts step{"", {}, l.step.together(blocks)};
    for (const Term& t : terms_of(l.step)) step.parts.push_back({in_words(t.unit), name_of(t.unit), t.cycles, false});
    if (l.step.waiting > 0) step.parts.push_back({"loads and barriers", "", l.step.waiting, true});
    const double turn = l.step.waiting_for_unit(blocks), memory = step.cycles - l.step.alone - turn;
    if (turn > 0) step.parts.push_back({"a unit that other warps use", "", turn, true});
    if (memory > 0) step.parts.push_back({"L2 or DRAM", "", memory, true});
    const std::string whose = blocks > 1             ? "as one of " + thread_blocks(blocks) + " on an SM has it"
                              : l.step.residents > 1 ? "as half of a thread block's warps have it"
                                                     : "as a thread block has it";
    step.title =
        "A loop step of " + l.kernel + ", " + whose + ": " + text::grouped(std::llround(step.cycles)) + " cycles";
    return step;
}

std::vector<std::string> part_text(const StepParts& step, const StepPart& part) {
    const std::string share = text::percent(part.cycles / step.cycles);
    if (part.waits) return {"waits for " + part.name + " " + share, "waits " + share, share, ""};
    return {part.name + " " + share, part.brief + " " + share, share, ""};
}

std::string about_part(const StepParts& step, const StepPart& part) {
    return part_text(step, part)[0] + ": " + text::grouped(std::llround(part.cycles)) +
           " cycles, modelled\nThe phases of a loop step depend on each other; what one thread block waits for, others "
           "use.";
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
