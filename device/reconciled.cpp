// The texts about a file of counters beside a run.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>

#include "core/text/message.hpp"
#include "core/text/numbers.hpp"
#include "device/levels.hpp"

namespace tilescope::device {
using namespace lab;
using text::message;
namespace {

std::string number_of(const Level& l, double x) {
    return l.what == Compared::time ? text::microseconds(x) : text::grouped(std::llround(x));
}

std::string percent_of(const Level& l, double amount) {
    const auto p = l.percent(amount);
    char text[32] = "-";
    if (p) std::snprintf(text, sizeof text, std::abs(*p) < 100 ? "%+.3f%%" : "%+.0f%%", *p);
    return amount == 0 ? "0" : text;
}

/// Whether a cause adds enough to be seen.
bool is_printed(const Level& l, const TimeCause& c) { return std::abs(c.us) >= 0.005 * l.model; }
bool is_printed(const Level& l, const Cause& c) { return l.beyond() != 0 && c.amount != 0; }

std::string title_of(Compared what) {
    constexpr const char* titles[] = {"reconciled.sm_read",      "reconciled.sm_written",   "reconciled.sm_reduced",
                                      "reconciled.dram_read",    "reconciled.dram_written", "reconciled.dram_both",
                                      "reconciled.exponentials", "reconciled.matrix_flops", "reconciled.time"};
    return message(titles[static_cast<std::size_t>(what)]);
}

/// "K 33.6 MB, ... read; O 2.10 MB written": the model's SM traffic by tensor.
std::string traffic_of(const Report& r) {
    std::vector<std::string> read, written, reduced;
    for (const TensorReport& t : r.tensors) {
        const auto add = [&](std::vector<std::string>& to, Bytes n) {
            if (n > 0) to.push_back(message("reconciled.tensor", t.name, text::bytes(n)));
        };
        add(read, t.traffic.read), add(written, t.traffic.write), add(reduced, t.traffic.reduce);
    }
    const std::string reads = text::join(read, ", "), writes = text::join(written, ", ");
    return reduced.empty() ? message("reconciled.traffic", reads, writes)
                           : message("reconciled.traffic_with_sums", reads, writes, text::join(reduced, ", "));
}

/// What counters say of the causes of time, and whether any of them costs something.
std::string about_time(const std::vector<Level>& levels) {
    std::vector<std::string> said;
    bool below = false;
    for (const Level& l : levels)
        for (const TimeCause& c : l.time_causes)
            said.push_back(message("reconciled.time_cause", message(c.title), c.words)),
                below = below || is_printed(l, c);
    if (said.empty()) return "";
    return message(below ? "reconciled.time_causes" : "reconciled.time_causes_add_nothing", text::join(said, "; "));
}

std::string about_missing(const std::vector<Missing>& missing) {
    std::map<std::string, std::vector<std::string>> by_reason;
    for (const Missing& m : missing)
        by_reason[m.why].push_back(message("reconciled.missing_level", title_of(m.what), m.metric));
    std::vector<std::string> reasons;
    for (const auto& [why, levels] : by_reason)
        reasons.push_back(message("reconciled.missing_levels", why, text::join(levels, ", ")));
    return reasons.empty() ? "" : message("reconciled.missing", text::capitalised(text::join(reasons, "; ")));
}

std::string about_off(const Experiment& e, const std::vector<Level>& levels) {
    const std::string meaning = message("reconciled.about_off");
    if (!has_causes(e))
        return text::sentences(
            {meaning, message("reconciled.no_formulas", e.algorithm->name, name_of(e.problem.dtype))});
    const bool below = std::ranges::any_of(levels, [](const Level& l) {
        return std::ranges::any_of(l.causes, [&](const Cause& c) { return is_printed(l, c); });
    });
    return below ? text::sentences({meaning, message("reconciled.causes", e.algorithm->name)}) : meaning;
}

}  // namespace

std::string about_launches(const Reconciled& f) {
    const Report& r = f.report;
    const auto& launches = f.launches;
    std::vector<std::string> names;
    for (const std::string& name : kernels_of(launches)) names.push_back(text::shown(name, 80));
    const std::size_t n = launches.size(), of_run = r.launches.size(), all = of_run * static_cast<std::size_t>(f.runs);
    const std::string file = text::shown(f.file), digits = std::to_string(n), runs = std::to_string(f.runs);
    const std::string there =
        f.runs > 1 ? message("reconciled.launches_of_runs", file, digits, n, text::join(names, ", "), runs)
                   : message("reconciled.launches", file, digits, n, text::join(names, ", "));
    if (n == all) return there;
    const std::string a_run =
        message("reconciled.a_run_has", there, r.experiment.algorithm->name, std::to_string(of_run), of_run);
    if (n > all) return message("reconciled.too_many_launches", a_run);
    if (f.runs > 1) return message("reconciled.too_few_for_runs", a_run, runs);
    return f.only.empty() ? message("reconciled.too_few_launches", a_run)
                          : message("reconciled.too_few_called", a_run, text::shown(f.only));
}

text::Table levels_table(const std::vector<Level>& levels) {
    const std::string modelled = message("reconciled.modelled");
    text::Table table({"", message("reconciled.by"), message("reconciled.model"), message("reconciled.measured"),
                       message("reconciled.off")},
                      2);
    for (const Level& l : levels) {
        table.add({title_of(l.what), l.counted ? message("reconciled.counted") : modelled, number_of(l, l.model),
                   number_of(l, l.measured), percent_of(l, l.beyond())});
        for (const TimeCause& c : l.time_causes)
            if (is_printed(l, c))
                table.add({"  " + message(c.title), modelled,
                           (c.us > 0 ? "+ " : "- ") + text::microseconds(std::abs(c.us)), "", percent_of(l, c.us)});
        if (l.causes.empty() || l.beyond() == 0) continue;
        for (const Cause& c : l.causes)
            if (is_printed(l, c))
                table.add({"  " + message(c.title), message("reconciled.by_formula"),
                           (c.amount > 0 ? "+ " : "- ") + text::grouped(std::abs(c.amount)), "",
                           percent_of(l, static_cast<double>(c.amount))});
        table.add({"  " + message("reconciled.left"), "", "", number_of(l, l.left()), percent_of(l, l.left())});
    }
    return table;
}

std::vector<std::string> remarks_on(const Reconciled& f) {
    const Report& r = f.report;
    const std::vector<Level>& levels = f.levels.there;
    std::vector<std::string> said = {about_off(r.experiment, levels), about_time(levels),
                                     about_missing(f.levels.missing)};
    const auto has = [&](std::initializer_list<Compared> any) {
        return std::ranges::any_of(levels, [&](const Level& l) { return std::ranges::find(any, l.what) != any.end(); });
    };
    if (has({Compared::sm_read, Compared::sm_written, Compared::sm_reduced}))
        said.push_back(text::sentences({traffic_of(r), message("reconciled.sectors")}));
    std::vector<std::string> conditions;
    if (!r.time) conditions.push_back(message("reconciled.no_time", r.no_time));
    if (has({Compared::dram_written, Compared::dram_both})) conditions.push_back(message("reconciled.held_by_l2"));
    if (has({Compared::time})) conditions.push_back(message("reconciled.cold_caches"));
    said.push_back(text::sentences(conditions));
    return said;
}

Json to_json(const Reconciled& f) {
    Json j = {{"schema", "tilescope.reconcile/1"}};
    j.update(to_json(f.report.experiment));
    constexpr std::size_t whole = 10'000;  // characters: names are made printable, but are not cut
    j["file"] = text::shown(f.file, whole);
    j["runs"] = f.runs;
    j["launches"] = Json::array();
    for (const NcuLaunch& l : f.launches) j["launches"].push_back(text::shown(l.kernel, whole));
    j["levels"] = Json::array();
    for (const Level& l : f.levels.there) j["levels"].push_back(to_json(l));
    j["missing"] = Json::array();
    for (const Missing& m : f.levels.missing)
        j["missing"].push_back({{"level", name_of(m.what)}, {"metric", m.metric}, {"why", m.why}});
    j["notes"] = f.levels.notes;
    for (const TensorReport& t : f.report.tensors) j["traffic"][t.name] = lab::to_json(t.traffic);
    return j;
}

}  // namespace tilescope::device
