// FlashAttention-3, forward: FlashAttention-2's tiles on lanes. A producer warp only asks for data; warpgroups compute,
// take turns, and ask for the next product before they compute this softmax.
#pragma once

#include "algorithms/attention/flash_v2/algorithm.hpp"
#include "algorithms/attention/flash_v3/named.hpp"
#include "algorithms/contract/algorithm.hpp"

namespace tilescope::flash_v3 {

// The paper's Algorithms 1 (producer) and 2 (consumer warpgroup) as one listing.
inline constexpr CodeLine code[] = {
    {1, "for i = 1..Tr and each head: a row block, with a producer and consumer warpgroups"},
    {2, "  producer, in few registers:"},
    {3, "    wait until Q's place is free; read Q_i from HBM"},
    {4, "    for j = 1..Tc"},
    {5, "      wait for a free slot of the ring; read K_j from HBM"},
    {6, "      wait for a free slot of the ring; read V_j from HBM"},
    {7, "    end for"},
    {8, "  consumer warpgroup, each with its rows of the block:"},
    {9, "    on chip: O_i = 0, l_i = 0, m_i = -inf"},
    {10, "    for j = 1..Tc"},
    {11, "      wait for K_j and the turn; S = scale Q_i K_j^T, without waiting for it"},
    {12, "      wait for V_(j-1); O_i = O_i + P V_(j-1), without waiting for it; hand on the turn"},
    {13, "      wait for S; m_i = max(m_old, rowmax(S)), P = exp(S - m_i), l_i = exp(m_old - m_i) l_i + rowsum(P)"},
    {14, "      wait for O_i; round P to the type of V; O_i = exp(m_old - m_i) O_i"},
    {15, "    end for"},
    {16, "    wait for V_Tc; O_i = O_i + P V_Tc (as on line 12)"},
    {17, "    O_i = O_i / l_i, LSE_i = m_i + log(l_i)"},
    {18, "    write O_i, LSE_i to HBM"},
    {19, "end for"},
    {20, "before: read scales s of 8-bit values (of V_j: s / max s); products are times s", {}, Feature::eight_bits},
    {21, "13: m_i stays where it hardly grows; P = exp(S - m_i + log c); 17: - log c", {}, Feature::weight_range},
    {22, "before 12: products of 8 bits want V along its keys: V_j^T into another ring", {}, Feature::eight_bits},
};

/// Knobs that `given` leaves open are filled in.
void run(Gpu& gpu, const Tensors& t, const Problem& p, const Tiling& given);

inline constexpr KernelDescription kernel_description = {.released = &released,
                                                         .complete = complete,
                                                         .laned = laned,
                                                         .compared = compared,
                                                         .padded = padded,
                                                         .order = order};

inline Algorithm describe() {
    return {.name = "flash_v3",
            .lineage = {.rung = 9},
            .computes = &computation::attention,
            .supports = forward_features.with(Feature::accumulator).with(Feature::weight_range),
            .paper = {.title = "FlashAttention-3", .source = "FlashAttention-3, arXiv 2407.08608, Algorithms 1 and 2"},
            .code = code,
            .tensors = flash_v2::tensors,
            .run = run,
            .predict = flash_v2::predict,  // who issues what, and when, changes no count
            .knobs = knobs,
            .kernel = &kernel_description};
}

}  // namespace tilescope::flash_v3
