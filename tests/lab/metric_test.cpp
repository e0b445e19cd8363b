// The list of all metrics of a run.
#include "lab/report/metric.hpp"

#include <algorithm>
#include <set>

#include "core/machine/error.hpp"
#include "lab/gpu/gpu_presets.hpp"
#include "lab/model/timing.hpp"
#include "tests/support/catch.hpp"

using namespace tilescope;
using namespace tilescope::lab;

namespace {

Experiment layer(Index heads = 4, Index seq = 512) {
    Problem p;
    p.heads = p.kv_heads = heads, p.seq_q = p.seq_k = seq, p.dtype = Dtype::f16;
    return {find_algorithm("flash_v2"), p, {64, 64}, gpu_preset("H100")};
}

const Metric& of(const char* key) { return metric_named("--metric", key); }

}  // namespace

TEST_CASE("every metric has a key of its own, a title and a meaning", "[metric]") {
    std::set<std::string> keys;
    for (const Metric& m : metrics()) {
        INFO(m.key);
        CHECK(keys.insert(m.key).second);
        CHECK_FALSE(std::string(m.title).empty());
        CHECK_FALSE(std::string(m.meaning).empty());
        CHECK(find_metric(m.key) == &m);
    }
    for (const Counters::Field& f : Counters::fields) CHECK(find_metric(f.name));
}

TEST_CASE("metrics are what the report says, in its units", "[metric]") {
    const Report r = count_and_time(layer());
    for (const Counters::Field& f : Counters::fields)
        CHECK(*number_of(of(f.name), r) == static_cast<double>(r.counters.*f.member));
    CHECK(*number_of(of("hbm_bytes"), r) == static_cast<double>(r.counters.hbm()));
    CHECK(*number_of(of("dram_bytes"), r) == static_cast<double>(r.dram()->read + r.dram()->written));
    CHECK(*number_of(of("time_us"), r) == r.time->us());
    CHECK(*number_of(of("flops_per_s"), r) ==
          Approx(static_cast<double>(r.counters.matmul_flops) / (r.time->us() / 1e6)));
    CHECK(*number_of(of("useful_flops"), r) == r.useful_flops());
    CHECK(*number_of(of("useful_flops_per_s"), r) == Approx(r.useful_flops() / (r.time->us() / 1e6)));
    CHECK(*number_of(of("hbm_footprint_bytes"), r) == static_cast<double>(r.hbm_footprint));
    CHECK(shown(of("bound"), of("bound").of(r)) == name_of(r.time->longest().bound));
    CHECK(shown(of("fits_hbm"), of("fits_hbm").of(r)) == "yes");
    CHECK_FALSE(number_of(of("bound"), r));
}

TEST_CASE("a metric of counters is what it is of the run that they are of", "[metric]") {
    const Report r = count_and_time(layer());
    for (const Metric& m : metrics()) {
        INFO(m.key);
        if (m.of_counters) CHECK(m.of_counters(r.counters) == m.of(r));
    }
}

TEST_CASE("a metric of launches is of the run their sum, their most, or that of the longest", "[metric]") {
    Experiment e = layer(1, 4096);
    e.algorithm = find_algorithm("standard");
    const Report r = count_and_time(e);
    const std::vector<Launch> launches = launches_of(r);
    REQUIRE(launches.size() == 3);
    const auto longest = std::max_element(launches.begin(), launches.end(),
                                          [](const Launch& a, const Launch& b) { return a.time->us < b.time->us; });
    const std::set<std::string> sums = {"thread_blocks", "time_us", "dram_read_bytes", "dram_write_bytes"};
    for (const Metric& m : metrics()) {
        if (!m.of_launch) continue;
        INFO(m.key);
        double sum = 0, most = 0;
        for (const Launch& l : launches) {
            const double x = number_in(m.of_launch(l)).value_or(0);
            sum += x, most = std::max(most, x);
        }
        if (sums.contains(m.key))
            CHECK(*number_of(m, r) == Approx(sum));
        else if (std::string(m.key).ends_with("_peak_bytes"))
            CHECK(*number_of(m, r) == most);
        else
            CHECK(m.of(r) == m.of_launch(*longest));
    }
}

TEST_CASE("what a run does not have is nothing, not zero", "[metric]") {
    const Report counted = count(layer());
    for (const char* key : {"time_us", "dram_bytes", "l2_hit_rate", "waves", "flops_per_s", "max_abs_error"}) {
        INFO(key);
        CHECK_FALSE(number_of(of(key), counted));
        CHECK(shown(of(key), of(key).of(counted)) == "–");
    }
}

TEST_CASE("numbers are written with their units", "[metric]") {
    CHECK(shown(of("hbm_bytes"), Count{34603008}) == "34.6 MB");
    CHECK(shown(of("time_us"), 13.52) == "13.5 µs");
    CHECK(shown(of("l2_hit_rate"), 0.534) == "53%");
    CHECK(shown(of("flops_per_s"), 4.02e14) == "402 TFLOP/s");
    CHECK(shown(of("flops_per_s"), 0.0) == "0 FLOP/s");
    CHECK(shown(of("clock_mhz"), 1980.0) == "1,980 MHz");
    CHECK(shown(of("launches"), Count{1234567}) == "1,234,567");
}

TEST_CASE("an unknown metric is refused with the nearest", "[metric]") {
    CHECK_THROWS_WITH(
        metric_named("--metric", "time"),
        "--metric time: is not a metric; did you mean time_us? `tilescope list --metrics` has all of them");
}
