// `tilescope timeline ALGO...`: how long runs take on the modelled GPU, what they wait for, and what the L2 catches.
#include <cmath>
#include <iostream>
#include <sstream>

#include "cli/commands.hpp"
#include "cli/json.hpp"
#include "core/machine/counters.hpp"
#include "core/text/numbers.hpp"
#include "core/text/page.hpp"
#include "core/text/table.hpp"
#include "lab/flags/describe.hpp"
#include "lab/model/mapping.hpp"
#include "lab/model/timing.hpp"
#include "lab/workload/paging.hpp"

namespace tilescope::cli {
using namespace lab;
namespace {

using text::percent;

std::string cycles(double n) { return text::grouped(std::llround(n)); }

std::string one_decimal(double x) {
    return std::abs(x) >= 1000 ? text::grouped(std::llround(x)) : text::number(std::round(10 * x) / 10);
}

/// As NVIDIA defines it: resident warps over the most warps that an SM can have.
double occupancy(const LaunchTime& l, const GpuSpec& gpu) {
    return static_cast<double>(l.residency.blocks * l.warps) / static_cast<double>(gpu.max_warps_per_sm);
}

void print_launches(const RunTime& run, const GpuSpec& gpu) {
    text::Table table({"launch", "thread blocks", "on an SM", "occupancy", "limited by", "warps", "registers", "waves",
                       "tail", "clock", "time", "bound"});
    for (const LaunchTime& l : run.launches)
        table.add({l.kernel, text::grouped(l.blocks), std::to_string(l.residency.blocks), percent(occupancy(l, gpu)),
                   limited_by(l), std::to_string(l.warps), std::to_string(l.registers), one_decimal(l.waves),
                   percent(l.tail), std::to_string(std::lround(l.clock_mhz)) + " MHz", text::microseconds(l.us),
                   name_of(l.bound)});
    table.print(std::cout);
}

/// The cycles of a loop step, for a thread block alone on an SM, and for resident thread blocks together. Beside each
/// unit's cycles: the share of the launch's time that the unit is at work, on average over all SMs.
void print_step(const RunTime& run) {
    const LaunchTime& l = run.longest();
    std::cout << "\nA loop step of " << l.kernel << ", in cycles (a thread block has " << cycles(l.steps) << ")\n";
    text::Table table({"unit", "cycles", "at work, of the launch"});
    const auto at_work = [&](Unit u) { return percent(l.busy[static_cast<std::size_t>(u)]); };
    for (const Term& t : terms_of(l.step))
        if (t.cycles > 0.5) table.add({name_of(t.unit), cycles(t.cycles), at_work(t.unit)});
    if (l.step.waiting > 0.5) table.add({"waiting", cycles(l.step.waiting), ""});
    table.add({"alone: the sum", cycles(l.step.alone), ""});
    for (const Unit u : {Unit::l2, Unit::dram})
        if (const double busy = l.step.busy[static_cast<std::size_t>(u)]; busy > 0.5)
            table.add({std::string("beside: ") + name_of(u), cycles(busy), at_work(u)});
    table.print(std::cout, "  ");
    std::cout << "  busiest unit" << (l.step.queued > l.step.busiest ? " but shared memory, which queues: " : ": ")
              << cycles(l.step.busiest) << '\n';
    if (const StyleConstants& style = constants_of(run.style); style.sigma != 1)
        std::cout << "  on CUDA cores a unit takes " << text::number(style.sigma) << " x its work alone, "
                  << text::number(style.eta) << " x where thread blocks meet there\n";
    std::string together = "together: " + cycles(l.step.together(1));
    for (Index r = 2; r <= l.residency.blocks; ++r)
        together +=
            (r == 2 ? "; a loop step of each of " : ", of ") + std::to_string(r) + ": " + cycles(l.step.together(r));
    text::print_wrapped(std::cout, together, "  ", "    ");
}

void print_traffic(const RunTime& run, const Report& report) {
    const Counters& c = report.counters;
    std::ostringstream words;
    words << "SM traffic: " << text::bytes(c.hbm_read) << " read, " << text::bytes(c.hbm_write) << " written"
          << (c.hbm_reduce > 0 ? ", " + text::bytes(c.hbm_reduce) + " reduced. " : ". ");
    if (const auto dram = report.dram())
        words << "DRAM traffic: " << text::bytes(dram->read) << " read, " << text::bytes(dram->written)
              << " written; the L2 has " << percent(report.l2_hit_rate().value_or(0)) << " of what is read.";
    else
        words << "DRAM traffic is not modelled here: " << run.no_dram << '.';
    words << " Compulsory: " << text::bytes(report.compulsory_read()) << " read, "
          << text::bytes(report.compulsory_written()) << " written.";
    std::cout << '\n';
    text::print_wrapped(std::cout, words.str());
}

Json timeline_json(const Report& r) {
    const RunTime& run = *r.time;
    Json j = {{"schema", "tilescope.timeline/1"}};
    j.update(lab::to_json(r.experiment));
    for (const char* key : {"time_us", "bound", "time_basis", "dram_read_bytes", "dram_write_bytes"})
        j[key] = to_json(find_metric(key)->of(r));
    j["time_error"] = time_error(r);
    j["warm"] = is_warm(r);
    if (!run.dram()) j["no_dram"] = run.no_dram;
    if (const std::string untimed = untimed_pages(r.experiment.problem); !untimed.empty()) j["notes"] = {untimed};
    for (const Launch& l : launches_of(r)) j["launches"].push_back(to_json(l));
    return j;
}

/// An object, or several in a list.
void print_json(const std::vector<std::pair<Report, Request>>& runs) {
    Json all = Json::array();
    for (const auto& [report, request] : runs) all.push_back(timeline_json(report));
    std::cout << (all.size() == 1 ? all[0] : all).dump(2) << '\n';
}

void print(const Report& report, const Request& request) {
    const Experiment& e = report.experiment;
    const RunTime& run = *report.time;
    std::ostringstream heading;
    heading << e.algorithm->name << " on " << e.gpu.name << ": " << text::microseconds(run.us());
    const Metric& speed = *find_metric("useful_flops_per_s");
    if (number_of(speed, report).value_or(0) >= 1e11) heading << ", " << shown(speed, speed.of(report));
    heading << "\n  " << describe(request, *e.algorithm->computes) << "; tiles " << tiles_text(e) << '\n';
    text::print_wrapped(std::cout, heading.str());
    std::cout << '\n';
    print_launches(run, e.gpu);
    print_step(run);
    print_traffic(run, report);
    text::print_wrapped(std::cout, verdict(run, e) + ' ' + basis(run, e));
    text::print_wrapped(std::cout, about_warm(report));
}

/// All are timed before the first is printed: a command that fails prints nothing else.
void show_timelines(const Options& o, const std::vector<std::string>& variants) {
    std::vector<std::pair<Report, Request>> runs;
    for (const std::string& text : variants) {
        const Variant v = chosen_variant(text);
        const Options own = with(o, v.settings);
        const Request request = read_request(own, *v.algorithm);
        with_tiling(*v.algorithm, own, request, [&](const Experiment& e) {
            runs.emplace_back(count_and_time(e, &control()), request);
            if (!runs.back().first.time) throw RunError(runs.back().first.no_time);
        });
    }
    if (o.json) return print_json(runs);
    for (const auto& [report, request] : runs) {
        if (&report != &runs[0].first) std::cout << '\n';
        print(report, request);
    }
}

}  // namespace

void add_timeline(CLI::App& app) {
    static Options options;
    static std::vector<std::string> variants;
    CLI::App* sub =
        app.add_subcommand("timeline", "Modelled time of a run, what it waits for, and what the L2 catches");
    add_variants_argument(*sub, variants)->required();
    add_problem_options(*sub, options);
    add_json_option(*sub, options);
    sub->footer(
        "Examples:\n"
        "  tilescope timeline flash_v2 --gpu H200 --seq 4096 --heads 64 --dim 128\n"
        "  tilescope timeline flash_v1 flash_v2 --gpu H200 --seq 4096 --dtype f32 --br 64 --bc 64\n"
        "  tilescope timeline flash_v2:order=kernel flash_v2:order=heads --heads 32 --seq 16384 --dim 128\n"
        "The model, step by step: docs/time.md");
    sub->callback([] { show_timelines(options, variants); });
}

}  // namespace tilescope::cli
