#include "core/time/work_prices.hpp"

#include <algorithm>

namespace tilescope {
namespace {

// Per element: an instruction rounds two elements. Those to 8 bits come at half the rate (float8.csv: 64 elements a
// cycle), and one more puts two pairs into a register.
constexpr double instructions_of_rounding = 0.5, instructions_of_packing = 0.25;

double& of_unit(PerUnit& busy, Unit u) { return busy[static_cast<std::size_t>(u)]; }
double elements_of(const TileInfo& t) { return static_cast<double>(t.rows * t.cols); }

}  // namespace

void TileWork::add(const TileWork& more) {
    for (std::size_t u = 0; u < unit_count; ++u) busy[u] += more.busy[u];
    instructions += more.instructions;
}

TileWork WorkPrices::of_rounding(const TileInfo& tile, Dtype to, double part) const {
    const double elements = part * elements_of(tile), instructions = instructions_of_rounding * elements;
    const double packing = size_of(to) == 1 ? instructions_of_packing * elements : 0;
    TileWork w{.instructions = (instructions + packing) / rates_.fma};
    of_unit(w.busy, Unit::alu) = ((size_of(to) == 1 ? 2 : 1) * instructions + packing) / rates_.half;
    return w;
}

TileWork WorkPrices::of(const Event& e, const TileInfo& tile, double part) const {
    TileWork w;
    const double elements = part * elements_of(tile);
    const double exps = part * static_cast<double>(e.cost.exps);
    const double flops = part * static_cast<double>(e.cost.other_flops);
    const double integers = static_cast<double>(e.operation->price.integers) * elements;
    if (takes_maximum(e.operation->effect)) {
        w.instructions = elements / kernel_.maxima / rates_.fma;
        of_unit(w.busy, Unit::alu) = elements / kernel_.maxima / rates_.half;
    } else {
        const double full_rate = flops + kernel_.unfused * exps;
        w.instructions = (exps + full_rate + integers) / rates_.fma;
        of_unit(w.busy, Unit::exp) = exps / rates_.exp;
        of_unit(w.busy, Unit::fma) = full_rate / rates_.fma;
        of_unit(w.busy, Unit::alu) = integers / rates_.half;
    }
    if (tile.space == Space::sram && e.kind() != Kind::reduce)
        of_unit(w.busy, Unit::sram) = part * static_cast<double>(tile.bytes()) / rates_.sram;
    return w;
}

/// Exponentials and shared memory hide the other instructions of a pass. The full-rate instructions of a warp and
/// those at half rate come one after the other. Full-rate ones alone also take cycles from the tensor cores.
void WorkPrices::set(Act& act, const TileWork& work, double slower) const {
    const double sigma = kernel_.sigma * slower;
    PerUnit busy = work.busy;
    const double exp = of_unit(busy, Unit::exp), sram = of_unit(busy, Unit::sram);
    const double fma = of_unit(busy, Unit::fma), alu = of_unit(busy, Unit::alu);
    const double most = std::max({exp, sram, fma + alu});
    const bool dense = most == fma && exp == 0 && alu == 0;
    act.unit = most == exp ? Unit::exp : most == sram ? Unit::sram : fma > alu ? Unit::fma : Unit::alu;
    act.cycles = sigma * most;
    act.beside = sigma * work.instructions * (dense ? c_.beside_dense : c_.beside);
    act.steals = dense ? sigma * work.instructions * c_.steals : 0;
}

}  // namespace tilescope
