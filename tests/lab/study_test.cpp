// Many points computed at the same time, and taken in order.
#include "lab/study/study.hpp"

#include <algorithm>
#include <atomic>
#include <stdexcept>
#include <string_view>

#include "core/machine/parallel.hpp"
#include "lab/gpu/gpu_presets.hpp"
#include "lab/model/mapping.hpp"
#include "lab/study/row.hpp"
#include "tests/support/catch.hpp"

using namespace tilescope;
using namespace tilescope::lab;

namespace {

Experiment flash(Index seq, Tiling tiling = {64, 64}) {
    Problem p;
    p.heads = p.kv_heads = 2, p.seq_q = p.seq_k = seq, p.dtype = Dtype::f16;
    return {find_algorithm("flash_v2"), p, tiling, gpu_preset("H100")};
}

}  // namespace

TEST_CASE("points are taken in their order, whoever was first to have one", "[study][threads]") {
    std::vector<Index> order;
    study(
        300, 4,
        [](Index k) {
            if (k % 7 == 0) wait_a_moment();
            return outcome_of(flash(64 + k));
        },
        [&](Index k, const Outcome& o) {
            order.push_back(k);
            CHECK(o.experiment.problem.seq_q == 64 + k);
        });
    REQUIRE(order.size() == 300);
    for (Index k = 0; k < 300; ++k) CHECK(order[static_cast<std::size_t>(k)] == k);
}

TEST_CASE("few outcomes wait, however slow the first point is", "[study][threads]") {
    std::atomic<Index> made{0}, most_ahead{0};
    std::atomic<bool> first{true};
    study(
        2000, 3,
        [&](Index k) {
            if (k == 0)
                while (first) {
                    if (made >= 150) first = false;
                    wait_a_moment();
                }
            ++made;
            return Outcome{flash(64)};
        },
        [&](Index k, const Outcome&) { most_ahead = std::max<Index>(most_ahead, made - k); });
    CHECK(made == 2000);
    CHECK(most_ahead <= 3 * 64 + 3);
}

TEST_CASE("what fails ends the study, in a point or where it is taken", "[study][threads]") {
    Index taken = 0;
    const auto count = [&](Index, const Outcome&) { ++taken; };
    CHECK_THROWS_AS(study(
                        10000, 4,
                        [](Index k) {
                            if (k == 40) throw Interrupted();
                            return Outcome{flash(64)};
                        },
                        count),
                    Interrupted);
    CHECK(taken <= 40);
    CHECK_THROWS_AS(study(
                        10000, 4, [](Index) { return Outcome{flash(64)}; },
                        [](Index k, const Outcome&) {
                            if (k == 5) throw std::runtime_error("the output is gone");
                        }),
                    std::runtime_error);
}

TEST_CASE("what does not fit is an outcome that says why", "[study][threads]") {
    const Outcome fits = outcome_of(flash(512));
    REQUIRE(fits.report);
    CHECK(fits.remark.empty());
    const Outcome wide = outcome_of(flash(4096, {2048, 2048}));
    CHECK_FALSE(wide.report);
    CHECK(wide.remark.find(" does not fit: ") != std::string::npos);
    Experiment large = flash(1 << 20);
    large.algorithm = find_algorithm("standard");
    const Outcome beyond = outcome_of(large);
    REQUIRE(beyond.report);
    CHECK_FALSE(beyond.report->time);
    CHECK(beyond.remark.starts_with("no time: standard's tensors take "));
}

TEST_CASE("what would spill is said to be nothing that a kernel could do", "[study][threads]") {
    Experiment e = flash(1024, {256, 112});
    e.problem.dim = e.problem.dim_v = 128;
    const Outcome spilt = outcome_of(e);
    REQUIRE(spilt.report);
    CHECK(spilt.report->time->spills());
    CHECK(spilt.remark.starts_with("registers would spill"));
    e.tiling = {128, 64};
    CHECK(outcome_of(e).remark.empty());
}

TEST_CASE("rows of runs that differ in a role differ in its column", "[study]") {
    const Algorithm &v3 = *find_algorithm("flash_v3"), &v2 = *find_algorithm("flash_v2");
    const auto cell = [&](const Algorithm& a, const Tiling& given, std::string_view column) {
        Experiment e = flash(256, given);
        e.algorithm = &a, e.tiling = completed(given, a, e.problem, e.gpu);
        const auto columns = columns_of({"", "", "", {e}});
        const auto found =
            std::find_if(columns.begin(), columns.end(), [&](const auto& c) { return c.first == column; });
        REQUIRE(found != columns.end());
        return found->second;
    };
    for (const Knob& k : v3.knobs) {
        if (k.is_size) continue;
        Tiling first{128, 64}, second{128, 64};
        first.*k.value = 1, second.*k.value = 2;
        CAPTURE(k.name);
        CHECK(cell(v3, first, k.name) == (k.names.empty() ? MetricValue(Index{1}) : MetricValue(k.text(first))));
        CHECK(cell(v3, second, k.name) == (k.names.empty() ? MetricValue(Index{2}) : MetricValue(k.text(second))));
        CHECK(cell(v2, {128, 64}, k.name) == MetricValue());
    }
    CHECK(cell(v3, {128, 64}, "like") == MetricValue());
    CHECK(cell(v3, {128, 64}, "overlap") == MetricValue(std::string("on")));
}
