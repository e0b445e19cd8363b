#include "lab/study/tile_plane.hpp"

#include <cmath>

#include "lab/gpu/gpu_presets.hpp"
#include "lab/model/mapping.hpp"
#include "lab/model/timing.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/seeds.hpp"

using namespace tilescope;
using namespace tilescope::lab;
using namespace Catch::Matchers;

namespace {

Experiment experiment(const char* algorithm, Index seq, const char* gpu = "H100") {
    Problem p;
    p.heads = p.kv_heads = 4;
    p.seq_q = p.seq_k = seq;
    p.dim = p.dim_v = 64;
    p.dtype = Dtype::f16;
    return {find_algorithm(algorithm), p, {}, gpu_preset(gpu)};
}

/// Works until `cells` cells are known at least as well as `known`.
void work_until(TilePlane& plane, Known known, std::size_t cells) {
    Control control;
    const auto enough = [&] {
        return plane.read([&](const auto& all) {
            std::size_t n = 0;
            for (const PlaneCell& c : all) n += c.known >= known;
            return n >= cells;
        });
    };
    while (!enough()) REQUIRE(plane.work(control) >= 0);
}

}  // namespace

TEST_CASE("sizes of a plane reach the problem's end, or 512", "[plane]") {
    CHECK((plane_sizes(1) == std::vector<Index>{1}));
    CHECK((plane_sizes(5) == std::vector<Index>{1, 2, 3, 4, 5}));
    CHECK(plane_sizes(1000).size() == 32);
    CHECK(plane_sizes(1'000'000).back() == 512);
    CHECK(plane_sizes(70).back() == 70);
    for (Index rows = 1; rows < 600; ++rows) {
        const auto sizes = plane_sizes(rows);
        INFO(rows);
        CHECK(sizes.size() <= 32);
        CHECK(sizes.size() >= static_cast<std::size_t>(std::min<Index>(rows, 17)));
        for (std::size_t k = 1; k < sizes.size(); ++k) CHECK(sizes[k] > sizes[k - 1]);
        CHECK(sizes.back() == std::min<Index>(rows, 512));
    }
}

TEST_CASE("of no algorithm a tiling fits that is wider than one which does not", "[plane][numbers]") {
    for (const std::size_t on : {std::size_t{0}, std::size_t{1}})
        for (std::size_t n = 0; n < algorithms().size(); ++n) {
            if (!takes(n, on)) continue;
            const Algorithm& a = algorithms()[n];
            const char* gpu = on == 0 ? "H100" : "T4";
            INFO(a.name << " on " << gpu);
            TilePlane plane(experiment(a.name, 1024, gpu));
            Control control;
            plane.work(control);
            plane.read([&](const std::vector<PlaneCell>& cells) {
                std::size_t wrong = 0;
                for (const PlaneCell& c : cells) {
                    const Experiment& e = plane.experiment();
                    wrong += c.fits != fits(a, e.problem, c.tiling, e.gpu);
                    // A tiling that lacks room in one memory lacks it also where the other memory is unlimited.
                    if (!c.fits)
                        wrong += fits(a, e.problem, c.tiling,
                                      with_room(e.gpu, c.lacks_room != Space::sram, c.lacks_room == Space::sram));
                }
                CHECK(wrong == 0);
            });
        }
}

TEST_CASE("a cell says what a run of its tiling says", "[plane][numbers]") {
    for (const char* name : {"flash_v2", "standard"}) {
        TilePlane plane(experiment(name, 96));
        CHECK(plane.version() == 0);
        Control control;
        Index left = plane.work(control);
        const auto counted = plane.read([](const auto& cells) { return cells; });
        while (left > 0) {
            const Index now = plane.work(control);
            REQUIRE(now == left - 1);
            left = now;
        }
        TilePlane::EstimateError off;
        plane.read([&](const std::vector<PlaneCell>& cells) {
            for (std::size_t k = 0; k < cells.size(); k += 37) {
                const PlaneCell& c = cells[k];
                Experiment e = plane.experiment();
                e.tiling = c.tiling;
                if (!c.fits) {
                    CHECK_THROWS_AS(count(e), OutOfChipMemory);
                    continue;
                }
                const Report r = count_and_time(e);
                INFO(name << ' ' << e.tiling.br << " x " << e.tiling.bc);
                CHECK(counted[k].known == Known::pending);
                CHECK(counted[k].report->counters == r.counters);
                CHECK(c.known == Known::exact);
                CHECK(c.report->counters == r.counters);
                CHECK(c.report->time->us() == r.time->us());
                CHECK(c.report->dram()->read == r.dram()->read);
                Index fewest = r.time->launches[0].residency.blocks;
                for (const LaunchTime& l : r.time->launches) fewest = std::min(fewest, l.residency.blocks);
                CHECK(c.residency().blocks == fewest);
            }
            // Computes the errors of the estimates independently.
            for (const PlaneCell& c : cells) {
                if (!c.fits) continue;
                Experiment e = plane.experiment();
                e.tiling = c.tiling;
                const double d = time_of(e, {.l2 = false}).us() / c.report->time->us() - 1;
                off.mean += std::abs(d), ++off.cells;
                if (std::abs(d) > std::abs(off.worst)) off.worst = d;
            }
        });
        const auto stated = plane.estimate_error();
        CHECK(stated.cells == off.cells);
        CHECK_THAT(stated.mean, WithinRel(off.mean / static_cast<double>(off.cells), 1e-9));
        CHECK_THAT(stated.worst, WithinRel(off.worst, 1e-9));
    }
}

TEST_CASE("the cell that is looked at is timed next, the others the fastest first", "[plane]") {
    TilePlane plane(experiment("flash_v2", 512));
    work_until(plane, Known::pending, 1);
    Control control;
    plane.work(control);
    const auto fitting = plane.read([](const std::vector<PlaneCell>& cells) {
        return static_cast<std::size_t>(
            std::count_if(cells.begin(), cells.end(), [](const PlaneCell& c) { return c.fits; }));
    });
    work_until(plane, Known::estimated, fitting);
    const auto estimates = plane.read([](const auto& cells) { return cells; });
    work_until(plane, Known::exact, 3);
    plane.read([&](const std::vector<PlaneCell>& cells) {
        double slowest_exact = 0, fastest_other = 1e30;
        for (std::size_t k = 0; k < cells.size(); ++k) {
            if (!cells[k].fits) continue;
            const double us = estimates[k].report->time->us();
            if (cells[k].known == Known::exact)
                slowest_exact = std::max(slowest_exact, us);
            else
                fastest_other = std::min(fastest_other, us);
        }
        CHECK(slowest_exact <= fastest_other);
    });
    const std::size_t slow = 0;  // 16 x 16
    plane.look_at(slow);
    plane.work(control);
    plane.read([&](const std::vector<PlaneCell>& cells) { CHECK(cells[slow].known == Known::exact); });
    plane.look_at(estimates.size() - 1);  // does not fit: there is nothing to time
    plane.work(control);
    control.stop = true;
    CHECK_THROWS_AS(plane.work(control), Interrupted);
}
