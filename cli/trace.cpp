// `tilescope trace ALGO -o FILE`: every event of a run as JSON, to be opened by the
// window, carried out again by `tilescope replay`, or read by scripts. docs/events.md describes the format.
#include <iostream>

#include "cli/commands.hpp"
#include "cli/progress.hpp"
#include "core/text/numbers.hpp"
#include "lab/atomic_file.hpp"
#include "lab/recording.hpp"

namespace tilescope::cli {
using namespace lab;
namespace {

struct TraceRequest {
    Options options;
    std::string algorithm, out;
    std::vector<Index> blocks;
    Index max_events = TraceOptions{}.max_events;
};

/// How the inputs were made, where they were not read from files.
std::optional<RandomInputs> random_inputs_of(const Options& o, const Request& request) {
    if (!request.inputs.empty()) return std::nullopt;
    return RandomInputs{o.seed, distribution_from(o.distribution).value_or(Distribution::normal)};
}

/// With the contents of tiles as --mode says; `auto` keeps them while they make a file that an editor still opens.
bool with_values(const Options& o, const Request& request, const Report& counted) {
    constexpr Bytes most = 16 << 20;
    if (o.mode == "auto" && request.inputs.empty())
        return counted.counters.sram_write + counted.counters.register_write <= most;
    return choose_mode(o, request, {counted}).numeric;
}

void check_limits(const TraceRequest& t, const Report& counted) {
    Count most = 0;
    for (const LaunchInfo& l : counted.launches) most = std::max(most, l.thread_blocks);
    for (const Index b : t.blocks)
        if (b < 0 || b >= most)
            throw UsageError("--blocks " + std::to_string(b) + ": thread blocks are numbered from 0 to " +
                             std::to_string(most - 1) + " here; try --blocks 0");
    if (t.max_events < 1)
        throw UsageError("--max-events " + std::to_string(t.max_events) + ": must be at least 1; try 2000000");
}

void record(const TraceRequest& t, const Request& request, const Experiment& e) {
    const Report counted = count(e, &control());
    check_limits(t, counted);
    const bool values = with_values(t.options, request, counted);
    AtomicFile file(t.out);
    // Without values nothing depends on blocks that nobody asked for, so they need not run.
    const Mode mode = values ? numeric_mode : Mode{false, false, !t.blocks.empty()};
    Gpu gpu(e.gpu, mode, 1, &control());
    TraceOptions options;
    options.values = values;
    options.blocks = t.blocks;
    options.max_events = t.max_events;
    Trace trace(gpu, options);
    gpu.listen(trace);
    {
        const Progress progress = Progress::blocks("recording");
        run_program(gpu, *e.algorithm, e.problem, e.tiling,
                    values ? inputs_for(t.options, request, *e.algorithm, &control()) : Inputs{});
    }
    const Progress progress([&] { return "writing " + text::grouped(trace.size()) + " events"; });
    write_recording(file.stream(), e, random_inputs_of(t.options, request), trace, &control());
    file.commit();
    std::cerr << text::grouped(trace.size()) << " events in " << t.out
              << (values ? ", with the contents of tiles\n" : ", without contents (--mode numeric keeps them)\n");
}

void trace_algorithm(const TraceRequest& t) {
    const Algorithm& algorithm = chosen_algorithm(t.algorithm);
    const Request request = resolve(t.options, algorithm);
    with_tiling(algorithm, t.options, request, [&](const Experiment& e) { record(t, request, e); });
}

}  // namespace

void add_trace(CLI::App& app) {
    static TraceRequest request;
    CLI::App* sub = app.add_subcommand("trace", "Write every event of a run as JSON");
    add_algorithm_argument(*sub, request.algorithm);
    sub->add_option("-o,--output", request.out, "The file to write")->required()->type_name("FILE");
    sub->add_option("--blocks", request.blocks, "Only these thread blocks (of each launch), e.g. 0,5")->delimiter(',');
    sub->add_option("--max-events", request.max_events, "Give up beyond this many")->capture_default_str();
    add_problem_options(*sub, request.options);
    add_numeric_options(*sub, request.options);
    sub->get_option("--mode")->description("numeric (with the contents of tiles), count (without) or auto: by size");
    add_file_options(*sub, request.options);
    sub->remove_option(sub->get_option("--out"));
    add_json_option(*sub, request.options);
    sub->get_option("--json")->description("A trace is always JSON");
    sub->footer(
        "Examples:\n"
        "  tilescope trace flash_v2 --gpu toy --seq 16 --dim 4 --heads 1 --dtype f32 -o flash.json\n"
        "  tilescope trace flash_v1 --seq 4096 --blocks 0 -o block0.json");
    sub->callback([] { trace_algorithm(request); });
}

}  // namespace tilescope::cli
