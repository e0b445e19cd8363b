// Which key tiles a row block visits, and which scores of a tile are seen. No mask and the causal mask need no tables;
// windows, documents and block masks do.
#pragma once

#include "algorithms/contract/block_mask.hpp"
#include "algorithms/cuda/device.cuh"

namespace tilescope::cuda {

/// The visits of a row block to key tiles have numbers from `first` to `end` - 1; tile(number) is the key tile. In
/// visits before `whole` every row sees every key.
struct Visits {
    int first, whole, end;
};

/// No mask, or the causal mask.
struct Plain {
    Workload work;

    explicit Plain(const KernelCall& call) : work(call.problem) {}
    /// Visits of the row block that begins with row i and has `rows` rows.
    __device__ Visits visits(int i, int rows, int /*br*/, int bc) const {
        const int seen_by_all = max(min(i + work.diagonal + 1, work.seq_k), 0);
        return {0, seen_by_all / bc, work.visible_tiles(i + rows, bc)};
    }
    __device__ int tile(int visit) const { return visit; }
};

/// Any mask. Tiles that every row sees whole come first, because the loop over them need not look up single scores.
struct Masked {
    Workload work;
    DeviceTables tables;
    int left, right;
    unsigned block_rows = 1, block_cols = 1, blocks_across = 0;

    explicit Masked(const KernelCall& call) : work(call.problem), tables(call.tables) {
        const Problem& p = call.problem;
        const auto bound = [&](const std::optional<Index>& n) {
            return static_cast<int>(std::min(n.value_or(p.seq_q + p.seq_k), p.seq_q + p.seq_k));
        };
        work.diagonal = static_cast<int>(p.diagonal());
        left = bound(p.mask.left()), right = bound(p.mask.right());
        const BlockMask* blocks = p.mask.blocks();
        if (!blocks) return;
        block_rows = static_cast<unsigned>(blocks->block_rows), block_cols = static_cast<unsigned>(blocks->block_cols);
        blocks_across = static_cast<unsigned>(blocks->cols);
    }
    __device__ Visits visits(int i, int /*rows*/, int br, int /*bc*/) const {
        const int* const of = tables.first + 3 * (i / br);
        return {of[0], of[1], of[2]};
    }
    __device__ int tile(int visit) const { return tables.visits[visit]; }
    /// Whether the row and the key exist and the row sees the key.
    __device__ bool sees(int row, int key) const {
        const int distance = key - row - work.diagonal;
        if (row >= work.seq_q || key >= work.seq_k || distance < -left || distance > right) return false;
        if (tables.documents && (key < tables.documents[2 * row] || key >= tables.documents[2 * row + 1])) return false;
        return !tables.blocks || tables.blocks[unsigned(row) / block_rows * blocks_across + unsigned(key) / block_cols];
    }
};

}  // namespace tilescope::cuda
