// Launches the microbenchmarks of wgmma, of what goes on beside it, of barriers and of bulk copies.
#include <stdexcept>

#include "device/microbenchmark_kernels_sm90a.cuh"
#include "device/microbenchmarks_sm90a.cuh"

namespace tilescope::device {
namespace {

// ---- wgmma ----

constexpr double flops_of(int n) { return 2.0 * 64 * n * 16; }

/// Cycles of a batch and the wait for it.
template <int n, bool a_in_registers, int products = products_of_batch>
double batch_cycles(Bench& bench, int warpgroups) {
    constexpr int turns = 400;
    const Grid grid{bench.sms, warpgroups * warpgroup, products_shared};
    const auto blocks =
        bench.run(multiply_tiles<n, a_in_registers, products>, grid, turns, bench.spans(), bench.sink<float>());
    return mean_cycles(blocks) / turns;
}

/// FLOPs a cycle of two warpgroups.
template <int n, bool a_in_registers>
Reading products(Bench& bench) {
    return bench.repeat(
        [&] { return 2 * products_of_batch * flops_of(n) / batch_cycles<n, a_in_registers>(bench, 2); });
}

/// What a batch takes beyond its products, whose time a batch of twice as many shows.
Reading notice(Bench& bench) {
    return bench.repeat([&] {
        return 2 * batch_cycles<128, false>(bench, 1) - batch_cycles<128, false, 2 * products_of_batch>(bench, 1);
    });
}

constexpr Grid beside(const Bench& bench, int timed_warpgroups) {
    return {bench.sms, 3 * warpgroup, products_shared, timed_warpgroups * warpgroup};
}

/// Operations a cycle of a warpgroup beside two that multiply.
template <class Operation>
Reading operations_beside(Bench& bench) {
    constexpr int turns = 200, more_batches = 400;
    return bench.repeat([&] {
        const auto blocks = bench.run(operate_beside<Operation>, beside(bench, 1), more_batches, turns, false,
                                      bench.spans(), bench.sink<float>());
        return double{turns} * per_turn * warpgroup / mean_cycles(blocks);
    });
}

/// FLOPs a cycle of two warpgroups beside one that operates.
template <class Operation>
Reading products_beside(Bench& bench) {
    constexpr int batches = 100, more_turns = 4000;
    return bench.repeat([&] {
        const auto blocks = bench.run(operate_beside<Operation>, beside(bench, 2), batches, more_turns, true,
                                      bench.spans(), bench.sink<float>());
        return double{batches} * 2 * products_of_batch * flops_of(128) / mean_cycles(blocks);
    });
}

/// Operations a cycle of a warpgroup that is alone.
template <class Operation>
Reading operations_alone(Bench& bench) {
    constexpr int turns = 200;
    return bench.repeat([&] {
        const auto blocks =
            bench.run(operate_beside<Operation>, beside(bench, 1), 0, turns, false, bench.spans(), bench.sink<float>());
        return double{turns} * per_turn * warpgroup / mean_cycles(blocks);
    });
}

// ---- barriers and shuffles ----

/// Cycles of a turn of a loop by one thread block.
template <class... Parameters, class... Arguments>
Reading turn(Bench& bench, void (*kernel)(int, Parameters...), int threads, Arguments... arguments) {
    constexpr int turns = 4000;
    return bench.repeat([&] { return mean_cycles(bench.run(kernel, {1, threads}, turns, arguments...)) / turns; });
}

Reading over(Reading r, double parts) {
    r.median /= parts, r.least /= parts, r.most /= parts;
    return r;
}

// ---- bulk copies ----

/// The matrix that thread blocks copy boxes of, in f16 numbers that nobody looks at.
class Matrix {
  public:
    explicit Matrix(int boxes) : rows_((boxes + 1) / 2 * box_rows), data_(Bytes{2} * rows_ * matrix_cols) {
        check(cudaMemset(data_.data(), 1, static_cast<std::size_t>(Bytes{2} * rows_ * matrix_cols)), "cudaMemset");
        const cuuint64_t sizes[] = {matrix_cols, static_cast<cuuint64_t>(rows_)}, pitch[] = {2 * matrix_cols};
        const cuuint32_t box[] = {box_cols, box_rows}, steps[] = {1, 1};
        const CUresult made =
            cuda::tensor_map_encoder()(&map_, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, data_.data(), sizes, pitch, box,
                                       steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                                       CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
        if (made != CUDA_SUCCESS) throw RunError("cuTensorMapEncodeTiled: " + std::to_string(made));
    }
    const CUtensorMap& map() const { return map_; }

  private:
    int rows_;
    Buffer data_;
    CUtensorMap map_;
};

int boxes_of(const Bench& bench, const Boxes& boxes) {
    return (bench.sms + boxes.group - 1) / boxes.group * boxes.number;
}

/// Bytes a cycle that each of all SMs gets, where `group` of them ask for the same.
Reading copies(Bench& bench, const Boxes& boxes) {
    constexpr int turns = 100;
    const Matrix matrix(boxes_of(bench, boxes));
    const Grid grid{bench.sms, 32, 1024 + slots * boxes_of_slot * box_bytes};
    return bench.repeat([&] {
        const auto blocks = bench.run(copy_boxes, grid, matrix.map(), boxes, turns, bench.spans());
        return double{turns} * slots * boxes_of_slot * box_bytes / mean_cycles(blocks);
    });
}

/// Cycles that so many boxes take an idle SM.
template <int at_once>
double copy_cycles(Bench& bench, const Matrix& matrix, const Boxes& boxes) {
    constexpr int turns = 16;
    const Grid grid{bench.sms, 32, 1024 + at_once * box_bytes, 1};
    return mean_cycles(bench.run(copy_after_idling<at_once>, grid, matrix.map(), boxes, turns, bench.spans())) / turns;
}

/// `of` the cycles of one box and the cycles of each that comes with it.
template <class F>
Reading copies_after_idling(Bench& bench, F&& of) {
    constexpr Boxes boxes{8, 32};
    constexpr int more = 4;
    const Matrix matrix(boxes_of(bench, boxes));
    return bench.repeat([&] {
        const double one = copy_cycles<1>(bench, matrix, boxes);
        return of(one, (copy_cycles<more>(bench, matrix, boxes) - one) / (more - 1));
    });
}

}  // namespace

Reading measure_on_hopper(Benchmark what, Bench& bench) {
    switch (what) {
        case Benchmark::wgmma_64:
            return products<64, false>(bench);
        case Benchmark::wgmma_128:
            return products<128, false>(bench);
        case Benchmark::wgmma_256:
            return products<256, false>(bench);
        case Benchmark::wgmma_64_registers:
            return products<64, true>(bench);
        case Benchmark::wgmma_128_registers:
            return products<128, true>(bench);
        case Benchmark::wgmma_256_registers:
            return products<256, true>(bench);
        case Benchmark::notice:
            return notice(bench);
        case Benchmark::maximum_beside:
            return operations_beside<Maximum>(bench);
        case Benchmark::conversion_beside:
            return operations_beside<Conversion>(bench);
        case Benchmark::exponential_beside:
            return operations_beside<Exponential>(bench);
        case Benchmark::scaled_exponential_beside:
            return operations_beside<ScaledExponential>(bench);
        case Benchmark::shuffle:
            return operations_alone<Shuffle>(bench);
        case Benchmark::shuffle_beside:
            return operations_beside<Shuffle>(bench);
        case Benchmark::fma_beside:
            return operations_beside<Fma>(bench);
        case Benchmark::wgmma_beside_fma:
            return products_beside<Fma>(bench);
        case Benchmark::barrier:
            return over(turn(bench, hand_on, 2 * warpgroup, bench.spans()), 2);
        case Benchmark::mbarrier:
            return over(turn(bench, hand_on_slots, 64, bench.spans()), 2);
        case Benchmark::row_shuffles:
            return over(turn(bench, reduce_rows, 32, bench.spans(), bench.sink<float>()), rows_per_turn);
        case Benchmark::bulk_latency:
            return copies_after_idling(bench, [](double one, double each) { return one - each; });
        case Benchmark::bulk_port:
            return copies_after_idling(bench, [](double, double each) { return box_bytes / each; });
        case Benchmark::bulk:
            return copies(bench, {1, 8});
        case Benchmark::bulk_by_4:
            return copies(bench, {4, 32});
        case Benchmark::bulk_by_8:
            return copies(bench, {8, 32});
        default:
            throw std::logic_error("no such microbenchmark of compute capability 9.0");
    }
}

}  // namespace tilescope::device
