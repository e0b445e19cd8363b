// `tilescope timeline ALGO...`: how long runs take on the modelled GPU, what they wait for, and what the L2 catches.
#include <cmath>
#include <iostream>

#include "cli/commands.hpp"
#include "cli/json.hpp"
#include "cli/lanes.hpp"
#include "cli/said.hpp"
#include "core/machine/counters.hpp"
#include "core/text/message.hpp"
#include "core/text/numbers.hpp"
#include "core/text/page.hpp"
#include "core/text/table.hpp"
#include "core/text/words.hpp"
#include "lab/flags/describe.hpp"
#include "lab/flags/like.hpp"
#include "lab/flags/values.hpp"
#include "lab/model/basis.hpp"
#include "lab/model/mapping.hpp"
#include "lab/model/timing.hpp"
#include "lab/model/verdict.hpp"
#include "lab/model/warm.hpp"
#include "lab/workload/paging.hpp"

namespace tilescope::cli {
using namespace lab;
using text::message;
namespace {

using text::percent;

std::string cycles(double n) { return text::grouped(std::llround(n)); }

std::string one_decimal(double x) {
    return std::abs(x) >= 1000 ? text::grouped(std::llround(x)) : text::number(std::round(10 * x) / 10);
}

/// Occupancy as NVIDIA defines it: resident warps over the most warps that an SM can have.
double occupancy(const LaunchTime& l, const GpuSpec& gpu) {
    return static_cast<double>(l.residency.blocks * l.warps) / static_cast<double>(gpu.max_warps_per_sm);
}

void print_launches(const RunTime& run, const GpuSpec& gpu) {
    text::Table table(text::titles({"column.launch", "column.thread_blocks", "column.on_an_sm", "timeline.occupancy",
                                    "column.limited_by", "column.warps", "column.registers", "column.waves",
                                    "column.tail", "timeline.clock", "column.time", "column.bound"}));
    for (const LaunchTime& l : run.launches)
        table.add({l.kernel, text::grouped(started(l)), std::to_string(l.residency.blocks), percent(occupancy(l, gpu)),
                   limited_by(l), std::to_string(l.warps), std::to_string(l.registers),
                   l.persistent > 0 ? "-" : one_decimal(l.waves), percent(l.tail),
                   std::to_string(std::lround(l.clock_mhz)) + " MHz", text::microseconds(l.us), name_of(l.bound)});
    table.print(std::cout);
}

/// Prints the cycles of a loop step, for a thread block alone on an SM, and for all resident thread blocks together.
/// Beside each unit's cycles: the share of the launch's time that the unit is busy, on average over all SMs.
void print_step(const RunTime& run) {
    const LaunchTime& l = run.longest();
    std::cout << '\n' << message("timeline.step", l.kernel, cycles(l.steps)) << '\n';
    text::Table table(text::titles({"column.unit", "timeline.cycles", "timeline.at_work"}));
    const auto at_work = [&](Unit u) { return percent(l.busy[static_cast<std::size_t>(u)]); };
    for (const Term& t : terms_of(l.step))
        if (t.cycles > 0.5) table.add({name_of(t.unit), cycles(t.cycles), at_work(t.unit)});
    if (l.step.waiting > 0.5) table.add({message("timeline.waiting"), cycles(l.step.waiting), ""});
    table.add({message("timeline.alone"), cycles(l.step.alone), ""});
    for (const Unit u : {Unit::l2, Unit::dram})
        if (const double busy = l.step.busy[static_cast<std::size_t>(u)]; busy > 0.5)
            table.add({message("timeline.beside", name_of(u)), cycles(busy), at_work(u)});
    table.print(std::cout, "  ");
    const bool queues = l.step.queued > l.step.busiest;
    std::cout << "  " << message(queues ? "timeline.busiest_but_shared" : "timeline.busiest", cycles(l.step.busiest))
              << '\n';
    if (const StyleConstants& style = constants_of(run.style); style.sigma != 1)
        std::cout << "  " << message("timeline.cuda_cores", text::number(style.sigma), text::number(style.eta)) << '\n';
    std::vector<std::string> of_each;
    for (Index r = 2; r <= l.residency.blocks; ++r)
        of_each.push_back(message("timeline.of_each", r, cycles(l.step.together(r))));
    const std::string one = cycles(l.step.together(1));
    text::print_wrapped(std::cout,
                        of_each.empty() ? message("timeline.together", one)
                                        : message("timeline.together_each", one, text::join(of_each, ", ")),
                        "  ", "    ");
}

/// Prints what units do in a step whose lanes run at the same time.
void print_laned_step(const LaunchTime& l) {
    const TileLaw& law = *l.lanes;
    std::cout << '\n' << message("timeline.laned_step", l.kernel, cycles(law.step), cycles(l.steps)) << '\n';
    text::Table table(text::titles({"column.unit", "timeline.cycles", "timeline.of_the_step"}));
    const auto add = [&](const char* id, double busy) {
        table.add({message(id), cycles(busy), percent(busy / law.step)});
    };
    add("verdict.tensor_cores", law.busy.tensor), add("timeline.cuda_cores_of_lanes", law.busy.cuda);
    add("timeline.exponentials", law.busy.exp), add("timeline.both", law.busy.both);
    table.print(std::cout, "  ");
    text::print_wrapped(std::cout, message("timeline.draw_lanes"), "  ", "    ");
}

void print_traffic(const RunTime& run, const Report& report) {
    const Counters& c = report.counters;
    const std::string read = text::bytes(c.hbm_read), written = text::bytes(c.hbm_write);
    const auto dram = report.dram();
    std::cout << '\n';
    text::print_wrapped(
        std::cout,
        text::sentences({c.hbm_reduce > 0
                             ? message("timeline.sm_traffic_with_sums", read, written, text::bytes(c.hbm_reduce))
                             : message("timeline.sm_traffic", read, written),
                         dram ? message("timeline.dram_traffic", text::bytes(dram->read), text::bytes(dram->written),
                                        percent(report.l2_hit_rate().value_or(0)))
                              : message("timeline.no_dram", run.no_dram),
                         message("timeline.compulsory", text::bytes(report.compulsory_read()),
                                 text::bytes(report.compulsory_written()))}));
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

/// Prints one run as an object, several runs as a list of objects.
void print_json(const std::vector<std::pair<Report, Request>>& runs) {
    Json all = Json::array();
    for (const auto& [report, request] : runs) all.push_back(timeline_json(report));
    std::cout << (all.size() == 1 ? all[0] : all).dump(2) << '\n';
}

void print(const Report& report, const Request& request) {
    const Experiment& e = report.experiment;
    const RunTime& run = *report.time;
    const Metric& speed = *find_metric("useful_flops_per_s");
    const bool fast = number_of(speed, report).value_or(0) >= 1e11;
    const char* name = e.algorithm->name;
    const std::string time = text::microseconds(run.us());
    text::print_wrapped(
        std::cout, fast ? message("timeline.title_with_speed", name, e.gpu.name, time, shown(speed, speed.of(report)))
                        : message("timeline.title", name, e.gpu.name, time));
    const std::string problem = message("timeline.problem", describe(request, *e.algorithm->computes), tiles_text(e));
    text::print_wrapped(std::cout, "  " + problem);
    std::cout << '\n';
    print_launches(run, e.gpu);
    run.longest().lanes ? print_laned_step(run.longest()) : print_step(run);
    print_traffic(run, report);
    text::print_wrapped(std::cout, text::sentences({about_persistent(run), verdict(run, e), basis(run, e)}));
    text::print_wrapped(std::cout, about_warm(report));
}

/// Times all variants before the first is printed, so that a command that fails prints nothing else.
void show_timelines(const Options& o, const std::vector<std::string>& variants) {
    std::vector<std::pair<Report, Request>> runs;
    for (const std::string& text : variants) {
        const Variant v = chosen_variant(text);
        const Named n = named(v, o);
        remark(n.said);
        const Request request = read_request(n.options, *n.algorithm);
        with_tiling(*n.algorithm, n.options, request, [&](const Experiment& e) {
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
    CLI::App* sub = app.add_subcommand("timeline", message("timeline.command"));
    add_variants_argument(*sub, variants)->required();
    add_problem_options(*sub, options);
    static LanesRequest lanes;
    sub->add_flag("--lanes", lanes.asked, message("timeline.lanes_flag"));
    add_whole_option(*sub, "--steps", {1, most_lane_steps, lanes.steps}, message("timeline.steps_flag").c_str(),
                     [](Index n) { lanes.steps = n; })
        ->default_str(std::to_string(lanes.steps));
    add_whole_option(*sub, "--cycle", {0, Whole().most, 0}, message("timeline.cycle_flag").c_str(),
                     [](Index n) { lanes.cycle = n; });
    add_json_option(*sub, options);
    sub->footer(examples({"timeline.example", "timeline.example_two", "timeline.example_order",
                          "timeline.example_lanes", "timeline.example_four_lanes"}) +
                '\n' + message("timeline.footer"));
    sub->callback([sub] {
        for (const char* flag : {"--steps", "--cycle"})
            if (!lanes.asked && sub->count(flag) > 0) throw UsageError(message("timeline.of_lanes", flag));
        lanes.asked ? show_lanes(options, variants, lanes) : show_timelines(options, variants);
    });
}

}  // namespace tilescope::cli
