#include "show/words/modelled.hpp"

#include <cmath>

#include "core/text/numbers.hpp"
#include "lab/model/timing.hpp"
#include "lab/report/metric.hpp"

namespace tilescope::show {
using namespace lab;

namespace {

/// A metric of lab/metric in the panel.
struct Shown {
    const char* key;
    bool compared = true, of_launch = false;
    std::string (*text)(const Report&) = nullptr;  ///< where the text says more than the metric
    const Metric& metric() const { return *find_metric(key); }
};

const LaunchTime& longest(const Report& r) { return r.time->longest(); }

constexpr Shown of_traffic[] = {{"dram_read_bytes"}, {"dram_write_bytes"}, {"l2_hit_rate", false}, {"dram_intensity"}};

constexpr Shown shown_of_time[] = {{"time_us"}, {"useful_flops_per_s"}};

constexpr Shown shown_of_launch[] = {
    {"bound", false, true},
    {"waves", false, true},
    {"sms_in_use", false, true,
     [](const Report& r) { return text::grouped(longest(r).sms) + " of " + text::grouped(r.experiment.gpu.sms); }},
    {"blocks_per_sm", false, true},
    {"limited_by", false, true},
    {"warps", false, true},
    {"registers_per_thread", false, true},
};

/// Which of several launches it is, and why it is infeasible, or that its registers are estimated.
std::string launch_text(const Report& r) {
    const LaunchTime& l = longest(r);
    std::string text;
    if (const auto n = static_cast<Count>(r.time->launches.size()); n > 1)
        text = "\nof " + l.kernel + ", the longest of " + text::grouped(n) + " launches";
    if (const std::string why = why_infeasible(*r.time); !why.empty()) return text + "\n" + why;
    return text + (l.compiled ? "" : "\nregisters are estimated");
}

TableCell cell(const Shown& s, const Report& r) {
    const Metric& m = s.metric();
    const MetricValue value = m.of(r);
    const std::string title = m.title;
    if (value.index() == 0) return {"not modelled", title + " is not modelled here: " + r.time->no_dram};
    const std::string brief = s.text ? s.text(r) : shown(m, value);
    const Bytes* bytes = m.unit == MetricUnit::bytes ? std::get_if<Bytes>(&value) : nullptr;
    return {brief, title + ": " + (bytes ? text::grouped(*bytes) + " B" : brief) + "\n" + m.meaning +
                       (s.of_launch ? launch_text(r) : "") + "\nmodelled, not measured"};
}

const std::string no_rival = "–";

/// Fills in the column of the other algorithm, and the ratio.
void compare(const Shown& s, const Run& run, const std::string& name, const Report* other, CounterRow& row) {
    const Report& own = run.counted();
    if (!other) {
        row.other = {"does not fit", name + " does not fit on chip with this tiling"};
    } else if (other == &own) {
        row.other = row.whole;
    } else if (!other->time) {
        row.other = !other->fits_hbm()       ? TableCell{"beyond HBM", beyond_hbm(other->experiment)}
                    : other->no_time.empty() ? TableCell{no_rival, "modelled of what runs: race against " + name}
                                             : TableCell{"does not fit", other->no_time};
    } else {
        row.other = cell(s, *other);
    }
    if (!s.compared || !own.time || !other || !other->time) return;
    if (const auto a = number_of(s.metric(), own), b = number_of(s.metric(), *other); a && b)
        row.ratio = ratio_text(*b, *a);
}

CounterRow row_of(const Shown& s, const Run& run, const std::string& name, const Report* other) {
    const Report& own = run.counted();
    const Metric& m = s.metric();
    CounterRow row{
        m.title,
        m.brief,
        std::string(m.title) + ", modelled: " + m.meaning,
        {"modelled", "of the whole run, not so far: modelled, not measured"},
        own.time ? cell(s, own) : TableCell{run.counted().fits_sm() ? "no time" : "does not fit", why_no_time(run)},
        {},
        ""};
    row.of_whole_run = true;
    compare(s, run, name, other, row);
    return row;
}

/// A counted metric, but of the whole run only.
CounterRow compulsory_row(const Run& run, const std::string& name, const Report* other) {
    const Metric& m = *find_metric("compulsory_bytes");
    const std::string title = m.title;
    const auto cell = [&](const Report& r) {
        return TableCell{shown(m, m.of(r)), title + ": " + text::grouped(r.compulsory_read()) + " B read, " +
                                                text::grouped(r.compulsory_written()) + " B written\n" + m.meaning};
    };
    CounterRow row{m.title,
                   m.brief,
                   title + ", counted: " + m.meaning,
                   {"counted", "of the whole run"},
                   cell(run.counted()),
                   {"does not fit", name + " does not fit on chip with this tiling"},
                   ""};
    row.of_whole_run = true;
    if (other) {
        row.other = cell(*other);
        row.ratio = ratio_text(*number_of(m, *other), *number_of(m, run.counted()));
    }
    return row;
}

/// What limits the time of a run and what the time is based on, or why there is no time.
std::string verdict_of(const Run& run) {
    if (const std::string why = why_no_time(run); !why.empty()) return why;
    const RunTime& t = *run.counted().time;
    return verdict(t, run.experiment()) + " " + basis(t, run.experiment());
}

}  // namespace

std::string about_sm_traffic() {
    const Metric& m = *find_metric("hbm_bytes");
    return std::string(m.title) + ", counted: " + m.meaning + ".";
}

std::vector<CounterRow> modelled_rows(const Run& run, const std::string& name, const Report* other) {
    std::vector<CounterRow> rows;
    for (const Shown& m : of_traffic) rows.push_back(row_of(m, run, name, other));
    rows.push_back(compulsory_row(run, name, other));
    for (const Shown& m : shown_of_time) rows.push_back(row_of(m, run, name, other));
    const std::size_t bound = rows.size();
    for (const Shown& m : shown_of_launch) rows.push_back(row_of(m, run, name, other));
    if (run.counted().time) rows[bound].whole.explanation += "\n" + verdict_of(run);
    return rows;
}

std::string why_no_time(const Run& run) {
    if (run.counted().time) return "";
    // A recording that today's program does not repeat is not timed: its remark says how they differ.
    return "No time is modelled: " + (run.remark().empty() ? run.counted().no_time : run.remark()) + ".";
}

std::vector<std::string> verdicts(const Run& run, const Run* rival) {
    if (!rival) return {verdict_of(run)};
    return {std::string(run.algorithm().name) + ": " + verdict_of(run),
            std::string(rival->algorithm().name) + ": " + verdict_of(*rival)};
}

std::string about_time(const Run& run, bool races) {
    if (const std::string why = why_no_time(run); !why.empty()) return why;
    const std::string infeasible = why_infeasible(*run.counted().time);
    const std::string warm = about_warm(run.counted());
    return (infeasible.empty() ? "" : "As modelled, " + infeasible + ".\n") + (warm.empty() ? "" : warm + '\n') +
           "Modelled: " +
           (races
                ? "what is played stands for the whole run, each launch's time evenly over its ticks.\n"
                : "when the thread blocks that are played have come so far in the whole run, each launch's evenly over "
                  "its ticks.\n") +
           basis(*run.counted().time, run.experiment());
}

}  // namespace tilescope::show
