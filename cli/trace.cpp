// `tilescope trace ALGO -o FILE`: every event of a run as JSON, to be opened by the
// window, carried out again by `tilescope replay`, or read by scripts. docs/outputs.md has its keys.
// With --perfetto the modelled timeline instead (docs/time.md), for ui.perfetto.dev.
#include <iostream>

#include "cli/commands.hpp"
#include "cli/progress.hpp"
#include "cli/said.hpp"
#include "core/machine/launch_info.hpp"
#include "core/text/message.hpp"
#include "core/text/words.hpp"
#include "lab/flags/ending.hpp"
#include "lab/flags/values.hpp"
#include "lab/model/timing.hpp"
#include "lab/report/perfetto.hpp"
#include "lab/report/recording.hpp"
#include "lab/system/atomic_file.hpp"
#include "show/stage/lanes_perfetto.hpp"

namespace tilescope::cli {
using namespace lab;
using text::message;
namespace {

struct TraceRequest {
    Options options;
    std::string algorithm, out;
    std::vector<Index> blocks;
    Index max_events = TraceOptions{}.max_events;
    bool perfetto = false;
    Index detail = 1;
};

/// How the inputs were drawn; nullopt where any was read from a file.
std::optional<RandomInputs> random_inputs_of(const Options& o, const Request& request) {
    if (!request.inputs.empty()) return std::nullopt;
    return RandomInputs{o.seed, to_distribution(o.distribution)};
}

/// Whether to keep the contents of tiles, as --mode says. `auto` keeps them if the file stays small enough for an
/// editor.
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
        if (b >= most) throw UsageError(message("trace.no_such_block", std::to_string(b), std::to_string(most - 1)));
}

void record(const TraceRequest& t, const Request& request, const Experiment& e) {
    const Report counted = count(e, &control());
    check_limits(t, counted);
    const bool values = with_values(t.options, request, counted);
    AtomicFile file(t.out);
    // Without values no thread block depends on another, so that unwanted blocks need not run.
    const Mode mode = values ? numeric_mode : Mode{false, false, !t.blocks.empty()};
    Gpu gpu(e.gpu, mode, 1, &control());
    TraceOptions options;
    options.values = values;
    options.blocks = t.blocks;
    options.max_events = t.max_events;
    Trace trace(gpu, within_memory(options));
    gpu.listen(trace);
    const Inputs inputs = values ? make_inputs(t.options, request, *e.algorithm) : Inputs{};
    {
        const Progress progress = Progress::blocks(message("trace.recording"));
        run_program(gpu, *e.algorithm, e.problem, e.tiling, inputs);
    }
    const Progress progress([&] { return message("trace.writing", trace.size()); });
    write_recording(file.stream(), e, random_inputs_of(t.options, request), trace, &control());
    file.commit();
    std::cerr << message(values ? "trace.written_with_values" : "trace.written", trace.size(), text::shown(t.out))
              << '\n';
}

/// Throws, before anything is simulated, if there are more thread blocks than a trace viewer can hold.
void check_size(const Report& counted) {
    const Count blocks = counted.counters.thread_blocks;
    if (blocks > most_blocks_drawn) throw RunError(message("trace.too_many_to_draw", blocks, most_blocks_drawn));
}

void draw(const TraceRequest& t, const Experiment& e) {
    Outline outline;
    Listener* const listeners[] = {&outline};
    const Report counted = count(e, &control(), listeners);
    check_size(counted);
    AtomicFile file(t.out);
    std::vector<PlayedLaunch> played;
    const Progress progress([] { return message("trace.drawing"); });
    const RunTime run = time_of(counted, outline, {.played = &played});
    if (!run.no_room.empty()) throw RunError(message("trace.no_room", run.no_room));
    const auto lanes = [&](PerfettoTrace& trace) {
        constexpr Index steps = 2;
        if (has_timed_lanes(e)) show::write_lanes(trace, show::lane_view(e, steps), run.longest().clock_mhz);
    };
    const Drawn drawn = write_perfetto(file.stream(), e, run, played, t.detail, &control(), lanes);
    file.commit();
    std::cerr << message("trace.drawn", drawn.blocks, text::shown(t.out), sms_in_words(t.detail, e.gpu)) << '\n';
    if (drawn.steps_left_out > 0)
        std::cerr << message("trace.steps_left_out", drawn.steps_left_out, most_steps_drawn) << '\n';
}

/// Writes the timeline that `tilescope timeline` shows with the same flags.
void draw_timeline(const TraceRequest& t, const Algorithm& algorithm) {
    check_ending("--output", t.out, {".pftrace", ".perfetto-trace"});
    const Request request = read_request(t.options, algorithm);
    remark(request.remark);
    for (const std::string& note : request.notes) remark(note);
    with_tiling(algorithm, t.options, request,
                [&](const Experiment& e) { in_memory(message("trace.needs_less"), [&] { draw(t, e); }); });
}

/// UsageError for flags that do not go together: a drawn timeline (--perfetto) has no events to choose and no numbers,
/// and --detail is only for such a timeline.
void check_flags(const CLI::App& sub, const TraceRequest& t) {
    if (!t.perfetto && sub.count("--detail") > 0) throw UsageError(message("trace.detail_alone"));
    for (const char* flag : {"--blocks", "--max-events", "--mode", "--threads", "--seed", "--distribution", "--q",
                             "--k", "--v", "--do", "--x", "--layout", "--bits16", "--json"})
        if (t.perfetto && sub.count(flag) > 0) throw UsageError(message("trace.not_of_timeline", flag));
}

void trace_algorithm(TraceRequest t) {
    const Algorithm& algorithm = chosen_algorithm(t.algorithm, t.options);
    if (t.perfetto) return draw_timeline(t, algorithm);
    check_ending("--output", t.out, {".json"});
    const Request request = read_request(t.options, algorithm);
    remark(request.remark);
    for (const std::string& note : request.notes) remark(note);
    const std::string fix = message(t.blocks.empty() ? "trace.needs_one_block" : "trace.needs_fewer_blocks");
    with_tiling(algorithm, t.options, request, [&](const Experiment& e) {
        check_hbm(e);
        in_memory(fix, [&] { record(t, request, e); });
    });
}

}  // namespace

