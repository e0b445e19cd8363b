#include "show/stage/plane.hpp"

#include <cmath>

#include "core/text/numbers.hpp"
#include "lab/gpu/gpu_presets.hpp"
#include "lab/model/mapping.hpp"
#include "lab/model/timing.hpp"
#include "lab/study/study.hpp"
#include "tests/support/catch.hpp"

using namespace tilescope;
using namespace tilescope::lab;
using namespace tilescope::show;
using namespace Catch::Matchers;
using Look = PlanePicture::Look;

namespace {

Experiment problem(Index dim = 128) {
    Problem p;
    p.heads = p.kv_heads = 2;
    p.seq_q = p.seq_k = 512;
    p.dim = p.dim_v = dim;
    p.dtype = Dtype::f16;
    return {find_algorithm("flash_v2"), p, {}, gpu_preset("H100")};
}

/// Calls plane.work() up to `units` times. The first unit counts all tilings; after `all` units every time is exact.
void work(TilePlane& plane, Index units) {
    Control control;
    for (Index k = 0; k < units && plane.work(control) > 0;) ++k;
}

constexpr Index all = 1 << 20;
const Tiling current = {128, 64};
const Metric& metric(const char* key) { return *find_metric(key); }

Index with_look(const PlanePicture& p, Look look) {
    return std::count_if(p.cells.begin(), p.cells.end(), [&](const auto& c) { return c.look == look; });
}

const PlanePicture::Mark* mark(const PlanePicture& p, PlanePicture::Mark::Kind kind) {
    for (const auto& m : p.marks)
        if (m.kind == kind) return &m;
    return nullptr;
}

}  // namespace

TEST_CASE("a plane shows counts at once, times estimated and then exact", "[plane]") {
    TilePlane plane(problem());
    work(plane, 1);
    const PlanePicture bytes = picture_of(plane, metric("hbm_bytes"), current);
    CHECK(bytes.rows == 32);
    CHECK(bytes.cols == 32);
    CHECK(with_look(bytes, Look::pending) == 0);
    const Index fit = with_look(bytes, Look::value);
    CHECK(fit > 100);
    CHECK(bytes.state.find("tilings fit") != std::string::npos);
    CHECK(bytes.state.ends_with("counted, exact"));
    const PlanePicture none = picture_of(plane, metric("time_us"), current);
    CHECK(with_look(none, Look::value) == 0);
    CHECK(with_look(none, Look::pending) + with_look(none, Look::spills) == fit);
    CHECK(none.state.ends_with("modelled with the L2 for 0, pending"));
    CHECK(none.scale.empty());

    work(plane, fit);
    const PlanePicture estimated = picture_of(plane, metric("time_us"), current);
    CHECK(with_look(estimated, Look::pending) == 0);
    for (const auto& c : estimated.cells) CHECK(c.estimated == (c.look == Look::value));
    CHECK(estimated.state.find("without its misses for") != std::string::npos);
    // DRAM traffic is not estimated.
    CHECK(with_look(picture_of(plane, metric("dram_bytes"), current), Look::value) == 0);
    work(plane, 10);
    CHECK(picture_of(plane, metric("time_us"), current).state.find("in 10 cells") != std::string::npos);

    work(plane, all);
    const PlanePicture exact = picture_of(plane, metric("time_us"), current);
    for (const auto& c : exact.cells) CHECK_FALSE(c.estimated);
    CHECK(exact.state.ends_with("modelled with the L2 for " + text::grouped(fit)));
    CHECK(with_look(picture_of(plane, metric("dram_bytes"), current), Look::value) == with_look(exact, Look::value));
}

