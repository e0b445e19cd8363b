// Words are for people: a row's story, what tiles hold and what is painted do not depend on the names of operations.
#include "lab/gpu/gpu_presets.hpp"
#include "lab/report/recording.hpp"
#include "show/run/run.hpp"
#include "show/stage/row.hpp"
#include "show/stage/wall.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/renamed.hpp"

using namespace tilescope;
using namespace tilescope::show;

namespace {

/// A run whose operations have other words, or, if not `renamed`, their own.
struct RunInWords {
    std::unique_ptr<Renamed> words;
    std::unique_ptr<Run> run;
};

RunInWords run_in_words(const lab::Experiment& e, bool renamed) {
    const auto inputs = lab::random_inputs(e.algorithm->tensors(e.problem, e.tiling), 7, lab::Distribution::normal);
    Gpu gpu(e.gpu, numeric_mode, 1);
    Trace trace(gpu);
    RunInWords t{std::make_unique<Renamed>(trace), nullptr};
    renamed ? gpu.listen(*t.words) : gpu.listen(trace);
    lab::run_program(gpu, *e.algorithm, e.problem, e.tiling, inputs);
    // Neither run is compared with today's program, because the program has other words.
    t.run = std::make_unique<Run>(lab::Recording{e, std::nullopt, std::move(trace), nullptr});
    return t;
}

}  // namespace

TEST_CASE("rows, contents and paint do not depend on what operations are called", "[row]") {
    for (const Algorithm& a : algorithms()) {
        if (a.computes != &computation::attention) continue;
        INFO(a.name);
        Problem p;
        p.heads = p.kv_heads = 1, p.seq_q = 12, p.seq_k = 12, p.dim = p.dim_v = 4, p.dtype = Dtype::f32;
        const lab::Experiment e{&a, p, {4, 4, 2}, lab::gpu_preset("toy")};
        const RunInWords plain = run_in_words(e, false), other = run_in_words(e, true);
        REQUIRE(plain.run->ticks() == other.run->ticks());
        const RowStory story(*plain.run, 0, 7), same(*other.run, 0, 7);
        REQUIRE(story.writes().size() == same.writes().size());
        REQUIRE(story.writes().size() > 4);
        for (std::size_t k = 0; k < story.writes().size(); ++k) CHECK(story.writes()[k].form == same.writes()[k].form);
        const RowMoment end = story.at(plain.run->ticks()), same_end = same.at(other.run->ticks());
        CHECK(end.m == same_end.m);
        CHECK(end.sum == same_end.sum);
        CHECK(end.output == same_end.output);
        for (Index k = 0; k < plain.run->trace().size(); ++k)
            CHECK(plain.run->contents().after(k) == other.run->contents().after(k));
        const Wall wall(*plain.run, 0), same_wall(*other.run, 0);
        CHECK(wall.visits().size() == same_wall.visits().size());
    }
}
