// `tilescope trace ALGO -o FILE`: every event of a run as JSON. docs/events.md describes the format.
#include "core/record/trace.hpp"

#include <cmath>
#include <iostream>

#include "cli/commands.hpp"
#include "cli/json.hpp"
#include "cli/progress.hpp"
#include "core/text/numbers.hpp"
#include "lab/atomic_file.hpp"

namespace tilescope::cli {
namespace {

struct TraceRequest {
    Options options;
    std::string algorithm, out;
    std::vector<Index> blocks;
    Index max_events = TraceOptions{}.max_events;
};

/// JSON has no infinities and no NaN: they become strings.
Json number(float x) {
    if (std::isfinite(x)) return x;
    return std::isnan(x) ? "nan" : x > 0 ? "inf" : "-inf";
}

Json numbers(TileData data) {
    Json j = Json::array();
    for (const float x : data) j.push_back(number(x));
    return j;
}

Json span_json(Span s) { return {s.begin, s.size}; }

Json event_json(const Trace& trace, Index n) {
    const Step& s = trace[n];
    const Event& e = s.event;
    Json j = {{"step", n},
              {"op", name_of(e.kind())},
              {"what", s.kind() == Kind::launch ? trace.launches()[static_cast<std::size_t>(s.launch)].kernel.c_str()
                                                : e.operation->name},
              {"launch", s.launch},
              {"block", e.block},
              {"line", e.line},
              {"source_line", e.source_line}};
    if (s.kind() == Kind::launch) j.erase("block");
    if (s.enters_line) j["enters_line"] = true;
    if (e.out != no_tile) j["out"] = e.out;
    if (e.a() != no_tile) j["a"] = e.a();
    if (e.b() != no_tile) j["b"] = e.b();
    if (s.moves_data()) {
        j["tensor"] = trace.tensors()[e.region.tensor].name;
        j["slice"] = e.region.slice;
        j["rows"] = span_json(e.region.rows);
        j["cols"] = span_json(e.region.cols);
    }
    Json cost = Json::object();
    for (const auto& [name, member] : Counters::fields)
        if (e.cost.*member != 0) cost[name] = e.cost.*member;
    if (!cost.empty()) j["cost"] = std::move(cost);
    if (e.times != 1) j["times"] = e.times;
    j["sram_used"] = e.sram_used;
    j["registers_used"] = e.registers_used;
    if (s.values > 0) j["values"] = numbers(trace.values(s));
    return j;
}

Json header_json(const Experiment& e, const Options& o, const Trace& trace) {
    Json j = {{"schema", "tilescope.trace/1"}};
    j.update(to_json(e));
    j["values"] = trace.has_values();
    if (trace.has_values() && o.q.empty() && o.x.empty())
        j["inputs"] = {{"seed", o.seed}, {"distribution", o.distribution}};
    j["lines"] = Json::array();
    for (const CodeLine& c : e.algorithm->code)
        j["lines"].push_back({{"line", c.number}, {"code", c.code}, {"why", c.why}});
    for (const RecordedLaunch& l : trace.launches()) j["kernels"].push_back(l.kernel);
    j["tensors"] = Json::array();
    for (const RecordedTensor& t : trace.tensors()) {
        Json tensor = {{"name", t.name},     {"role", name_of(t.role)}, {"dtype", name_of(t.dtype)},
                       {"slices", t.slices}, {"rows", t.rows},          {"cols", t.cols}};
        if (trace.has_values() && t.role == Role::input) tensor["values"] = numbers(t.initial);
        j["tensors"].push_back(std::move(tensor));
    }
    j["tiles"] = Json::array();
    for (const RecordedTile& t : trace.tiles())
        j["tiles"].push_back({{"name", t.name},
                              {"rows", t.rows},
                              {"cols", t.cols},
                              {"dtype", name_of(t.dtype)},
                              {"space", t.space == Space::sram ? "sram" : "registers"},
                              {"launch", t.launch},
                              {"block", t.block}});
    return j;
}

/// One event a line, so that large traces need not be built in memory and diff well.
void write(std::ostream& out, const Experiment& e, const Options& o, const Trace& trace) {
    std::string header = header_json(e, o, trace).dump();
    header.pop_back();
    out << header << ",\n\"events\": [";
    for (Index n = 0; n < trace.size(); ++n) {
        if (control().stop) throw Interrupted();
        out << (n ? ",\n" : "\n") << event_json(trace, n).dump();
    }
    out << "\n]}\n";
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
                    values ? inputs_for(t.options, request, *e.algorithm) : Inputs{});
    }
    const Progress progress([&] { return "writing " + text::grouped(trace.size()) + " events"; });
    write(file.stream(), e, t.options, trace);
    file.commit();
    std::cerr << text::grouped(trace.size()) << " events in " << t.out
              << (values ? ", with the contents of tiles\n" : ", without contents (--mode numeric keeps them)\n");
}

void trace_algorithm(const TraceRequest& t) {
    const Algorithm& algorithm = chosen_algorithm(t.algorithm);
    const Request request = resolve(t.options, algorithm.family);
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
