#include "show/words/modelled.hpp"

#include "core/text/message.hpp"
#include "core/text/numbers.hpp"
#include "core/text/words.hpp"
#include "lab/model/basis.hpp"
#include "lab/model/verdict.hpp"
#include "lab/model/warm.hpp"
#include "lab/report/metric.hpp"

namespace tilescope::show {
using namespace lab;
using text::message;
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
     [](const Report& r) { return message("modelled.sms_in_use", longest(r).sms, r.experiment.gpu.sms); }},
    {"blocks_per_sm", false, true},
    {"limited_by", false, true},
    {"warps", false, true},
    {"registers_per_thread", false, true},
};

/// Adds lines about the longest launch: which it is, and why it is infeasible or that its registers are estimated.
void add_launch(const Report& r, std::vector<std::string>& lines) {
    const LaunchTime& l = longest(r);
    if (const auto n = static_cast<Count>(r.time->launches.size()); n > 1)
        lines.push_back(message("modelled.longest_launch", l.kernel, n));
    if (const std::string why = why_infeasible(*r.time); !why.empty())
        lines.push_back(why);
    else if (!l.compiled)
        lines.push_back(message("modelled.registers_estimated"));
}

TableCell cell(const Shown& s, const Report& r) {
    const Metric& m = s.metric();
    const MetricValue value = m.of(r);
    if (value.index() == 0) return {message("modelled.not"), message("modelled.not_here", m.title, r.time->no_dram)};
    const std::string brief = s.text ? s.text(r) : shown(m, value);
    const Bytes* bytes = m.unit == MetricUnit::bytes ? std::get_if<Bytes>(&value) : nullptr;
    std::vector<std::string> lines = {message("modelled.value", m.title, bytes ? text::grouped(*bytes) + " B" : brief),
                                      m.meaning};
    if (s.of_launch) add_launch(r, lines);
    lines.push_back(message("modelled.not_measured"));
    return {brief, text::join(lines, "\n")};
}

TableCell does_not_fit(const std::string& name) {
    return {message("modelled.does_not_fit"), message("modelled.does_not_fit_on_chip", name)};
}

const std::string no_rival = "–";

/// Fills in the column of the other algorithm, and the ratio.
void compare(const Shown& s, const Run& run, const std::string& name, const Report* other, CounterRow& row) {
    const Report& own = run.counted();
    if (!other) {
        row.other = does_not_fit(name);
    } else if (other == &own) {
        row.other = row.whole;
    } else if (!other->time) {
        row.other = !other->fits_hbm()       ? TableCell{message("modelled.beyond_hbm"), beyond_hbm(other->experiment)}
                    : other->no_time.empty() ? TableCell{no_rival, message("modelled.race_against", name)}
                                             : TableCell{message("modelled.does_not_fit"), other->no_time};
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
        message("modelled.about", m.title, m.meaning),
        {message("modelled.so_far"), message("modelled.about_so_far")},
        own.time ? cell(s, own)
                 : TableCell{message(own.fits_sm() ? "modelled.no_time" : "modelled.does_not_fit"), why_no_time(run)},
        {},
        ""};
    row.of_whole_run = true;
    compare(s, run, name, other, row);
    return row;
}

/// The row of the compulsory bytes, which are counted for the whole run only.
CounterRow compulsory_row(const Run& run, const std::string& name, const Report* other) {
    const Metric& m = *find_metric("compulsory_bytes");
    const auto cell = [&](const Report& r) {
        const std::string bytes = message("modelled.compulsory", m.title, r.compulsory_read(), r.compulsory_written());
        return TableCell{shown(m, m.of(r)), bytes + "\n" + m.meaning};
    };
    CounterRow row{m.title,
                   m.brief,
                   message("modelled.about_counted", m.title, m.meaning),
                   {message("modelled.counted"), message("modelled.of_whole_run")},
                   cell(run.counted()),
                   does_not_fit(name),
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
    return text::sentences({verdict(t, run.experiment()), basis(t, run.experiment())});
}

}  // namespace

std::string about_sm_traffic() {
    const Metric& m = *find_metric("hbm_bytes");
    return message("modelled.about_sm_traffic", m.title, m.meaning);
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
    return message("modelled.why_no_time", run.remark().empty() ? run.counted().no_time : run.remark());
}

std::vector<std::string> verdicts(const Run& run, const Run* rival) {
    if (!rival) return {verdict_of(run)};
    return {message("modelled.of_run", run.algorithm().name, verdict_of(run)),
            message("modelled.of_run", rival->algorithm().name, verdict_of(*rival))};
}

std::string about_time(const Run& run, bool races) {
    if (const std::string why = why_no_time(run); !why.empty()) return why;
    std::vector<std::string> lines;
    if (const std::string infeasible = why_infeasible(*run.counted().time); !infeasible.empty())
        lines.push_back(message("modelled.infeasible", infeasible));
    if (const std::string warm = about_warm(run.counted()); !warm.empty()) lines.push_back(warm);
    lines.push_back(message(races ? "modelled.about_race_time" : "modelled.about_time"));
    lines.push_back(basis(*run.counted().time, run.experiment()));
    return text::join(lines, "\n");
}

}  // namespace tilescope::show
