// Opens a recording: makes a run of it, and the setup that would run the same.
#include "algorithms/contract/packed.hpp"
#include "core/text/message.hpp"
#include "core/text/words.hpp"
#include "lab/flags/table.hpp"
#include "lab/gpu/gpu_presets.hpp"
#include "show/run/making.hpp"

namespace tilescope::show {
using namespace lab;
using text::message;
namespace {

/// The flags that ask for what was recorded.
Options options_of(const Recording& r) {
    const Problem p = unpacked(r.experiment.problem);
    const GpuSpec& gpu = r.experiment.gpu;
    Options o = lab::options_of(p);
    o.br = std::to_string(r.experiment.tiling.br);
    o.bc = std::to_string(r.experiment.tiling.bc);
    if (r.experiment.tiling.splits > 0) o.splits = std::to_string(r.experiment.tiling.splits);
    for (const Knob& k : r.experiment.algorithm->knobs)
        if (!k.is_size && r.experiment.tiling.*k.value > 0) o.roles[k.name] = k.text(r.experiment.tiling);
    if (packed_for(*r.experiment.algorithm, p, Packing::automatic) != r.experiment.problem)
        o.pack = name_of(r.experiment.problem.packed > 1 ? Packing::on : Packing::off);
    o.gpu = gpu.name;
    if (r.inputs) o.seed = r.inputs->seed, o.distribution = name_of(r.inputs->distribution);
    try {
        const GpuSpec preset = gpu_preset(gpu.name);
        if (gpu.sms != preset.sms) o.sms = gpu.sms;
        if (gpu.sram_per_sm != preset.sram_per_sm) o.sram_kib = static_cast<double>(gpu.sram_per_sm) / 1024;
        if (gpu.hbm_gbs != preset.hbm_gbs) o.hbm_bandwidth = gpu.hbm_gbs;
        if (gpu.l2_bytes != preset.l2_bytes) o.l2_bytes = gpu.l2_bytes;
    } catch (const UsageError&) {  // a GPU of the user's own
    }
    return o;
}

/// How today's program differs from the recording; empty: it does not.
std::string difference_from_today(const Recording& r) {
    const std::string name = r.experiment.algorithm->name;
    if (!r.today) return message("recorded.not_today", name);
    try {
        const std::string difference = replay(r);
        return difference.empty() ? "" : message("recorded.differs_today", name, difference);
    } catch (const std::runtime_error& e) {
        return message("recorded.fails_today", name, e.what());
    }
}

TileInfo info_of(const RecordedTile& t) { return {t.name.c_str(), t.rows, t.cols, t.dtype, t.space}; }

/// Adds up the costs of a run from its recording alone.
class RecordedCosts final : public StepReader {
  public:
    RecordedCosts(const Trace& trace, const Experiment& e) : trace_(trace) {
        report_.experiment = e;
        report_.numeric = trace.has_values();
        for (const RecordedTensor& t : trace.tensors()) {
            report_.tensors.push_back({t.name, t.role, t.meaning, false, t.size() * size_of(t.dtype), {}});
            report_.hbm_footprint += report_.tensors.back().bytes;
        }
        for (const RecordedLaunch& l : trace.launches()) {
            report_.launches.push_back({l.kernel.c_str(), l.thread_blocks()});
            nest_.push_back({l.kernel.c_str(), {}, {}});
        }
    }

    void mark(const Reading& r) override { step(r); }
    void step(const Reading& r) override {
        const Event& e = r.step.event;
        report_.counters += e.cost;
        if (r.step.moves_data()) report_.tensors[e.region.tensor].traffic += Traffic::of(e.cost);
        take_peaks(r.step);
        if (r.step.enters_line) profile_.visit({e.block, e.line, 1});
        if (r.step.enters_line && r.step.turn >= 0) enter_line(r.step);
        if (r.step.tile() == no_tile) return;
        const TileInfo tile = info_of(trace_.tiles()[r.step.tile()]);
        Event heard = e;
        heard.tile = &tile;
        profile_.on(heard, {});
    }
    Counted counted() && { return {std::move(report_), profile_.lines(), std::move(nest_), trace_.size()}; }

