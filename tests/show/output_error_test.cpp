#include <set>

#include "lab/run/reference.hpp"
#include "tests/support/runs.hpp"

using namespace tilescope;
using namespace tilescope::lab;
using namespace tilescope::show;

namespace {

/// The error of the run's stored output, measured by the reference itself.
double final_error(const Run& run) {
    const Problem& p = run.recorded();
    const Algorithm& a = run.algorithm();
    const Report report = execute({&a, p, run.experiment().tiling, run.experiment().gpu}, random_for(a)(p), 1);
    return error_of(*a.computes, p, random_for(a)(p), report.output(), 1).rms;
}

}  // namespace

TEST_CASE("the error of the output on chip falls to that of the rounding", "[run]") {
    for (const Dtype dtype : {Dtype::f32, Dtype::f16}) {
        const Case c = shaped(21, 25, dtype, false, 1, 2, 2);
        for (const Algorithm& a : algorithms()) {
            INFO(to_string(a, c));
            Run r = run_of(experiment(a, c), 2);
            Count curves = 0;
            for (const Placement& p : r.schedule().placements()) {
                r.seek(p.last_tick);
                const std::vector<ErrorPoint> points = r.error_so_far(r.moment().sms[static_cast<std::size_t>(p.sm)]);
                if (points.empty()) continue;
                ++curves;
                CHECK(points.front().tick > p.first_tick);
                CHECK(points.back().tick <= p.last_tick);
                for (std::size_t k = 1; k < points.size(); ++k) CHECK(points[k - 1].tick < points[k].tick);
                CHECK(points.front().rms > 0.02);
                CHECK(points.back().rms < (dtype == Dtype::f32 ? 1e-6 : 1e-3));
                // The curve's points have O divided, also where the program divides O only at the end.
                const std::set<std::string> divide_last = {"flash_v2", "memory_efficient", "chunked"};
                if (divide_last.count(a.name) == 1)
                    CHECK(points[points.size() - 2].rms < (dtype == Dtype::f32 ? 1e-6 : 1e-3));
                // At an earlier tick, the curve ends at that tick.
                for (const std::size_t k : {std::size_t{0}, points.size() / 2}) {
                    r.seek(points[k].tick);
                    const auto& sm = r.moment().sms[static_cast<std::size_t>(p.sm)];
                    REQUIRE(r.error_so_far(sm).size() == k + 1);
                    CHECK(r.error_so_far(sm).back().rms == points[k].rms);
                    r.seek(points[k].tick - 1);
                    const auto& before = r.moment().sms[static_cast<std::size_t>(p.sm)];
                    if (!before.block) continue;
                    // Before a tile's first point, the curve is that of the tile before.
                    if (k > 0) CHECK(r.error_so_far(before).size() == k);
                    if (k == 0)
                        for (const ErrorPoint& e : r.error_so_far(before)) CHECK(!(e.of == points[0].of));
                }
            }
            // Every block that stores O has a curve.
            std::set<std::pair<Index, Index>> storing;
            for (Index k = 0; k < r.trace().size(); ++k)
                if (const Step& s = r.trace()[k]; s.event.kind() == Kind::store &&
                                                  r.trace().tensors()[s.event.region.tensor].name == "O" &&
                                                  a.computes->accumulates)
                    storing.insert({s.launch, s.event.block});
            CHECK(curves == static_cast<Count>(storing.size()));
            CHECK((curves > 0) == a.computes->accumulates);
        }
    }
}

TEST_CASE("a curve of the error never ends far from what is stored", "[run]") {
    for_all([](const Algorithm& a, const Case& c) {
        if (!a.computes->accumulates) return;
        Run r = run_of(experiment(a, c), 1);
        const double stored = final_error(r);
        double squares = 0, curves = 0;
        for (const Placement& p : r.schedule().placements()) {
            r.seek(p.last_tick);
            const auto points = r.error_so_far(r.moment().sms[static_cast<std::size_t>(p.sm)]);
            if (!points.empty()) squares += points.back().rms * points.back().rms, ++curves;
        }
        CHECK(curves > 0);
        CHECK(std::sqrt(squares / curves) < 3 * stored);  // a stored O is rounded once more
    });
}

TEST_CASE("the error of what is stored ends at the error of the run", "[run][numbers]") {
    for_all([](const Algorithm& a, const Case& c) {
        for (const Index heads : {Index{1}, c.problem.batch_heads()}) {
            Run r = run_of(experiment(a, c), heads);
            CHECK(r.stored_error().rows == 0);
            CHECK(r.stored_error().rms == 0);
            const double expected = final_error(r);
            Index rows = 0;
            for (Index tick = 0; tick <= r.ticks(); tick += 1 + r.ticks() / 20) {
                r.seek(tick);
                const Run::StoredError e = r.stored_error();
                CHECK(e.rows >= rows);
                CHECK(e.rows <= e.of);
                rows = e.rows;
            }
            r.seek(r.ticks());
            const Run::StoredError e = r.stored_error();
            CHECK(e.of == r.recorded().batch_heads() * c.problem.seq_q);
            CHECK(e.rows == e.of);
            CHECK(expected > 0);
            CHECK(std::abs(e.rms - expected) <= 1e-9 * expected);
        }
    });
}
