#include "lab/workload/packing.hpp"

#include "core/machine/storage.hpp"

namespace tilescope::lab {
namespace {

/// Row t of packed head h is row t / g of the unpacked head h g + t % g. Calls f for all rows of all heads.
template <class F>
void for_rows(const Problem& packed, F&& f) {
    const Index g = packed.packed;
    for (Index head = 0; head < packed.batch_heads(); ++head)
        for (Index t = 0; t < packed.seq_q; ++t) f(head, t, head * g + t % g, t / g);
}

using Row = std::vector<float>;

void copy_row(const Storage& from, Index slice, Index row, Storage& to, Index to_slice, Index to_row, Row& values) {
    from.read(slice, {row, 1}, {0, from.cols()}, values.data());
    to.write(to_slice, {to_row, 1}, {0, from.cols()}, values.data());
}

}  // namespace

const char* name_of(Packing packing) {
    constexpr const char* names[] = {"auto", "on", "off"};
    return names[static_cast<std::size_t>(packing)];
}

bool packs_by_rule(const Problem& p) {
    const bool window = p.mask.hides() && !p.mask.is_causal();
    return p.queries() == 1 && p.heads > p.kv_heads && !window && p.alibi == 0 && !p.dropout && p.dim % 8 == 0;
}

Problem packed_for(const Algorithm& algorithm, const Problem& p, Packing packing) {
    // Packed rows of several heads can share a row of the bias only if it depends on neither head nor query.
    if (!algorithm.packs || packing == Packing::off || p.bias.by_head_or_query()) return p;
    return packing == Packing::on || packs_by_rule(p) ? packed(p) : p;
}

Inputs packed_inputs(const Inputs& inputs, const Problem& p) {
    Inputs all = inputs;
    const auto found = all.find("Q");
    if (p.packed == 1 || found == all.end() || found->second->slices() == p.batch_heads()) return all;
    const Storage& given = *found->second;
    const auto q = std::make_shared<Storage>(given.dtype(), p.batch_heads(), p.seq_q, given.cols());
    Row values(static_cast<std::size_t>(given.cols()));
    for_rows(p, [&](Index head, Index t, Index of_head, Index query) {
        copy_row(given, of_head, query, *q, head, t, values);
    });
    found->second = q;
    return all;
}

std::shared_ptr<const Storage> unpacked_output(std::shared_ptr<const Storage> output, const Problem& p) {
    if (p.packed == 1) return output;
    const Problem before = unpacked(p);
    const auto all = std::make_shared<Storage>(output->dtype(), before.batch_heads(), before.seq_q, output->cols());
    Row values(static_cast<std::size_t>(output->cols()));
    for_rows(p, [&](Index head, Index t, Index of_head, Index query) {
        copy_row(*output, head, t, *all, of_head, query, values);
    });
    return all;
}

}  // namespace tilescope::lab
