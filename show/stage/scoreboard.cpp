#include "show/stage/scoreboard.hpp"

#include <algorithm>

#include "core/text/message.hpp"
#include "core/text/numbers.hpp"
#include "lab/report/metric.hpp"
#include "show/words/tables.hpp"

namespace tilescope::show {
using namespace lab;
using text::message;
namespace {

const Metric& operations_of(const Run& run) {
    return *find_metric(run.counted().counters.matmul_flops > 0 ? "matmul_flops" : "exps");
}

/// The metric so far in the whole run. Heads are alike, so the whole run has done the same share of its work as the
/// heads that are played.
double so_far(const Run& run, const Metric& m) {
    const double whole = *number_in(m.of_counters(run.counted().counters)),
                 played = *number_in(m.of_counters(run.recorded_counters())),
                 now = *number_in(m.of_counters(run.player().state().total));
    return played > 0 ? whole * (now / played) : whole;
}

/// Modelled DRAM traffic from the start of the run to a time.
std::optional<double> dram_until(const Run& run, double us) {
    double bytes = 0;
    for (const GanttLaunch& l : run.gantt().launches()) {
        if (!l.time.dram) return std::nullopt;
        const double part = l.to > l.begin ? std::clamp((us - l.begin) / (l.to - l.begin), 0.0, 1.0) : us >= l.to;
        bytes += part * static_cast<double>(l.time.dram->total());
    }
    return bytes;
}

/// Whether the run reads what an earlier pass has saved for it. Such runs differ in how much was saved.
bool keeps(const Run& run) { return run.algorithm().computes->saved != nullptr; }

Scoreboard::Row row_of(const Run& run, const Score& s, bool says_when_it_ends) {
    const std::string time = text::microseconds(s.seconds * 1e6);
    const std::string dram = s.dram_bytes ? text::bytes(*s.dram_bytes) : message("score.not_modelled");
    Scoreboard::Row row{{run.algorithm().name},
                        {{text::percent(s.done)},
                         says_when_it_ends || run.tick() == run.ticks()
                             ? std::vector{message("score.time_of", time, text::microseconds(run.gantt().us())), time}
                             : std::vector{time},
                         {text::bytes(s.sm_bytes)},
                         {dram, "–"},
                         {text::count(s.operations)}},
                        s.done};
    if (keeps(run)) row.cells.push_back({text::bytes(run.counted().hbm_extra)});
    return row;
}

/// The row of ratios: what the slower run needs over what the faster one needs.
Scoreboard::Row ratios(const Run& fast, const Score& f, const Run& slow, const Score& s) {
    const std::string names = std::string(slow.algorithm().name) + " : " + fast.algorithm().name;
    const std::string time = ratio_text(s.seconds, f.seconds);
    const std::string dram = f.dram_bytes && s.dram_bytes ? ratio_text(*s.dram_bytes, *f.dram_bytes) : "";
    Scoreboard::Row row{{names, message("score.ratio")},
                        {{""},
                         {message("score.ratio_of_time", time), time},
                         {ratio_text(s.sm_bytes, f.sm_bytes)},
                         {dram},
                         {ratio_text(s.operations, f.operations)}}};
    const auto extra = [](const Run& run) { return static_cast<double>(run.counted().hbm_extra); };
    if (keeps(fast)) row.cells.push_back({ratio_text(extra(slow), extra(fast))});
    return row;
}

/// Whether all heads are played, in words.
std::string of_what(const Run& run) {
    const Index all = run.experiment().problem.batch_heads(), played = run.recorded().batch_heads();
    if (played == all) return message("score.whole_runs");
    return message(run.recorded().packed > 1 ? "score.some_kv_heads" : "score.some_heads", played, all);
}

}  // namespace

Score score_of(const Session& session, const Run& run) {
    const bool over = run.tick() == run.ticks();
    Score s;
    s.seconds = over ? run.gantt().us() * 1e-6 : session.seconds(run, run.tick());
    s.done = s.seconds * 1e6 / run.gantt().us();
    s.sm_bytes = so_far(run, *find_metric("hbm_bytes"));
    s.dram_bytes = dram_until(run, s.seconds * 1e6);
    s.operations = so_far(run, operations_of(run));
    return s;
}

Scoreboard scoreboard(const Session& session, bool says_when_it_ends) {
    const Run &a = *session.run(), &b = *session.rival();
    const Score x = score_of(session, a), y = score_of(session, b);
    const Metric &sm = *find_metric("hbm_bytes"), &dram = *find_metric("dram_bytes"), &operations = operations_of(a);
    Scoreboard board{{{""},
                      {{message("score.of_its_time"), message("score.done")},
                       {message("score.modelled_time"), message("score.time")},
                       {sm.title, sm.brief},
                       {message("score.modelled", dram.title), dram.title, dram.brief},
                       {operations.title, operations.brief}}},
                     {row_of(a, x, says_when_it_ends), row_of(b, y, says_when_it_ends)},
                     text::sentences({pace_text(session.setup().pace), of_what(a)})};
    if (keeps(a)) board.titles.cells.push_back({message("score.extra_memory"), message("score.extra")});
    if (a.tick() < a.ticks() || b.tick() < b.ticks()) return board;
    const bool first = x.seconds <= y.seconds;
    board.rows[0].won = x.seconds < y.seconds, board.rows[1].won = y.seconds < x.seconds;
    for (Scoreboard::Row& row : board.rows)
        if (row.won) row.name.insert(row.name.begin(), message("score.wins", row.name[0]));
    board.rows.push_back(first ? ratios(a, x, b, y) : ratios(b, y, a, x));
    return board;
}

std::string pace_text(Pace pace) {
    switch (pace) {
        case Pace::bytes:
            return message("score.paced_by_bytes");
        case Pace::time:
            return message("score.paced_by_time");
        default:
            return message("score.paced_by_operations");
    }
}

}  // namespace tilescope::show
