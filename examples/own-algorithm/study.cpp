// A program of one's own: what dividing after every tile costs, the narrower the tiles the more.
#include <cstdio>
#include <lab/gpu/gpu_presets.hpp>
#include <lab/study/study.hpp>

int main() {
    using namespace tilescope;
    const Algorithm* const algorithms[] = {find_algorithm("flash_v2"), find_algorithm("eager_division")};
    const Index widths[] = {32, 64, 128};
    const GpuSpec gpu = lab::gpu_preset("H100");
    const Problem problem;  // 8 heads, 1024 rows of 64 numbers
    const auto point = [&](Index k) {
        return lab::outcome_of({algorithms[k % 2], problem, {.br = 128, .bc = widths[k / 2]}, gpu});
    };
    lab::study(6, 0, point, [](Index, const lab::Outcome& o) {
        std::printf("%-14s Bc %3d: %8d other FLOPs, %.1f us\n", o.experiment.algorithm->name,
                    static_cast<int>(o.experiment.tiling.bc), static_cast<int>(o.report->counters.other_flops),
                    o.report->time->us());
    });
}
