#include "show/stage/chart.hpp"

#include "tests/support/catch.hpp"

using namespace tilescope::lab;
using namespace tilescope::show;
using namespace Catch::Matchers;

namespace {

std::vector<std::string> texts(const ChartAxis& a) {
    std::vector<std::string> all;
    for (const auto& t : a.ticks) all.push_back(t.text);
    return all;
}

Panel panel(FigureAxis x, FigureAxis y, std::vector<FigurePoint> points) {
    Panel p{"", std::move(x), std::move(y)};
    p.series.push_back({"curve", Look::line, 0, std::move(points)});
    return p;
}

}  // namespace

TEST_CASE("a logarithmic axis goes by whole decades", "[chart]") {
    const Panel p = panel({"N", Scale::plain, true}, {"bytes", Scale::bytes, true}, {{256, 2e6}, {131072, 3e9}});
    const ChartAxes a = axes_of(p, {});
    CHECK((texts(a.y) == std::vector<std::string>{"1 MB", "10 MB", "100 MB", "1 GB", "10 GB"}));
    CHECK((texts(a.x) == std::vector<std::string>{"100", "1,000", "10,000", "100,000", "1,000,000"}));
    CHECK_THAT(a.y.at(1e6), WithinAbs(0, 1e-6));
    CHECK_THAT(a.y.at(1e8), WithinAbs(0.5, 1e-6));
    CHECK_THAT(a.y.at(1e10), WithinAbs(1, 1e-6));
    CHECK(a.y.at(0) < -1000);
    CHECK(a.y.at(-5) < -1000);
    // An extra point has room, too.
    CHECK(axes_of(p, {{256, 5e11}}).y.ticks.back().text == "1 TB");
}

TEST_CASE("a plain axis has about five round numbers", "[chart]") {
    const Panel p = panel({"x"}, {"time", Scale::seconds}, {{0, 0.0001}, {7, 0.00043}});
    const ChartAxes a = axes_of(p, {});
    CHECK((texts(a.x) == std::vector<std::string>{"0", "2", "4", "6", "8"}));
    CHECK((texts(a.y) == std::vector<std::string>{"100 µs", "200 µs", "300 µs", "400 µs", "500 µs"}));
    CHECK_THAT(a.x.at(4), WithinAbs(0.5, 1e-6));
    const ChartAxes share = axes_of(panel({"x"}, {"hits", Scale::percent}, {{0, 0}, {1, 100}}), {});
    CHECK(share.y.ticks.back().text == "100%");
}

TEST_CASE("what a figure says of its axes holds", "[chart]") {
    FigureAxis x{"x", Scale::plain, false, 0.0, 3.0, {{1, "one"}, {2, "two"}}};
    const ChartAxes a = axes_of(panel(x, {"y", Scale::flops_per_s, true, 1e12, 2e15}, {{1, 1e13}}), {{9, 1e17}});
    CHECK(a.x.from == 0);
    CHECK(a.x.to == 3);
    CHECK((texts(a.x) == std::vector<std::string>{"one", "two"}));
    CHECK(a.y.to == 2e15);
    CHECK((texts(a.y) == std::vector<std::string>{"1 TFLOP/s", "10 TFLOP/s", "100 TFLOP/s", "1 PFLOP/s"}));
}

TEST_CASE("axes of nothing, and of one point, have a length", "[chart]") {
    for (const bool log : {false, true})
        for (const std::vector<FigurePoint>& points :
             {std::vector<FigurePoint>{}, std::vector<FigurePoint>{{5, 5}}, std::vector<FigurePoint>{{0, 0}}}) {
            const ChartAxes a = axes_of(panel({"x", Scale::plain, log}, {"y", Scale::bytes, log}, points), {});
            CHECK(a.x.to > a.x.from);
            CHECK(a.y.to > a.y.from);
            CHECK_FALSE(a.x.ticks.empty());
        }
}
