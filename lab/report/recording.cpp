#include "lab/report/recording.hpp"

#include <deque>
#include <filesystem>
#include <fstream>
#include <set>

#include "algorithms/contract/pseudo_code.hpp"
#include "core/record/json_entry.hpp"
#include "core/record/trace_file.hpp"
#include "core/text/message.hpp"
#include "core/text/words.hpp"
#include "lab/report/experiment_json.hpp"
#include "lab/run/reference.hpp"
#include "lab/system/memory.hpp"
#include "lab/workload/paging.hpp"

namespace tilescope::lab {
using text::message;

/// An algorithm with the words of a recording: unknown here (it cannot be run), or with other words today.
struct AlgorithmAsRecorded {
    std::deque<std::string> words;  // a deque, because the algorithm points to its strings
    std::vector<CodeLine> code;
    Algorithm algorithm;

    const char* keep(std::string word) { return words.emplace_back(std::move(word)).c_str(); }
};

namespace {

[[noreturn]] void cannot_run() { throw RunError(message("recording.cannot_run")); }

/// An algorithm of which only the name is known. Its words are kept in `recorded`.
Algorithm unknown(const std::string& name, const Trace& trace, AlgorithmAsRecorded& recorded) {
    const auto& tensors = trace.tensors();
    const auto has_output = [&](const Computation* c) {
        return std::any_of(tensors.begin(), tensors.end(),
                           [&](const auto& t) { return t.role == Role::output && t.name == c->output; });
    };
    const auto& all = computations();
    const auto computes = std::find_if(all.begin(), all.end(), has_output);
    return {.name = recorded.keep(name),
            .computes = computes == all.end() ? &computation::attention : *computes,
            .supports = {Feature::head_dims, Feature::grouped_heads, Feature::scale, Feature::mask,
                         Feature::naive_softmax, Feature::block_mask, Feature::documents},
            .idea = recorded.keep(message("recording.known_only")),
            .tensors = [](const Problem&, const Tiling&) -> std::vector<TensorDecl> { cannot_run(); },
            .run = [](Gpu&, const Tensors&, const Problem&, const Tiling&) { cannot_run(); },
            .predict = [](const Problem&, const Tiling&, const GpuSpec&) -> Prediction { cannot_run(); }};
}

Json lines_of(const Experiment& e, const Algorithm& a) {
    Json lines = Json::array();
    for (const CodeLine& c : code_for(a, e.problem))
        lines.push_back({{"line", c.number}, {"code", c.code}, {"why", why_of(a, c)}});
    return lines;
}

/// Gives the recording an algorithm with the recorded words: today's algorithm, where its words are the same.
void name_algorithm(Recording& r, const Json& about, const std::string& file) {
    r.today = r.experiment.algorithm;
    const std::string recording = message("recording.the_recording");
    JsonEntry whole(about, file, recording.c_str());
    const Json& lines = whole.at("lines");
    if (!lines.is_array()) whole.refuse(message("recording.lines_are_no_list"));
    if (r.today && lines_of(r.experiment, *r.today) == lines) return;
    auto recorded = std::make_shared<AlgorithmAsRecorded>();
    recorded->algorithm = r.today ? *r.today : unknown(whole.text("algorithm"), r.trace, *recorded);
    for (const Json& line : lines) {
        JsonEntry e(line, file, "lines", static_cast<Index>(recorded->code.size()));
        const auto number = static_cast<std::uint16_t>(e.integer("line", 1, 0xffff));
        if (!recorded->code.empty() && number <= recorded->code.back().number)
            e.refuse(message("recording.line_not_in_order"));
        recorded->code.push_back({number, recorded->keep(e.text("code")), recorded->keep(e.text("why"))});
        e.finish();
    }
    recorded->algorithm.code = recorded->code;
    if (!r.today && whole.has("loaded_from"))
        recorded->algorithm.lineage.file = recorded->keep(whole.text("loaded_from"));
    r.experiment.algorithm = &recorded->algorithm;
    r.as_recorded = std::move(recorded);
}

RandomInputs inputs_from(JsonEntry e) {
    RandomInputs inputs;
    const Json& seed = e.at("seed");
    if (!seed.is_number_unsigned()) e.refuse(message("recording.no_seed"));
    inputs.seed = seed.get<std::uint64_t>();
    inputs.distribution = e.named("distribution", distributions, name_of);
    e.finish();
    return inputs;
}

void check_keys(const Json& about, const std::string& file) {
    const std::set<std::string> known = {"schema", "algorithm", "problem", "tiling",
                                         "gpu",    "inputs",    "lines",   "loaded_from"};
    for (const auto& [key, value] : about.items())
        if (!known.contains(key))
            throw UsageError(message("recording.key_means_nothing", text::shown(file), text::shown(key)));
}

/// The thread blocks that were recorded, of all launches.
std::vector<Index> blocks_of(const Trace& trace) {
    std::set<Index> blocks;
    for (const RecordedBlock& b : trace.blocks()) blocks.insert(b.block);
    if (blocks.empty()) return {-1};  // -1 is no block; an empty list would mean all
    return {blocks.begin(), blocks.end()};
}

/// How the recorded tensors differ from those that the algorithm declares; empty where they are the same.
std::string undeclared(const Recording& r) {
    const std::vector<TensorDecl> declared = r.today->tensors(r.experiment.problem, r.experiment.tiling);
    const auto& recorded = r.trace.tensors();
    const auto same = [](const RecordedTensor& t, const TensorDecl& d) {
        return t.name == d.name && t.role == d.role && t.dtype == d.dtype && t.slices == d.slices && t.rows == d.rows &&
               t.cols == d.cols;
    };
    if (recorded.size() < declared.size()) return message("recording.too_few_tensors");
    for (std::size_t k = 0; k < declared.size(); ++k)
        if (!same(recorded[k], declared[k])) return message("recording.other_tensor", recorded[k].name);
    return {};
}

}  // namespace

TraceOptions within_memory(TraceOptions o) {
    // Half for events, half for values. A growing list exists twice for a moment, the copy twice as large: a third.
    const Bytes most = memory_left() / 2 / 3;
    o.max_events = std::clamp<Index>(most / static_cast<Bytes>(sizeof(Step)), 1, std::max<Index>(1, o.max_events));
    o.max_value_bytes = std::min(o.max_value_bytes, most);
    o.expected_events = std::min(o.expected_events, o.max_events);
    o.expected_value_bytes = std::min(o.expected_value_bytes, o.max_value_bytes);
    return o;
}

void write_recording(std::ostream& out, const Experiment& e, const std::optional<RandomInputs>& inputs,
                     const Trace& trace, Control* control) {
    Json about = to_json(e);
    if (inputs && trace.has_values())
        about["inputs"] = {{"seed", inputs->seed}, {"distribution", name_of(inputs->distribution)}};
    about["lines"] = lines_of(e, *e.algorithm);
    if (e.algorithm->lineage.file) about["loaded_from"] = text::shown(e.algorithm->lineage.file);
    write_trace(out, about.dump(), trace, control);
}

Recording read_recording(const std::string& path, const Control* control) {
    std::ifstream in(path);
    if (!in) throw UsageError(message("recording.cannot_read", text::shown(path)));
    std::error_code ignored;
    if (const auto size = std::filesystem::file_size(path, ignored); !ignored)
        check_memory(static_cast<Bytes>(size), "recording.too_large", text::shown(path));
    return read_recording(in, path, control);
}

Recording read_recording(std::istream& in, const std::string& name, const Control* control) {
    ReadTrace file = read_trace(in, name, control);
    const Json about = Json::parse(file.about);
    check_keys(about, name);
    Recording r{experiment_from(about, name), std::nullopt, std::move(file.trace)};
    if (about.contains("inputs")) r.inputs = inputs_from(JsonEntry(about["inputs"], name, "inputs"));
    name_algorithm(r, about, name);
    return r;
}

Inputs inputs_of(const Recording& r, Control* control) {
    if (!r.trace.has_values()) return {};
    if (r.inputs && r.today)
        return with_shared_prefix(
            inputs_of(*r.today, r.experiment.problem, r.inputs->seed, r.inputs->distribution, control),
            r.experiment.problem);
    Inputs inputs;
    for (const RecordedTensor& t : r.trace.tensors()) {
        if (t.role != Role::input) continue;
        auto values = std::make_shared<Storage>(t.dtype, t.slices, t.rows, t.cols);
        values->write(0, t.initial);
        inputs.emplace(t.name, std::move(values));
    }
    return inputs;
}

std::string replay(const Recording& r, Control* control) {
    const Experiment& e = r.experiment;
    if (const char* file = e.algorithm->lineage.file; file && !r.today)
        throw UsageError(message("recording.was_loaded", text::shown(e.algorithm->name), file));
    if (!r.today) throw UsageError(message("recording.no_such_algorithm", text::shown(e.algorithm->name)));
    if (std::string other = undeclared(r); !other.empty()) return other;
    const bool values = r.trace.has_values();
    Gpu gpu(e.gpu, values ? numeric_mode : Mode{.data = false, .fold = false, .only_wanted = true}, 1, control);
    Trace now(gpu, within_memory({.values = values,
                                  .blocks = blocks_of(r.trace),
                                  .max_events = 2 * r.trace.size() + 1000,
                                  .max_value_bytes = 2 * r.trace.value_bytes() + (Bytes{1} << 20)}));
    gpu.listen(now);
    try {
        run_program(gpu, *r.today, e.problem, e.tiling, inputs_of(r, control));
    } catch (const RunError&) {
        if (now.size() <= r.trace.size()) throw;  // else the run is longer than the recorded one: they diverge
    }
    return divergence(r.trace, now);
}

}  // namespace tilescope::lab
