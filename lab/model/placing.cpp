#include "lab/model/placing.hpp"

#include <algorithm>
#include <bit>

#include "algorithms/contract/kernel_description.hpp"

namespace tilescope::lab {

Order order_of(const Experiment& e) {
    const auto own = e.algorithm->kernel->order;
    return e.placing.order == Order::kernel && own ? own(e.problem, e.tiling) : e.placing.order;
}

Index heads_in_l2(const Experiment& e) {
    constexpr Bytes most = Bytes{32} << 20;
    const Problem& p = e.problem;
    const Bytes of_a_head = p.seq_k * (p.dim + p.dim_v) * size_of(p.key_type());
    const Bytes fit = std::max<Bytes>(1, std::min(most, e.gpu.l2_bytes) / std::max<Bytes>(1, of_a_head));
    return static_cast<Index>(std::bit_floor(static_cast<std::uint64_t>(fit))) * (p.heads / p.kv_heads);
}

}  // namespace tilescope::lab
