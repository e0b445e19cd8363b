// `tilescope reconcile ALGO [FILE.csv]`: the hardware counters of any kernel beside the model's levels. Without a file,
// the command that writes one.
#include <cmath>
#include <cstdio>
#include <iostream>
#include <map>

#include "cli/commands.hpp"
#include "cli/json.hpp"
#include "core/text/numbers.hpp"
#include "core/text/page.hpp"
#include "core/text/table.hpp"
#include "core/text/words.hpp"
#include "device/levels.hpp"
#include "lab/flags/command.hpp"
#include "lab/flags/describe.hpp"
#include "lab/flags/values.hpp"
#include "lab/model/mapping.hpp"
#include "lab/model/timing.hpp"

namespace tilescope::cli {
using namespace lab;
using namespace device;
namespace {

struct ReconcileFlags {
    Options options;
    std::string algorithm, file, only;
    Index runs = 1;
};

std::vector<std::string> ncu_command(const std::string& file) {
    std::vector<std::string> words = ncu_words(std::vector<std::string>(ncu_metrics().begin(), ncu_metrics().end()));
    words.insert(words.end() - 2, {"--log-file", file});
    words.emplace_back("./your-program");
    return words;
}

/// Breaks the list of metrics after each comma; a shell joins the lines again.
void print_command(std::vector<std::string> words) {
    const std::string program = words.back(), list = words[words.size() - 2];
    words.resize(words.size() - 2);
    std::cout << shell_line(words) << " \\\n";
    for (const char c : list) std::cout << c << (c == ',' ? "\\\n" : "");
    std::cout << " \\\n" << program << '\n';
}

void print_how(const Experiment& e, const ReconcileFlags& f) {
    const std::string file = std::string(e.algorithm->name) + ".csv";
    if (f.options.json) {
        Json j = {{"schema", "tilescope.reconcile/1"}};
        j.update(lab::to_json(e));
        j["command"] = ncu_command(file);
        std::cout << j.dump(2) << '\n';
        return;
    }
    text::print_wrapped(std::cout, "Count what your kernel does, on the GPU that is compared with (" + e.gpu.name +
                                       "; counters may need root), with a program that runs it once:");
    std::cout << '\n';
    print_command(ncu_command(file));
    std::vector<std::string> next = command_of({"tilescope", "reconcile"}, e.algorithm->name, f.options);
    next.push_back(file);
    text::print_wrapped(std::cout, "\nThen, with the shape and the tiles that it ran (now " +
                                       describe(e.problem, *e.algorithm->computes) + ", " + tiles_text(e) +
                                       "; --only NAME where other kernels ran, too):");
    std::cout << '\n' << shell_line(next) << '\n';
}

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

/// Under each level the causes that add something, and what they leave.
void print_levels(const std::vector<Level>& levels) {
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
    table.print(std::cout);
}

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

std::string about_launches(const Report& r, const std::vector<NcuLaunch>& launches, const ReconcileFlags& f) {
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

void print(const Report& r, const std::vector<NcuLaunch>& launches, const Levels& levels, const ReconcileFlags& f) {
    const Experiment& e = r.experiment;
    text::print_wrapped(std::cout, std::string(e.algorithm->name) + " on " + e.gpu.name + ": " +
                                       describe(e.problem, *e.algorithm->computes) + "; tiles " + tiles_text(e));
    text::print_wrapped(std::cout, about_launches(r, launches, f));
    for (const std::string& note : levels.notes) text::print_wrapped(std::cout, note);
    std::cout << '\n';
    print_levels(levels.there);
    std::cout << '\n';
    text::print_wrapped(std::cout, "Off: the measured over the model's, minus 1." + about_causes(e, levels.there));
    text::print_wrapped(std::cout, about_time(levels.there));
    text::print_wrapped(std::cout, about_missing(levels.missing));
    const auto has = [&](std::initializer_list<Compared> any) {
        return std::ranges::any_of(levels.there,
                                   [&](const Level& l) { return std::ranges::find(any, l.what) != any.end(); });
    };
    if (has({Compared::sm_read, Compared::sm_written, Compared::sm_reduced}))
        text::print_wrapped(std::cout, traffic_of(r) + " A store of less than a sector of 32 bytes counts as one.");
    std::vector<std::string> conditions;
    if (!r.time) conditions.push_back("No time and no DRAM traffic: " + r.no_time + '.');
    if (has({Compared::dram_written, Compared::dram_both}))
        conditions.emplace_back("DRAM written: without what the L2 still holds at the end of a launch.");
    if (has({Compared::time}))
        conditions.emplace_back("Time: with caches cold under Nsight Compute, warm in the model.");
    text::print_wrapped(std::cout, text::join(conditions, " "));
}

void print_json(const Report& r, const std::vector<NcuLaunch>& launches, const Levels& levels,
                const ReconcileFlags& f) {
    Json j = {{"schema", "tilescope.reconcile/1"}};
    j.update(lab::to_json(r.experiment));
    constexpr std::size_t whole = 10'000;  // characters: names are made printable, but are not cut
    j["file"] = text::shown(f.file, whole);
    j["runs"] = f.runs;
    j["launches"] = Json::array();
    for (const NcuLaunch& l : launches) j["launches"].push_back(text::shown(l.kernel, whole));
    j["levels"] = Json::array();
    for (const Level& l : levels.there) j["levels"].push_back(to_json(l));
    j["missing"] = Json::array();
    for (const Missing& m : levels.missing)
        j["missing"].push_back({{"level", name_of(m.what)}, {"metric", m.metric}, {"why", m.why}});
    j["notes"] = levels.notes;
    for (const TensorReport& t : r.tensors) j["traffic"][t.name] = to_json(t.traffic);
    std::cout << j.dump(2) << '\n';
}

void reconcile(const ReconcileFlags& f) {
    const Algorithm& algorithm = chosen_algorithm(f.algorithm);
    const Request request = read_request(f.options, algorithm);
    if (f.file.empty() && !f.only.empty())
        throw UsageError("--only " + text::shown(f.only) + ": chooses launches of a file; name one, as in flash.csv");
    if (f.file.empty())
        return with_tiling(algorithm, f.options, request, [&](const Experiment& e) {
            count(e, &control());  // throws for tiles that do not fit, before somebody measures
            print_how(e, f);
        });
    const auto launches = of_file(f.file, [&] { return read_launches(f.file, f.only); });
    with_tiling(algorithm, f.options, request, [&](const Experiment& e) {
        const Report report = count_and_time(e, &control());
        const auto levels = of_file(f.file, [&] { return levels_of(report, launches, f.runs); });
        f.options.json ? print_json(report, launches, levels, f) : print(report, launches, levels, f);
    });
}

}  // namespace

void add_reconcile(CLI::App& app) {
    static ReconcileFlags flags;
    CLI::App* sub = app.add_subcommand("reconcile", "Hardware counters of any kernel beside the model, level by level");
    add_algorithm_argument(*sub, flags.algorithm);
    sub->add_option("FILE", flags.file, "What ncu wrote; without, how to have it written")->type_name("FILE.csv");
    sub->add_option("--only", flags.only, "Launches of kernels with this in their name")->type_name("NAME");
    add_whole_option(*sub, "--runs", {1, 1'000'000, 10}, "Runs that the file holds; counters are of one", [](Index n) {
        flags.runs = n;
    })->default_str("1");
    add_problem_options(*sub, flags.options);
    add_json_option(*sub, flags.options);
    sub->footer(
        "Examples:\n"
        "  tilescope reconcile flash_v2 --heads 16 --seq 4096\n"
        "  tilescope reconcile flash_v2 FILE.csv --heads 16 --seq 4096 --gpu H100 --only flash_fwd\n"
        "Any CSV that ncu wrote is read, its raw or details page, also saved again by a spreadsheet; levels that it "
        "does\nnot have are listed. Shape, type, mask and tiles have to be those of the kernel that was counted.");
    sub->callback([] { reconcile(flags); });
}

}  // namespace tilescope::cli
