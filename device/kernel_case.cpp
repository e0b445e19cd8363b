#include "device/kernel_case.hpp"

#include <algorithm>
#include <vector>

#include "algorithms/contract/packed.hpp"
#include "algorithms/contract/registry.hpp"
#include "core/text/words.hpp"
#include "lab/flags/command.hpp"
#include "lab/flags/table.hpp"
#include "lab/workload/packing.hpp"

namespace tilescope::device {
using namespace lab;

std::vector<const Knob*> chosen_roles() {
    std::vector<const Knob*> chosen = knobs_of_roles();
    std::erase_if(chosen, [](const Knob* k) { return k->value == &Tiling::like; });
    return chosen;
}

std::string role_in_words(const Algorithm& a, const Tiling& tile, Index Tiling::*knob) {
    const auto found = std::ranges::find(a.knobs, knob, &Knob::value);
    return found != a.knobs.end() && tile.*knob > 0 ? found->text(tile) : "";
}

std::string other_roles(const Algorithm& a, const KernelVariant& v) {
    const auto first = std::ranges::find_if(kernels_of(a), [&](const KernelVariant& other) {
        return other.dtype == v.dtype && other.dim == v.dim && other.dim_v == v.dim_v && other.tile.br == v.tile.br &&
               other.tile.bc == v.tile.bc;
    });
    std::vector<std::string> roles;
    for (const Knob& k : a.knobs)
        if (!k.is_size && v.tile.*k.value != first->tile.*k.value)
            roles.push_back(std::string(k.symbol) + ' ' + k.text(v.tile));
    return text::join(roles, ", ");
}

std::string score_options(const Problem& p) {
    Options o = options_of(p);
    for (const Flag& flag : flags())
        if (flag.is_size) flag.clear(o);
    o.dtype.reset();
    return shell_line(flags_of(o));
}

Experiment experiment_of(const KernelCase& c, const GpuSpec& gpu) { return {c.algorithm, c.problem, c.tile(), gpu}; }

std::string command_of(const KernelCase& c) {
    const Problem p = unpacked(c.problem);
    Options o = options_of(p);
    // Sizes and type are said even where they are those of a standard problem.
    o.seq.reset();
    o.batch = p.batch, o.heads = p.heads, o.seq_q = p.seq_q, o.seq_k = p.seq_k, o.dtype = name_of(p.dtype);
    if (c.algorithm->computes->features.has(Feature::head_dims)) o.dim = p.dim, o.dim_v = p.dim_v;
    o.br = std::to_string(c.variant->tile.br), o.bc = std::to_string(c.variant->tile.bc);
    for (const Knob& knob : c.algorithm->knobs)
        if (!knob.is_size && c.variant->tile.*knob.value > 0) o.roles[knob.name] = knob.text(c.variant->tile);
    if (c.splits > 0) o.splits = std::to_string(c.splits);
    if (c.algorithm->packs && p.kv_heads != p.heads)
        o.pack = name_of(c.problem.packed > 1 ? Packing::on : Packing::off);
    return shell_line(command_of({"tilescope", "validate"}, c.algorithm->name, o));
}

bool same_problem(const KernelCase& a, const KernelCase& b) {
    return a.algorithm->computes == b.algorithm->computes && a.problem == b.problem;
}

Bytes device_bytes(const TensorDecl& t) {
    return t.slices * DeviceLayout(t.rows, t.cols, t.dtype).slice * size_of(t.dtype);
}

Bytes device_bytes(const KernelCase& c) {
    Bytes sum = 0;
    for (const TensorDecl& t : c.algorithm->tensors(c.problem, c.tile())) sum += device_bytes(t);
    return sum;
}

}  // namespace tilescope::device
