#include "core/record/slices.hpp"

#include <set>

#include "core/machine/error.hpp"
#include "core/record/trace_file.hpp"
#include "tests/support/programs.hpp"
#include "tests/support/recordings.hpp"
#include "tests/support/seeds.hpp"

using namespace tilescope;
using namespace tilescope::testing;

namespace {

constexpr Mode shapes{.data = false, .fold = false, .only_wanted = true};
constexpr Count any_flops = std::numeric_limits<Count>::max();

Trace whole(const RandomProgram& program, const TraceOptions& options) {
    Gpu gpu(small_gpu(), shapes, 1);
    Trace trace(gpu, options);
    gpu.listen(trace);
    try {
        program.run(gpu);
    } catch (const RunError&) {
    }
    return trace;
}

/// Events from position `from` on that a limit does not count: releases, and ends of blocks.
Index ends(const Trace& t, Index from) {
    Index n = 0;
    for (Index k = from; k < t.size(); ++k) n += t[k].kind() == Kind::release || t[k].kind() == Kind::block_end;
    return n;
}

/// Records the program in slices. `most` is the largest size of a slice, and `slices` their number.
struct InSlices {
    InSlices(const RandomProgram& program, const TraceOptions& options, Slices::Size size, Slices::End end) {
        for (bool last = false; !last; ++slices) {
            Gpu gpu(small_gpu(), shapes, 1);
            if (trace)
                trace->follow(gpu);
            else
                parts.emplace(trace.emplace(gpu, options), size, end);
            const Index before = trace->size();
            gpu.listen(*parts);
            try {
                last = parts->carry_on([&] { program.run(gpu); });
            } catch (const RunError&) {
                last = true;
            }
            most = std::max(most, trace->size() - before - ends(*trace, before));
            if (slices > 100'000) FAIL("does not end");
        }
    }
    std::optional<Trace> trace;
    std::optional<Slices> parts;
    Index most = 0, slices = 0;
};

}  // namespace

TEST_CASE("a recording in slices is the recording", "[slices]") {
    const Index events = GENERATE(1, 2, 7, 100, 1'000'000);
    for (unsigned seed = 0; seed < seeds(25); ++seed) {
        CAPTURE(seed, events);
        const RandomProgram program(seed);
        const Trace all = whole(program, {});
        const InSlices anywhere(program, {}, {events, any_flops}, Slices::End::anywhere);
        CHECK(divergence(*anywhere.trace, all) == "");
        CHECK(anywhere.most <= events);
        CHECK(anywhere.slices <= all.size() / events + 1);
        const InSlices by_blocks(program, {}, {events, any_flops}, Slices::End::between_blocks);
        CHECK(divergence(*by_blocks.trace, all) == "");
        CHECK(by_blocks.slices <= anywhere.slices + 1);
    }
}

TEST_CASE("a slice ends when it has computed enough", "[slices]") {
    Index slices = 0;
    for (unsigned seed = 0; seed < 10; ++seed) {
        const RandomProgram program(seed);
        const InSlices one(program, {}, {1'000'000, any_flops}, Slices::End::anywhere);
        const InSlices many(program, {}, {1'000'000, 1}, Slices::End::anywhere);
        CHECK(one.slices == 1);
        CHECK(divergence(*many.trace, whole(program, {})) == "");
        slices += many.slices;
    }
    CHECK(slices > 100);
}

TEST_CASE("slices of chosen blocks, and of what is too long", "[slices]") {
    for (unsigned seed = 0; seed < seeds(25); ++seed)
        for (const TraceOptions& options :
             {TraceOptions{.blocks = {0, 2, 3}}, TraceOptions{.max_events = 40}, TraceOptions{.blocks = {1}}}) {
            CAPTURE(seed);
            const RandomProgram program(seed);
            const InSlices sliced(program, options, {5, any_flops}, Slices::End::anywhere);
            CHECK(divergence(*sliced.trace, whole(program, options)) == "");
        }
}

TEST_CASE("what a run throws goes through a slice", "[slices]") {
    struct Nothing : Listener {
        void on(const Event&, TileData) override {}
    } nothing;
    Slices slices(nothing, {10, any_flops}, Slices::End::anywhere);
    CHECK_THROWS_AS(slices.carry_on([] { throw Interrupted(); }), Interrupted);
    CHECK(slices.carry_on([] {}));
}

TEST_CASE("a slice needs what its listener needs", "[slices]") {
    Gpu folded(small_gpu(), count_mode, 1);
    Trace trace(folded);
    Slices slices(trace, {10, any_flops}, Slices::End::anywhere);
    CHECK_THROWS_AS(folded.listen(slices), std::logic_error);
}
