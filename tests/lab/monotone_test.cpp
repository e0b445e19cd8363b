// A machine with more of something is not slower, and more heads are not faster: random problems of all algorithms.
#include <algorithm>
#include <random>

#include "core/machine/out_of_chip_memory.hpp"
#include "lab/gpu/gpu_presets.hpp"
#include "lab/model/timing.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/seeds.hpp"

using namespace tilescope;
using namespace tilescope::lab;

namespace {

/// When thread blocks are dealt out differently, the last one may end a little later (docs/time.md).
constexpr double by_chance = 1.03;

class Drawn {
  public:
    explicit Drawn(unsigned seed) : random_(seed) {}

    template <class... T>
    auto one_of(T... all) {
        const std::common_type_t<T...> list[] = {all...};
        return list[random_() % sizeof...(all)];
    }
    /// A random algorithm and problem, with tiles and parts, but without a GPU.
    Experiment problem() {
        Experiment e{&algorithms()[random_() % algorithms().size()], {}, {}, {}};
        Problem& p = e.problem;
        p.dtype = one_of(Dtype::f32, Dtype::f16);
        p.heads = p.kv_heads = one_of(1, 2, 3, 4, 7, 8, 16, 24, 32);
        p.dim = p.dim_v = one_of(32, 64, 128);
        p.seq_k = one_of(100, 300, 777, 1024, 2048, 3000);
        p.seq_q = one_of(p.seq_k, p.seq_k, Index{50}, Index{512});
        const bool masks = e.algorithm->computes->features.has(Feature::head_dims) && p.seq_q <= p.seq_k;
        if (masks && random_() % 5 < 2) p.mask = Mask::causal();
        e.tiling = {one_of(16, 32, 64, 128), one_of(16, 32, 64, 128), 0};
        if (has_splits(e.algorithm->knobs)) e.tiling.splits = one_of(1, 2, 3, 8);
        return e;
    }
    /// Gives the machine or the problem more of something; returns what, in words.
    std::string add(Experiment& e) {
        const double times = one_of(1.1, 1.3, 2.0, 3.0, 8.0);
        GpuSpec& g = e.gpu;
        const auto scale = [&](auto& number) {
            using Number = std::decay_t<decltype(number)>;
            if constexpr (std::is_same_v<Number, std::optional<double>>) {
                if (number) *number *= times;
            } else {
                number = static_cast<Number>(static_cast<double>(number) * times);
            }
        };
        const auto scaled = [&](const char* what, auto&... numbers) {
            (scale(numbers), ...);
            return std::string(what) + " x " + std::to_string(times);
        };
        switch (random_() % 8) {
            case 0:
                return scaled("DRAM's bandwidth", g.hbm_gbs, g.copy_gbs);
            case 1:
                return scaled("L2's bandwidth", g.l2_bytes_per_clk, g.l2_read_bytes_per_clk);
            case 2:
                return scaled("clocks", g.clock_mhz, g.tensor_clock_mhz, g.cuda_clock_mhz, g.mma_light_clock_mhz,
                              g.mma_clock_mhz);
            case 3:
                return scaled("shared memory of an SM", g.sram_per_sm);
            case 4:
                return scaled("L2", g.l2_bytes);
            case 5:
                return scaled("heads", e.problem.heads, e.problem.kv_heads);
            default:
                return scaled("SMs", g.sms);
        }
    }

  private:
    std::mt19937 random_;
};

std::string words(const Experiment& e) {
    const Problem& p = e.problem;
    return std::string(e.algorithm->name) + " on " + e.gpu.name + ", " + name_of(p.dtype) + ", " +
           std::to_string(p.heads) + " heads, " + std::to_string(p.seq_q) + " x " + std::to_string(p.seq_k) +
           ", d = " + std::to_string(p.dim) + (p.mask.is_causal() ? ", causal" : "") + ", tiles " +
           std::to_string(e.tiling.br) + " x " + std::to_string(e.tiling.bc) + ", splits " +
           std::to_string(e.tiling.splits);
}

/// nullopt where the tiles do not fit.
std::optional<RunTime> modelled(const Experiment& e) try {
    const RunTime t = time_of(e);
    if (!t.no_room.empty()) return std::nullopt;
    return t;
} catch (const OutOfChipMemory&) {
    return std::nullopt;
}

double dram_bytes(const RunTime& t) {
    const auto dram = t.dram();
    return dram ? static_cast<double>(dram->total()) : 0;
}

void check_monotone(std::uint32_t seed, int draws) {
    Drawn drawn(seed);
    int compared = 0, beyond = 0;
    double worst = 1;
    for (int n = 0; n < draws; ++n) {
        Experiment before = drawn.problem();
        before.gpu = gpu_preset(drawn.one_of("H100", "H200", "A100", "RTX-4090"));
        Experiment after = before;
        const std::string more = drawn.add(after);
        const auto one = modelled(before), two = modelled(after);
        if (!one || !two) continue;
        ++compared;
        const auto& [least, most] =
            after.problem.heads > before.problem.heads ? std::pair(*two, *one) : std::pair(*one, *two);
        const double times = most.us() / least.us();
        if (times <= by_chance || dram_bytes(most) > dram_bytes(least)) continue;
        UNSCOPED_INFO(words(before) << "; " << more << ": " << one->us() << " us, then " << two->us());
        ++beyond, worst = std::max(worst, times);
    }
    UNSCOPED_INFO(beyond << " of " << compared << " beyond 3%, the worst " << worst);
    CHECK(9 * compared >= 8 * draws);
    // Launches of few waves that wait for memory, or of few thread blocks on SMs with more slots: docs/model-limits.md.
    CHECK(100 * beyond <= std::max(compared, 200));
    CHECK(worst <= 1.35);
}

}  // namespace

TEST_CASE("more of a machine takes no longer, and more heads no less, unless DRAM has more to do", "[timing]") {
    check_monotone(20261127, static_cast<int>(seeds(240)));
}

TEST_CASE("so it is of many problems", "[long][timing]") { check_monotone(20261127, 900); }
