// What is said of a file of counters beside a run.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>

#include "core/text/numbers.hpp"
#include "device/levels.hpp"

namespace tilescope::device {
using namespace lab;
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

/// Other causes add nothing that one would see.
bool is_printed(const Level& l, const TimeCause& c) { return std::abs(c.us) >= 0.005 * l.model; }
bool is_printed(const Level& l, const Cause& c) { return l.beyond() != 0 && c.amount != 0; }

/// "K 33.6 MB, ... read; O 2.10 MB written": the model's SM traffic by tensor.
std::string traffic_of(const Report& r) {
    std::vector<std::string> read, written, reduced;
    for (const TensorReport& t : r.tensors) {
        const auto add = [&](std::vector<std::string>& to, Bytes n) {
            if (n > 0) to.push_back(t.name + ' ' + text::bytes(n));
        };
        add(read, t.traffic.read), add(written, t.traffic.write), add(reduced, t.traffic.reduce);
    }
    return "The model's SM traffic: " + text::join(read, ", ") + " read; " + text::join(written, ", ") + " written" +
           (reduced.empty() ? "." : "; " + text::join(reduced, ", ") + " sent to be added.");
}

/// What counters say of the time, whether it costs something or not.
std::string about_time(const std::vector<Level>& levels) {
    std::vector<std::string> said;
    bool below = false;
    for (const Level& l : levels)
        for (const TimeCause& c : l.time_causes)
            said.push_back(std::string(c.name) + ", " + c.words), below = below || is_printed(l, c);
    return said.empty() ? ""
                        : "Counted beside the time: " + text::join(said, "; ") + "." +
                              (below ? " Below the time: what each by itself adds to the modelled one; they overlap."
                                     : " None of these adds to the modelled time.");
}

std::string about_missing(const std::vector<Missing>& missing) {
    std::map<std::string, std::string> by_reason;
    for (const Missing& m : missing) {
        std::string& levels = by_reason[m.why];
        levels += std::string(levels.empty() ? "" : ", ") + name_of(m.what) + " (" + m.metric + ')';
    }
    std::string words;
    for (const auto& [why, levels] : by_reason) words += why + ": " + levels + "; ";
    return words.empty()
               ? ""
               : text::capitalised(words) + "the command that `tilescope reconcile` prints without a file counts all.";
}

std::string about_causes(const Experiment& e, const std::vector<Level>& levels) {
    if (!has_causes(e))
        return " No formulas say what a kernel of " + std::string(e.algorithm->name) + " in " +
               name_of(e.problem.dtype) + " counts beyond the model.";
    const bool below = std::ranges::any_of(levels, [](const Level& l) {
        return std::ranges::any_of(l.causes, [&](const Cause& c) { return is_printed(l, c); });
    });
    if (!below) return "";
    return " Below a level: what TileScope's own kernel of " + std::string(e.algorithm->name) +
           " counts beyond the model, by formulas of shape and tiles that docs/validation.md explains, and what they "
           "leave. The warps of other kernels may own other rows.";
}

}  // namespace

std::string about_launches(const Reconciled& f) {
    const Report& r = f.report;
    const auto& launches = f.launches;
    std::vector<std::string> names;
    for (const std::string& name : kernels_of(launches)) names.push_back(text::shown(name, 80));
    const auto launches_of = [](std::size_t n) { return std::to_string(n) + (n == 1 ? " launch" : " launches"); };
    std::string said = text::shown(f.file) + ": " + launches_of(launches.size()) + " of " + text::join(names, ", ");
    if (f.runs > 1) said += ", " + std::to_string(f.runs) + " runs";
    const std::size_t all = r.launches.size() * static_cast<std::size_t>(f.runs);
    if (launches.size() == all) return said;
    said += "; a run of " + std::string(r.experiment.algorithm->name) + " has " + launches_of(r.launches.size()) + ": ";
    if (launches.size() > all)
        return said + "--runs N where the file holds several, --only NAME where other kernels ran, too";
    if (f.runs > 1) return said + "fewer than --runs " + std::to_string(f.runs) + " takes them for";
    return said + (f.only.empty()
                       ? "the file lacks some, unless the kernel does it in fewer"
                       : "--only " + text::shown(f.only) + " leaves some out, unless another kernel does it in fewer");
}

text::Table levels_table(const std::vector<Level>& levels) {
    text::Table table({"", "by", "the model's", "measured", "off"}, 2);
    for (const Level& l : levels) {
        table.add({name_of(l.what), l.counted ? "counted" : "modelled", number_of(l, l.model), number_of(l, l.measured),
                   percent_of(l, l.beyond())});
        for (const TimeCause& c : l.time_causes)
            if (is_printed(l, c))
                table.add({"  " + std::string(c.name), "modelled",
                           (c.us > 0 ? "+ " : "- ") + text::microseconds(std::abs(c.us)), "", percent_of(l, c.us)});
        if (l.causes.empty() || l.beyond() == 0) continue;
        for (const Cause& c : l.causes)
            if (is_printed(l, c))
                table.add({"  " + std::string(c.name), "by formula",
                           (c.amount > 0 ? "+ " : "- ") + text::grouped(std::abs(c.amount)), "",
                           percent_of(l, static_cast<double>(c.amount))});
        table.add({"  left", "", "", number_of(l, l.left()), percent_of(l, l.left())});
    }
    return table;
}

std::vector<std::string> remarks_on(const Reconciled& f) {
    const Report& r = f.report;
    const std::vector<Level>& levels = f.levels.there;
    std::vector<std::string> said = {
        "Off: the measured over the model's, minus 1." + about_causes(r.experiment, levels), about_time(levels),
        about_missing(f.levels.missing)};
    const auto has = [&](std::initializer_list<Compared> any) {
        return std::ranges::any_of(levels, [&](const Level& l) { return std::ranges::find(any, l.what) != any.end(); });
    };
    if (has({Compared::sm_read, Compared::sm_written, Compared::sm_reduced}))
        said.push_back(traffic_of(r) + " A store of less than a sector of 32 bytes counts as one.");
    std::vector<std::string> conditions;
    if (!r.time) conditions.push_back("No time and no DRAM traffic: " + r.no_time + '.');
    if (has({Compared::dram_written, Compared::dram_both}))
        conditions.emplace_back("DRAM written: without what the L2 still holds at the end of a launch.");
    if (has({Compared::time}))
        conditions.emplace_back("Time: with caches cold under Nsight Compute, warm in the model.");
    said.push_back(text::join(conditions, " "));
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
