// How long a turn of a loop takes, and what its loads wait for.
#include "core/time/step.hpp"

#include <cmath>
#include <limits>

#include "core/record/outline.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/problems.hpp"

using namespace tilescope;

namespace {

constexpr Rates rates{2000, 100, 50, 16, 100, 40, 4000, 4000, 4000, 300, 600, 4, {1900, 1900, 1800}};
constexpr MemoryShare memory{40, 20, 20, 0, 0};

/// The loop of a launch of split_kv: over key tiles, or over parts whose O_s is loaded into registers.
class Turn {
  public:
    Turn(std::size_t launch, Tiling tiling) {
        Case c;
        c.problem.dtype = Dtype::f16, c.problem.dim = c.problem.dim_v = 64;
        c.problem.heads = c.problem.kv_heads = 1, c.problem.seq_q = 64, c.problem.seq_k = 4096;
        c.tiling = tiling;
        run(*find_algorithm("split_kv"), c, roomy(), count_mode, {}, 1, &outline_);
        for (const Passage& p : outline_.launches()[launch].blocks[0].passages)
            if (p.loop >= 0) turn_ = &p;
        REQUIRE(turn_);
    }
    StepTime time(const Kernel& kernel, const Rates& of_sm = rates) const {
        return step_of(turn_->deeds, kernel, of_sm, memory);
    }
    double bytes() const {
        double sum = 0;
        for (const Deed& d : turn_->deeds) sum += static_cast<double>(d.cost.hbm_read);
        return sum;
    }

  private:
    Outline outline_;
    const Passage* turn_ = nullptr;
};

Kernel asking(Index together) { return {.style = Style::tensor_cores, .together = together}; }

}  // namespace

TEST_CASE("loads into registers that are asked for together wait for one latency, and for all their bytes", "[step]") {
    const Turn combining(1, {64, 64, 32});
    const double arrival = combining.bytes() / rates.bus;
    const StepTime one = combining.time(asking(1)), four = combining.time(asking(4)), many = combining.time(asking(16));
    CHECK(one.alone > rates.latency + arrival);
    for (const auto& [step, n] : {std::pair<StepTime, double>{four, 4}, {many, 16}}) {
        INFO(n);
        CHECK(step.alone >= rates.latency / n + arrival);
        CHECK(step.alone < rates.latency / n + arrival + (one.alone - one.waiting) + arrival / n);
        CHECK(step.busy == one.busy);
        CHECK(step.alone - step.waiting == Approx(one.alone - one.waiting));
    }
}

TEST_CASE("what comes into shared memory is not asked for together", "[step]") {
    const Turn attending(0, {64, 64, 2});
    const StepTime one = attending.time(asking(1)), many = attending.time(asking(16));
    CHECK(many.alone == Approx(one.alone));
    CHECK(many.waiting == Approx(one.waiting));
}

TEST_CASE("shared memory queues and does not block on tensor cores; on CUDA cores it blocks", "[step]") {
    const StepTime step{.alone = 100, .busiest = 30, .queued = 80};
    CHECK(step.together(1) == 100);
    CHECK(step.together(2) == 160);
    CHECK(step.waiting_for_unit(2) == 60);
    const StepTime with_pauses{.alone = 100, .busiest = 30, .queued = 52}, without_queue{.alone = 100, .busiest = 30};
    CHECK(without_queue.together(2) == 130);
    CHECK(with_pauses.together(2) == Approx(100 + 30 * (1 - 0.4 * 0.4)));  // shared memory is busy for 52 of 130 cycles
    // A block of 8 warps counts as two, each with half of its work at shared memory.
    const StepTime of_two{.alone = 100, .busiest = 30, .queued = 104, .residents = 2};
    CHECK(of_two.together(1) == Approx(100 + 30 * (1 - 0.4 * 0.4)));

    // With warps of 16 rows, a byte of K or V in shared memory feeds half as many products as with warps of 32 rows.
    const Turn attending(0, {64, 64, 2});
    const auto of = [](const StepTime& s, Unit u) { return s.busy[static_cast<std::size_t>(u)]; };
    Rates many_lanes = rates;
    many_lanes.fma *= 2;
    const StepTime tensor = attending.time(asking(1)), cuda = attending.time({.style = Style::cuda_cores}, many_lanes);
    REQUIRE(of(tensor, Unit::sram) > of(tensor, Unit::tensor));
    CHECK(tensor.queued == of(tensor, Unit::sram));
    CHECK(tensor.busiest == Approx(std::max({of(tensor, Unit::tensor), of(tensor, Unit::exp), of(tensor, Unit::alu)})));
    CHECK(cuda.queued == 0);
    REQUIRE(of(cuda, Unit::sram) > of(cuda, Unit::fma));
    CHECK(cuda.busiest == Approx(constants_of(Style::cuda_cores).eta * of(cuda, Unit::sram)));
}

TEST_CASE("a step takes no longer where shared memory is faster", "[step]") {
    const Turn attending(0, {64, 64, 2});
    for (Index blocks = 1; blocks <= 4; ++blocks) {
        double before = std::numeric_limits<double>::infinity();
        for (double bytes = 8; bytes < 2000; bytes *= 1.1) {
            Rates faster = rates;
            faster.sram = bytes;
            const double now = attending.time(asking(1), faster).together(blocks);
            CHECK(now <= before);
            before = now;
        }
    }
}