TEST_CASE("a plane's shades, marks and limits are those of its cells", "[plane]") {
    TilePlane plane(problem());
    work(plane, all);
    const Metric& time = metric("time_us");
    const PlanePicture p = picture_of(plane, time, current);
    plane.read([&](const std::vector<PlaneCell>& cells) {
        double least = 1e300, most = 0;
        Tiling best;
        for (const PlaneCell& c : cells)
            if (c.fits && !c.spills()) {
                const double us = c.report->time->us();
                if (us < least) least = us, best = c.tiling;
                most = std::max(most, us);
            }
        REQUIRE(mark(p, PlanePicture::Mark::Kind::best));
        CHECK(mark(p, PlanePicture::Mark::Kind::best)->text ==
              "best here " + std::to_string(best.br) + " × " + std::to_string(best.bc));
        for (std::size_t k = 0; k < cells.size(); ++k) {
            const PlaneCell& c = cells[k];
            CHECK(p.cells[k].blocks_per_sm == (c.fits ? c.residency().blocks : 0));
            if (!c.fits) {
                CHECK(p.cells[k].look == (c.lacks_room == Space::sram ? Look::no_sram : Look::no_registers));
            } else if (c.spills()) {
                CHECK(p.cells[k].look == Look::spills);
            } else {
                const double us = c.report->time->us();
                const double slower =
                    most > 3 * least ? std::log(us / least) / std::log(most / least) : (us - least) / (most - least);
                CHECK_THAT(p.cells[k].shade, WithinAbs(1 - slower, 1e-5));  // the fastest cell has the largest shade
            }
        }
    });
    CHECK(p.scale.size() >= 2);
    CHECK(p.scale[0].at == 1);  // the least time
    CHECK(p.scale[1].at == 0);
    const auto* released = mark(p, PlanePicture::Mark::Kind::released);
    REQUIRE(released);
    CHECK(released->text == "FlashAttention-2's 128 × 64");
    CHECK(released->col == 3);
    CHECK(released->row == 7);
    CHECK_FALSE(mark(p, PlanePicture::Mark::Kind::paper));  // only flash_v1's paper has a rule for tiles
    // The current tiling lies between cells, or beyond them.
    const PlanePicture between = picture_of(plane, time, {24, 40});
    const auto* now = mark(between, PlanePicture::Mark::Kind::current);
    REQUIRE(now);
    CHECK(now->row == 0.5f);
    CHECK(now->col == 1.5f);
    CHECK_FALSE(mark(picture_of(plane, time, {24, 1000}), PlanePicture::Mark::Kind::current));
    CHECK(p.limits.sram.size() == p.rows);
    for (std::size_t row = 0; row < p.rows; ++row) {
        const auto fitting = static_cast<std::size_t>(
            std::count_if(p.cells.begin() + static_cast<std::ptrdiff_t>(row * p.cols),
                          p.cells.begin() + static_cast<std::ptrdiff_t>((row + 1) * p.cols),
                          [](const auto& c) { return c.look != Look::no_sram && c.look != Look::no_registers; }));
        CHECK(std::min(p.limits.sram[row], p.limits.registers[row]) == fitting);
    }
}

TEST_CASE("the best cell is one that a kernel could have", "[plane]") {
    Experiment e = problem();
    e.problem.seq_q = e.problem.seq_k = 4096;
    TilePlane plane(e);
    work(plane, 1);
    const PlanePicture p = picture_of(plane, metric("hbm_bytes"), current);
    const auto* best = mark(p, PlanePicture::Mark::Kind::best);
    REQUIRE(best);
    const auto at = [](float cell) { return static_cast<std::size_t>(std::lround(cell)); };
    plane.read([&](const std::vector<PlaneCell>& cells) {
        const PlaneCell& aim = cells[at(best->row) * p.cols + at(best->col)];
        CHECK_FALSE(aim.spills());
        CHECK(std::any_of(cells.begin(), cells.end(), [&](const PlaneCell& c) {
            return c.fits && c.spills() && c.report->counters.hbm() < aim.report->counters.hbm();
        }));
    });
}

TEST_CASE("what is said of a cell is what its run says", "[plane]") {
    TilePlane plane(problem());
    work(plane, 1);
    const std::size_t cell = cell_of(plane, current);
    const Metric& time = metric("time_us");
    CellText t = about_cell(plane, time, cell);
    CHECK(t.title == "128 × 64");
    CHECK(t.trouble.empty());
    CHECK(t.lines.at(0).value == "pending");
    CHECK(t.lines.at(0).what == "time, modelled");
    work(plane, all);
    t = about_cell(plane, time, cell);
    Experiment e = problem();
    e.tiling = current;
    const Report r = count_and_time(e);
    CHECK(t.lines.at(0).value == shown(time, time.of(r)));
    CHECK(t.lines.at(0).what == "time, modelled with the L2");
    CHECK(t.lines.at(1).value == text::bytes(r.counters.hbm()));
    CHECK(t.lines.at(1).what == "SM traffic, counted");
    CHECK(t.lines.back().value == "2 thread blocks on an SM");
    CHECK(t.lines.back().what == "limited by registers");
    REQUIRE(t.steps.size() == 4);
    CHECK(t.steps[0].direction == "taller");
    CHECK(t.steps[0].tiling == "144 × 64");
    e.tiling = {144, 64};
    const Report taller = count_and_time(e);
    CHECK(t.steps[0].value == shown(time, time.of(taller)));
    CHECK(t.steps[0].what.starts_with(text::number(std::round(taller.time->us() / r.time->us() * 100) / 100) + " ×, "));
    // The metric that is looked at comes first, and once.
    const CellText by_bytes = about_cell(plane, metric("hbm_bytes"), cell);
    CHECK(by_bytes.lines.at(0).what == "SM traffic, counted");
    CHECK(by_bytes.lines.size() == t.lines.size());
    // The corners: the largest and the smallest tiles.
    const std::size_t last = 32 * 32 - 1;
    const CellText corner = about_cell(plane, time, last);
    e.tiling = {512, 512};
    CHECK(corner.title == "512 × 512");
    CHECK(corner.trouble == outcome_of(e).remark);
    CHECK(corner.lines.empty());
    CHECK(corner.steps.size() == 2);
    CHECK(about_cell(plane, time, 0).steps.size() == 2);
}

TEST_CASE("a list offers metrics that are there", "[plane]") {
    for (const Metric* m : plane_metrics()) REQUIRE(m);
    CHECK(std::string(plane_metrics()[0]->key) == "time_us");
}
