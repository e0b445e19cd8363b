#include "device/kernel_case.hpp"

#include <sstream>
#include <utility>

#include "algorithms/contract/packed.hpp"
#include "core/text/numbers.hpp"

namespace tilescope::device {
using namespace lab;
namespace {

void add_mask(std::ostream& out, const Mask& m) {
    if (m.left()) out << " --window-left " << *m.left();
    if (m.right() == Index{0})
        out << " --causal";
    else if (m.right())
        out << " --window-right " << *m.right();
    if (const Documents* documents = m.documents()) {
        const char* before = " --documents ";
        for (const Index n : documents->lengths()) out << std::exchange(before, "+") << n;
    }
    if (const BlockMask* b = m.blocks())
        out << " --block-mask " << b->name << " --mask-block " << b->block_rows << 'x' << b->block_cols;
}

void add_scores(std::ostream& out, const Problem& p) {
    if (p.bias) out << " --bias " << p.bias.name();
    if (p.bias.group != 1) out << " --bias-group " << p.bias.group;
    if (p.alibi > 0) out << " --alibi";
    if (p.soft_cap) out << " --soft-cap " << text::exact(*p.soft_cap);
    if (p.dropout) out << " --dropout " << text::exact(p.dropout.p) << " --dropout-seed " << p.dropout.seed;
}

}  // namespace

std::string score_options(const Problem& p) {
    std::ostringstream out;
    add_mask(out, p.mask);
    if (p.corner != Corner::bottom_right) out << " --causal-corner " << name_of(p.corner);
    add_scores(out, p);
    return out.str().empty() ? "" : out.str().substr(1);
}

Experiment experiment_of(const KernelCase& c, const GpuSpec& gpu) { return {c.algorithm, c.problem, c.tile(), gpu}; }

std::string command_of(const KernelCase& c) {
    const Problem p = unpacked(c.problem);
    std::ostringstream out;
    out << "tilescope validate " << c.algorithm->name << " --batch " << p.batch << " --heads " << p.heads;
    if (p.kv_heads != p.heads) out << " --kv-heads " << p.kv_heads;
    out << " --seq-q " << p.seq_q << " --seq-k " << p.seq_k;
    if (c.algorithm->computes->features.has(Feature::head_dims)) out << " --dim " << p.dim << " --dim-v " << p.dim_v;
    out << " --dtype " << name_of(p.dtype);
    if (const std::string options = score_options(p); !options.empty()) out << ' ' << options;
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
