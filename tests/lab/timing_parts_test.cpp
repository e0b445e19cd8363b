// Times of decoding in parts: thread blocks share DRAM, and full waves leave some blocks over.
#include <algorithm>

#include "lab/gpu/gpu_presets.hpp"
#include "lab/model/timing.hpp"
#include "lab/model/verdict.hpp"
#include "tests/lab/timed.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/folder.hpp"

using namespace tilescope;
using namespace tilescope::lab;

namespace {

/// A launch of a decoding step of 8 heads, in microseconds.
double us_of_decoding(std::size_t launch, Index keys, Index parts) {
    Experiment e = experiment("split_kv", 8, keys, Dtype::f16, {16, 64, parts});
    e.problem.seq_q = 1, e.problem.dim = e.problem.dim_v = 128;
    return time_of(e).launches.at(launch).us;
}

}  // namespace

TEST_CASE("partial outputs that are asked for together wait for one latency", "[timing]") {
    const double latency = 670 / 1950.0;
    const double two = us_of_decoding(1, 8192, 2), many = us_of_decoding(1, 8192, 33),
                 more = us_of_decoding(1, 8192, 65);
    CHECK(many - two < latency);
    CHECK(more - many > 0.3 * latency);
    CHECK(more - many < 2 * latency);
}

TEST_CASE("thread blocks that all run at once share DRAM evenly, however many an SM has of them", "[timing]") {
    const double uneven = us_of_decoding(0, 131072, 28),
                 even = us_of_decoding(0, 131072, 33);  // 224 and 264 thread blocks for 132 SMs
    CHECK(uneven == Approx(even).epsilon(0.04));
    CHECK(us_of_decoding(0, 131072, 8) > 1.5 * even);  // 64 thread blocks, each with at most the bandwidth of one SM
}

TEST_CASE("thread blocks that full waves leave over have the memory to themselves", "[timing]") {
    // Measured on an H200 with 36 parts: 1.04 times as long as alone (docs/measured/h200/edges-decoding.csv, 9 parts of
    // 4).
    const double wave = us_of_decoding(0, 131072, 33) * 33 / 36;  // 264 thread blocks as long as those of 36 parts
    const double alone = us_of_decoding(0, 131072, 16) * 16 / 36;
    const double left_over = us_of_decoding(0, 131072, 36) - wave;  // 24 more blocks
    CHECK(left_over > 0.95 * alone);
    CHECK(left_over < 1.4 * alone);
}

TEST_CASE("in whatever parts, keys are read no faster than DRAM can", "[timing][numbers]") {
    const double read_alone = 2.0 * 8 * 32768 * 128 * 2 / (0.95 * 4800e9) * 1e6;
    for (Index parts = 1; parts <= 80; ++parts)
        for (const Index bc : {64, 128}) {
            Experiment e = experiment("split_kv", 8, 32768, Dtype::f16, {16, bc, parts});
            e.problem.seq_q = 1, e.problem.dim = e.problem.dim_v = 128;
            INFO(parts << " parts, Bc " << bc);
            CHECK(time_of(e).us() > read_alone);
        }
}

TEST_CASE("parts whose thread blocks are left over by full waves are told, with as many as fit", "[timing]") {
    const auto said = [](Index parts) {
        Experiment e = experiment("split_kv", 8, 131072, Dtype::f16, {16, 64, parts});
        e.problem.seq_q = 1, e.problem.dim = e.problem.dim_v = 128;
        const RunTime t = time_of(e);
        return verdict(t.longest(), t.style, e);
    };
    CHECK(contains(said(36), " 24 thread blocks are left over by full waves: with --splits 33 there"));
    CHECK(!contains(said(33), "left over"));
    CHECK(!contains(said(64), "left over"));  // 512 of 528 slots
}
