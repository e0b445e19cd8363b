#include "show/run/recorder.hpp"

#include "core/record/trace_file.hpp"
#include "lab/model/mapping.hpp"
#include "lab/run/reference.hpp"
#include "show/run/job.hpp"
#include "show/run/make_run.hpp"
#include "show/run/making.hpp"
#include "tests/support/problems.hpp"
#include "tests/support/recordings.hpp"
#include "tests/support/sessions.hpp"

using namespace tilescope;
using namespace tilescope::lab;
using namespace tilescope::show;

namespace {

InputsFor random_for(const Algorithm& a) {
    return [&a](const Problem& p) { return inputs_of(a, p, 7, Distribution::normal); };
}

Experiment experiment(const Algorithm& a, Index seq, Index heads, bool causal) {
    Problem p;
    p.seq_q = p.seq_k = seq, p.dim = 6, p.dim_v = 5;
    p.heads = p.kv_heads = heads;
    p.mask = causal ? Mask::causal() : Mask();
    return {&a, p, {4, 6}, machine(1 << 20, 1 << 20)};
}

struct Units {
    Index count = 0, most_events = 0;
};

/// Works to the end; returns the number of units, and the most events of one.
Units finish(Recorder& r) {
    Units u;
    for (Index before = 0, done = false; !done; ++u.count) {
        done = r.work(nullptr);
        u.most_events = std::max(u.most_events, r.size() - before);
        before = r.size();
        CHECK((r.left() == 0) == done);
    }
    return u;
}

/// The events of the longest thread block.
Index longest_block(const Trace& t) {
    Index longest = 0, begin = 0;
    for (Index k = 0; k < t.size(); ++k) {
        if (t[k].kind() == Kind::block_begin) begin = k;
        longest = std::max(longest, k + 1 - begin);
    }
    return longest;
}

/// A unit may have more events, because tiles that are released at the end of a thread block do not count.
constexpr Index slack = 32;

/// Setups that once kept the window waiting: a large grid, a long thread block, long rows, tiles of one element.
const Flags long_ones[] = {
    {{"seq", "20000000"}, {"heads", "1"}, {"dim", "16"}, {"causal", "true"}},
    {{"seq", "4194304"}, {"heads", "1"}, {"dim", "1"}, {"br", "1"}, {"bc", "1"}},
    {{"seq", "4194304"}, {"heads", "1"}, {"dim", "1"}, {"br", "1"}, {"bc", "1"}, {"causal", "true"}},
    {{"seq-q", "2147483648"}, {"seq-k", "16"}, {"heads", "1"}, {"dim", "4"}},
    {{"seq-q", "16"}, {"seq-k", "2147483648"}, {"heads", "1"}, {"dim", "4"}},
    {{"seq", "16384"}, {"heads", "64"}},
};

Setup setup(const Algorithm& a, const Flags& flags) {
    Setup s;
    s.algorithm = a.name;
    for (const auto& [flag, value] : flags)
        if (a.computes != &computation::softmax || (flag != "dim" && flag != "causal"))
            set_flag(s.options, flag, value);
    return s;
}

}  // namespace

TEST_CASE("a recording made in units is the recording, on real numbers", "[recording]") {
    Index in_parts = 0;
    for (const bool causal : {false, true})
        for (const Algorithm& a : algorithms()) {
            INFO(a.name << ", causal " << causal);
            const Experiment e = experiment(a, 70, 6, causal);
            Recorder r(count_for_show(e), 6, random_for(a), {});
            const Units units = finish(r);
            Gpu gpu(e.gpu, numeric_mode, 1);
            Trace whole(gpu);
            gpu.listen(whole);
            run_program(gpu, a, e.problem, e.tiling, random_for(a)(e.problem));
            const Index longest = longest_block(whole);
            REQUIRE(r.inputs().size() > 0);
            CHECK(r.shortened() == "");
            CHECK((r.problem() == e.problem));
            CHECK(units.most_events <= Recorder::unit.events + longest);
            in_parts += units.count > 3;
            const Bytes of_tiles = [&] {
                Bytes all = whole.value_bytes();
                for (const RecordedTensor& t : whole.tensors()) all -= 4 * std::ssize(t.initial);
                return all;
            }();
            const Bytes room = value_bytes(count_for_show(e), 6);
            CHECK((of_tiles <= room && room <= 3 * of_tiles));  // tiles stored as f16 take half as much
            CHECK(divergence(std::move(r).take(), whole) == "");
        }
    CHECK(in_parts > 5);
}

TEST_CASE("a unit records so much and no more, however long the run is", "[long][recording]") {
    for (const Flags& flags : long_ones)
        for (const Algorithm& a : algorithms()) {
            Flags own = flags;
            // Under a mask, key blocks that are dealt out to parts are counted one by one: four million would take
            // minutes.
            if (a.kernel->parts && own.back().first == "causal" && own[0].second == "4194304") own[0].second = "65536";
            const Setup asked = setup(a, own);
            INFO(a.name << " --" << own[0].first << ' ' << own[0].second << " --" << own.back().first);
            Control control;
            Making making(asked, {});
            // The first unit counts the whole run, because counting does not take longer for longer sequences.
            if (making.work(control) == 0) continue;  // too large to count, or no room on chip
            const RecordingLimits limits;
            Index units = 1;
            for (; making.work(control) > 0; ++units) REQUIRE(units < 6 * limits.events / Recorder::unit.events);
            const Made made = making.take();
            REQUIRE(made.run);
            CHECK(made.run->trace().size() <= limits.events);
        }
}

TEST_CASE("units of what is too long for numbers", "[recording]") {
    for (const Algorithm& a : algorithms())
        for (const Index seq : {1000, 40'000}) {
            INFO(a.name << ", seq " << seq);
            const Experiment e = experiment(a, seq, 2, false);
            const RecordingLimits limits{.matmul_flops = 1, .events = 30'000};
            Recorder r(count_for_show(e), 1, random_for(a), limits);
            const Units units = finish(r);
            CHECK(units.most_events <= Recorder::unit.events + slack);
            CHECK(r.size() <= limits.events);
            CHECK(r.size() > limits.events / 4);
            CHECK(r.inputs().empty());
            CHECK(units.count >= r.size() / Recorder::unit.events);
        }
}

TEST_CASE("a job that makes a run does no more units than it is given", "[recording]") {
    for (const Flags& flags : long_ones) {
        Making making(setup(*find_algorithm("flash_v2"), flags), {});
        Job job([&](Control& control) { return making.work(control); });
        Index frames = 0, before = 0;
        for (bool done = false; !done; ++frames) {
            done = job.pump(3);
            const Index now = job.progress().done;
            CHECK(now <= before + 3);
            before = now;
        }
        CHECK(frames >= before / 3);
        REQUIRE(making.take().run);
    }
}

TEST_CASE("a unit gives up when it is told to", "[recording][threads]") {
    Control control;
    Making making(setup(*find_algorithm("flash_v2"), long_ones[1]), {});
    making.work(control);
    making.work(control);
    control.stop = true;
    CHECK_THROWS_AS(making.work(control), Interrupted);
}

TEST_CASE("making a run to be shown can be stopped", "[recorder][threads]") {
    const Algorithm& a = *find_algorithm("flash_v2");
    const Options options;
    const Request request = resolve(options, a);
    const Experiment e{&a, request.problem, choose_tiling(a, request.problem, request.wish, request.gpu), request.gpu};
    Control control;
    CHECK(make_run(e, options, request, &control).ticks() > 0);
    control.stop = true;
    CHECK_THROWS_AS(make_run(e, options, request, &control), Interrupted);
}