void add_trace(CLI::App& app) {
    static TraceRequest request;
    CLI::App* sub = app.add_subcommand("trace", message("trace.command"));
    add_algorithm_argument(*sub, request.algorithm);
    sub->add_option("-o,--output", request.out, message("trace.output_flag"))->required()->type_name("FILE");
    sub->add_option_function<std::vector<std::string>>(
           "--blocks",
           [](const std::vector<std::string>& blocks) {
               for (const std::string& b : blocks)
                   request.blocks.push_back(to_index("--blocks", b, {0, Whole().most, 0}));
           },
           message("trace.blocks_flag"))
        ->type_name("N")
        ->delimiter(',');
    add_whole_option(*sub, "--max-events", {1, Whole().most, request.max_events},
                     message("trace.max_events_flag").c_str(), [](Index n) { request.max_events = n; })
        ->default_str(std::to_string(request.max_events));
    sub->add_flag("--perfetto", request.perfetto, message("trace.perfetto_flag"));
    add_whole_option(*sub, "--detail", {1, Whole().most, request.detail}, message("trace.detail_flag").c_str(),
                     [](Index n) { request.detail = n; })
        ->default_str(std::to_string(request.detail));
    add_problem_options(*sub, request.options);
    add_numeric_options(*sub, request.options);
    sub->get_option("--mode")->description(message("trace.mode_flag"));
    add_file_options(*sub, request.options);
    sub->remove_option(sub->get_option("--out"));
    add_json_option(*sub, request.options);
    sub->get_option("--json")->description(message("trace.json_flag"));
    sub->footer(examples({"trace.example", "trace.example_block", "trace.example_perfetto"}) + '\n' +
                message("trace.footer"));
    sub->callback([sub] {
        check_flags(*sub, request);
        trace_algorithm(request);
    });
}

}  // namespace tilescope::cli
