// A run told operation by operation, beside what its lanes do.
#include "show/stage/lane_walk.hpp"

#include "lab/gpu/gpu_presets.hpp"
#include "lab/model/mapping.hpp"
#include "show/stage/lanes_text.hpp"
#include "tests/support/runs.hpp"

using namespace tilescope;
using namespace tilescope::lab;
using namespace tilescope::show;

namespace {

/// One head of 512 queries and keys; the tiles are those of the lanes' pictures.
Experiment laned_experiment(const char* gpu, bool causal = false) {
    const Algorithm& a = *find_algorithm("flash_v3");
    Problem p;
    p.heads = p.kv_heads = 1, p.seq_q = p.seq_k = 512, p.dim = p.dim_v = 128;
    if (causal) p.mask = Mask::causal();
    const GpuSpec machine = gpu_preset(gpu);
    return {&a, p, completed({128, 128}, a, p, machine), machine};
}

const SmState& first_sm(const Run& run) { return run.moment().sms[0]; }

std::string told(LaneWalk& walk, const Run& run) {
    const std::optional<LaneMoment> m = walk.at(first_sm(run));
    if (!m) return "";
    std::string all = carried_out_text(*m);
    for (const std::string& s : lane_sentences(*m->view, m->cycle)) all += '\n' + s;
    return all;
}

}  // namespace

TEST_CASE("lanes beside operations are the same whichever way one walks", "[lanes]") {
    Run run = run_of(laned_experiment("H100"), 1);
    LaneWalk walk(run);
    REQUIRE(walk.exists());
    std::vector<std::string> forward;
    for (Index tick = 0; tick <= run.ticks(); ++tick) run.seek(tick), forward.push_back(told(walk, run));
    for (Index tick = run.ticks(); tick >= 0; --tick) {
        run.seek(tick);
        CHECK(told(walk, run) == forward[static_cast<std::size_t>(tick)]);
    }
    for (const Index tick : some_ticks(run, 20)) {
        LaneWalk fresh(run);
        run.seek(tick);
        CHECK(told(fresh, run) == forward[static_cast<std::size_t>(tick)]);
    }
}

TEST_CASE("each operation of a lane is found among what lanes do", "[lanes]") {
    for (const bool causal : {false, true}) {
        Run run = run_of(laned_experiment("H100", causal), 1);
        LaneWalk walk(run);
        Index products = 0, loads = 0, passes = 0;
        for (Index tick = 1; tick <= run.ticks(); ++tick) {
            run.seek(tick);
            const Step* const operation = run.operation(first_sm(run));
            const std::optional<LaneMoment> m = walk.at(first_sm(run));
            if (!operation || operation->lane < 0) {
                CHECK_FALSE(m);
                continue;
            }
            INFO(tick << ' ' << operation->event.operation->name);
            REQUIRE(m);
            const LaneView& view = *m->view;
            const LaneSegment& s = view.segments()[m->segments->front()];
            CHECK(s.from == m->cycle);
            const std::string& tile = run.trace().tiles()[operation->tile()].name;
            if (operation->kind() == Kind::load) {
                CHECK((s.doing == LaneDoing::load && s.what == tile && m->own));
                ++loads;
            } else if (operation->kind() == Kind::product) {
                CHECK((s.doing == LaneDoing::product && s.what == tile && m->own));
                CHECK(m->segments->size() == 2);
                if (tile == "S") CHECK((s.number == 0 && s.from == 0));
                CHECK(view.product_at(m->cycle) == &s);
                ++products;
            } else if (operation->kind() != Kind::store) {
                CHECK(s.doing == LaneDoing::work);
                passes += m->own ? 1 : 0;
            }
        }
        CHECK(products > 0);
        CHECK(loads == products + 1);  // K and V of each tile, and Q
        CHECK(passes > products);
    }
}

TEST_CASE("the first operations of a row tile come before cycle 0, and after its last only stores are left",
          "[lanes]") {
    Run run = run_of(laned_experiment("H100"), 1);
    LaneWalk walk(run);
    double first = 1, last = 0;
    for (Index tick = 1; tick <= run.ticks(); ++tick) {
        run.seek(tick);
        const std::optional<LaneMoment> m = walk.at(first_sm(run));
        if (!m) continue;
        if (first > 0) first = m->cycle;
        last = m->cycle;
    }
    CHECK(first < 0);
    CHECK(last > 0);
}

TEST_CASE("where lanes are not timed, nothing is told of them", "[lanes]") {
    Run run = run_of(laned_experiment("A100-40GB"), 1);
    LaneWalk walk(run);
    CHECK_FALSE(walk.exists());
    run.seek(run.ticks() / 2);
    CHECK_FALSE(walk.at(first_sm(run)));
}
