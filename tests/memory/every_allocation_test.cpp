// Memory runs out at one allocation after another. The work then fails with std::bad_alloc or an error of ours, or
// succeeds all the same; nothing is left in memory or on disk; and done again, the work succeeds. About 100 allocations
// of each work are tried, evenly spread; TILESCOPE_ALLOCATIONS=N tries about N.
#include <cstdlib>
#include <functional>
#include <iostream>

#include "core/machine/out_of_chip_memory.hpp"
#include "core/record/trace.hpp"
#include "lab/gpu/gpu_json.hpp"
#include "lab/gpu/gpu_presets.hpp"
#include "lab/model/mapping.hpp"
#include "lab/report/experiment_json.hpp"
#include "lab/report/recording.hpp"
#include "lab/run/reference.hpp"
#include "lab/study/vary.hpp"
#include "lab/system/atomic_file.hpp"
#include "lab/workload/npy.hpp"
#include "show/run/make_run.hpp"
#include "show/state/state.hpp"
#include "show/words/narration.hpp"
#include "show/words/steps.hpp"
#include "tests/memory/allocations.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/folder.hpp"

using namespace tilescope;
using namespace tilescope::lab;
using namespace tilescope::testing;

namespace {

constexpr const char* how_many = "TILESCOPE_ALLOCATIONS";

/// Reads and writes files in the folder. The result has everything that must be the same every time.
struct Work {
    const char* name;
    std::function<std::string(const Folder&)> run;
};

Experiment small_experiment(const char* algorithm = "flash_v2") {
    Problem p;
    p.seq_q = p.seq_k = 12, p.heads = p.kv_heads = 2, p.dim = p.dim_v = 4, p.mask = Mask::causal();
    return {find_algorithm(algorithm), p, {4, 4}, gpu_preset("toy")};
}

Inputs inputs_of(const Experiment& e) { return lab::inputs_of(*e.algorithm, e.problem, 1, Distribution::normal); }

std::string text_of(const Report& r) {
    std::string out = to_json(r.experiment).dump();
    for (const auto& [name, member] : Counters::fields) out += ' ' + std::to_string(r.counters.*member);
    for (const auto& [name, output] : r.outputs)
        out.append(reinterpret_cast<const char*>(output->data()), static_cast<std::size_t>(output->bytes()));
    return out;
}

std::string run_and_compare(int threads) {
    const Experiment e = small_experiment();
    const Inputs inputs = inputs_of(e);
    const Report r = execute(e, inputs, threads);
    const OutputErrors errors =
        compare_with_reference(*e.algorithm->computes, e.problem, inputs, {r.outputs}, threads)[0];
    return text_of(r) + ' ' + std::to_string(errors.at("O").rms);
}

std::string record_write_read_replay(const Folder& folder) {
    Experiment e = small_experiment("flash_v1");
    e.problem.seq_q = e.problem.seq_k = 5, e.problem.heads = e.problem.kv_heads = 1;
    Gpu gpu(e.gpu, numeric_mode, 1);
    Trace trace(gpu, within_memory({}));
    gpu.listen(trace);
    run_program(gpu, *e.algorithm, e.problem, e.tiling, inputs_of(e));
    AtomicFile file(folder / "trace.json");
    write_recording(file.stream(), e, RandomInputs{1}, trace);
    file.commit();
    const std::string difference = replay(read_recording(folder / "trace.json"));
    return difference + bytes_of(folder / "trace.json");
}

std::string write_and_read_npy(const Folder& folder) {
    const std::vector<Index> shape = {3, 4};
    const std::vector<float> values = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    write_npy(folder / "a.npy", shape, Dtype::f16, values);
    const FileTensor t = read_tensor("--q", folder / "a.npy");
    return std::to_string(to_storage(t, Dtype::bf16)->bytes()) + bytes_of(folder / "a.npy") +
           std::string(reinterpret_cast<const char*>(t.values.data()), t.values.size() * sizeof(float));
}

/// Explains a lack of room on chip, and what helps.
std::string explain_overflow() {
    Experiment e = small_experiment();
    e.tiling = {1000, 1000}, e.problem.seq_q = e.problem.seq_k = 4096, e.problem.dim = e.problem.dim_v = 256;
    try {
        count(e);
    } catch (const OutOfChipMemory& error) {
        return explain(error, *e.algorithm, e.problem, e.tiling, e.gpu);
    }
    return "it fits";
}

std::string save_and_open_state(const Folder& folder) {
    show::State s;
    s.setup.algorithm = "flash_v1", s.setup.rival = "flash_v2", s.speed = 7.3, s.view.breakpoints = {3, 5};
    s.setup.options.seq = 64, s.setup.options.scale = 0.1;
    show::save_state(s, folder / "state.json");
    const show::State opened = show::read_state(folder / "state.json");
    return show::shell_command(opened) + bytes_of(folder / "state.json");
}

std::string tell(const show::Run& run) {
    const show::SmState& sm = run.moment().sms.front();
    const show::StepText t = show::step_text(run, sm);
    return t.where + t.code + t.formula + t.happening + t.why + show::what_happens(run, sm) + show::traffic_so_far(run);
}

/// A session as the window has it, with a background thread where there can be one.
std::string session(const std::string& rival, Index limit) {
    show::Session s(show::RecordingLimits{.events = limit});
    show::Setup setup;
    setup.algorithm = "flash_v2", setup.rival = rival;
    for (const auto& [flag, value] : {std::pair("gpu", "toy"), std::pair("seq", "12"), std::pair("dim", "4"),
                                      std::pair("heads", "2"), std::pair("br", "4"), std::pair("bc", "4")})
        set_flag(setup.options, flag, value);
    s.ask(setup);
    s.finish();
    std::string told = s.problem();
    if (!s.run()) return told;
    for (const Index position : {Index{0}, s.length() / 2, s.length()}) {
        s.show(position);
        told += tell(*s.run());
    }
    if (const Report* standard = s.counted("standard")) told += text_of(*standard);
    return told + s.run()->shortened();
}

const std::vector<Work>& everything() {
    static const std::vector<Work> all = {
        {"count", [](const Folder&) { return text_of(count(small_experiment("standard"))); }},
        {"run on one thread", [](const Folder&) { return run_and_compare(1); }},
        {"run on three threads", [](const Folder&) { return run_and_compare(3); }},
        {"the whole reference",
         [](const Folder&) {
             const Experiment e = small_experiment();
             return std::to_string(
                 Reference(*e.algorithm->computes, e.problem, inputs_of(e), 2).largest(e.algorithm->computes->output));
         }},
        {"a recording", record_write_read_replay},
        {"NumPy files", write_and_read_npy},
        {"a GPU in JSON", [](const Folder&) { return gpu_json(parse_gpu(gpu_json(gpu_preset("H100")), "h100")); }},
        {"a tiling chosen",
         [](const Folder&) {
             const Experiment e = small_experiment();
             return std::to_string(choose_tiling(*e.algorithm, e.problem, {}, e.gpu).bc);
         }},
        {"an overflow explained", [](const Folder&) { return explain_overflow(); }},
        {"flags varied", [](const Folder&) { return parse_axis("seq=64:4096:x2").values.back(); }},
        {"a state saved", save_and_open_state},
        {"a session", [](const Folder&) { return session("", 100'000); }},
        {"a race", [](const Folder&) { return session("flash_v1", 100'000); }},
        {"a session without numbers", [](const Folder&) { return session("", 60); }}};
    return all;
}

/// The result of the work; nullopt where memory ran out or the work failed with an error of ours.
std::optional<std::string> outcome(const Work& work, const Folder& folder, FailingAllocation::Kind kind, long n) {
    const FailingAllocation failing(n, kind);
    try {
        return work.run(folder);
    } catch (const std::bad_alloc&) {
    } catch (const RunError&) {
    } catch (const UsageError&) {
    }
    return std::nullopt;
}

long calls_of(const Work& work, const Folder& folder) {
    const FailingAllocation never(std::numeric_limits<long>::max(), FailingAllocation::Kind::once);
    work.run(folder);
    return never.calls();
}

void check_every_allocation(const Work& work, FailingAllocation::Kind kind, long places) {
    const Folder folder;
    const std::string expected = work.run(folder);  // also makes what is made only once, and a file to replace
    const long calls = calls_of(work, folder), stride = std::max<long>(1, calls / places);
    const auto files = folder.entries();
    long failed = 0;
    for (long n = 1; n <= calls; n += stride) {
        const long before = live_allocations();
        {
            const std::optional<std::string> result = outcome(work, folder, kind, n);
            failed += !result;
            if (result && *result != expected) FAIL("something else at allocation " << n << ": " << *result);
        }
        if (const long left = live_allocations() - before; left != 0) FAIL(left << " left at allocation " << n);
        if (folder.entries() != files) FAIL("a file is left at allocation " << n);
    }
    CHECK(failed > 0);
    CHECK(work.run(folder) == expected);
    if (std::getenv(how_many)) std::cout << work.name << ": " << calls << " allocations, failed at " << failed << '\n';
}

}  // namespace

TEST_CASE("memory that runs out anywhere is an error, and leaves nothing", "[memory]") {
    const char* asked = std::getenv(how_many);
    const long places = std::max<long>(1, asked ? std::atol(asked) : 100);
    for (const Work& work : everything())
        for (const auto kind : {FailingAllocation::Kind::once, FailingAllocation::Kind::from_then_on}) {
            const std::string name = work.name + std::string(kind == FailingAllocation::Kind::once ? ", once" : ", on");
            SECTION(name) { check_every_allocation(work, kind, places); }
        }
}