  private:
    void take_peaks(const Step& s) {
        LaunchInfo& l = report_.launches[static_cast<std::size_t>(s.launch)];
        l.sram_peak = std::max(l.sram_peak, s.event.sram_used);
        l.register_peak = std::max(l.register_peak, s.event.registers_used);
        report_.sram_peak = std::max(report_.sram_peak, l.sram_peak);
        report_.register_peak = std::max(report_.register_peak, l.register_peak);
    }
    /// Counts the line among the lines of the loop around it.
    void enter_line(const Step& s) {
        const Index number = trace_.turns()[static_cast<std::size_t>(s.turn)].loop;
        std::vector<Loop>& loops = nest_[static_cast<std::size_t>(s.launch)].loops;
        const auto [place, is_new] = loops_.try_emplace({s.launch, number}, loops.size());
        if (is_new) {
            const RecordedLoop& l = trace_.loops()[static_cast<std::size_t>(number)];
            loops.push_back({.name = l.name, .promise = l.promise, .here = {l.source_line, ""}});
        }
        Loop& loop = loops[place->second];
        loop.first_line = loop.first_line == 0 ? s.event.line : std::min(loop.first_line, s.event.line);
        loop.last_line = std::max(loop.last_line, s.event.line);
    }

    const Trace& trace_;
    Report report_;
    Profile profile_;
    std::vector<LaunchNest> nest_;                          // its loops without how often they run
    std::map<std::pair<Index, Index>, std::size_t> loops_;  // by launch and number in the recording
};

}  // namespace

Run::Run(Recording recording) : recorded_(recording.experiment.problem), as_recorded_(recording.as_recorded) {
    const Experiment e = recording.experiment;
    remark_ = difference_from_today(recording);
    inputs_ = remark_.empty() ? inputs_of(recording) : Inputs();
    if (remark_.empty()) counted_ = count_for_show(e);
    schedule(std::move(recording.trace), e.gpu.sms);
    if (!remark_.empty()) {
        RecordedCosts costs(trace(), e);
        read_steps(*schedule_, {&costs});
        counted_ = std::move(costs).counted();
    }
    note_recorded_part();
    if (has_values() && remark_.empty()) look_ahead();
    add_up();
    player_ = std::make_unique<Player>(trace());
    seek(0);
}

void Run::note_recorded_part() {
    Count all = 0;
    for (const RecordedLaunch& l : trace().launches()) all += l.thread_blocks();
    const auto blocks = static_cast<Count>(trace().blocks().size());
    std::vector<std::string> said;
    if (blocks != all)
        said.push_back(message(has_values() ? "recorded.part" : "recorded.part_without_numbers", std::to_string(blocks),
                               std::to_string(all)));
    else if (!has_values())
        said.push_back(message("recorded.without_numbers"));
    if (!remark_.empty())
        said.push_back(message(find_algorithm(algorithm().name) ? "recorded.other_today" : "recorded.unknown_today"));
    shortened_ = text::sentences(said);
}

void Making::open_recording() {
    Setup alone;
    alone.recording = setup_.recording;
    if (!(setup_ == alone)) throw UsageError(message("recorded.has_flags", text::shown(setup_.recording)));
    Recording recording = read_recording(setup_.recording);
    const Experiment e = recording.experiment;
    made_.played = setup_;
    made_.played->algorithm = e.algorithm->name;
    made_.played->options = options_of(recording);
    made_.request = Request{.problem = unpacked(e.problem),
                            .wish = {.tiling = e.tiling},
                            .gpu = e.gpu,
                            .file_rank = 0,
                            .inputs = {},
                            .model = "",
                            .phase = "",
                            .remark = ""};
    made_.tiling = e.tiling;
    made_.run = std::make_unique<Run>(std::move(recording));
}

}  // namespace tilescope::show
