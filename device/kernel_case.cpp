#include "device/kernel_case.hpp"

#include <sstream>

#include "algorithms/contract/packed.hpp"

namespace tilescope::device {
using namespace lab;

Experiment experiment_of(const KernelCase& c, const GpuSpec& gpu) { return {c.algorithm, c.problem, c.tile(), gpu}; }

std::string command_of(const KernelCase& c) {
    const Problem p = unpacked(c.problem);
    std::ostringstream out;
    out << "tilescope validate " << c.algorithm->name << " --batch " << p.batch << " --heads " << p.heads;
    if (p.kv_heads != p.heads) out << " --kv-heads " << p.kv_heads;
    out << " --seq-q " << p.seq_q << " --seq-k " << p.seq_k;
    if (c.algorithm->computes == &computation::attention) out << " --dim " << p.dim << " --dim-v " << p.dim_v;
    out << " --dtype " << name_of(p.dtype);
    if (p.mask.is_causal()) out << " --causal";
    if (p.scale) out << " --scale " << *p.scale;
    if (p.softmax == Softmax::naive) out << " --softmax naive";
    out << " --br " << c.variant->tile.br << " --bc " << c.variant->tile.bc;
    if (c.splits > 0) out << " --splits " << c.splits;
    if (c.algorithm->packs && p.kv_heads != p.heads) out << " --pack " << (c.problem.packed > 1 ? "on" : "off");
    return out.str();
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
