#include "lab/model/launch_kernels.hpp"

#include <algorithm>
#include <string_view>

#include "algorithms/contract/kernel_description.hpp"
#include "algorithms/contract/roles.hpp"
#include "core/machine/lane_info.hpp"
#include "lab/model/laned.hpp"
#include "lab/model/style.hpp"
#include "lab/model/timed_launch.hpp"
#include "lab/model/warps.hpp"

namespace tilescope::lab {
namespace {

constexpr Index most_warps = 8;  // of a tensor-core kernel: no released or measured one has more

Index warps_on_cuda_cores(Index rows) { return std::max<Index>(1, rows / 16); }

/// `held`: the most rows and the most registers of launches with products.
Kernel kernel_of(const Experiment& e, const HeldRows& held) {
    const KernelDescription& d = *e.algorithm->kernel;
    Kernel k{.style = style_of(e), .rows = held.rows, .places = d.places, .together = d.together};
    k.looks_up = e.problem.mask.hides() && !e.problem.mask.is_causal();
    if (const Tiling t = with_roles(e); has_timed_lanes(e))
        k.warps = warps_of_warpgroup * (t.warpgroups + (t.specialised == on ? 1 : 0));
    else if (k.style == Style::cuda_cores)
        k.warps = warps_on_cuda_cores(held.rows);
    else if (const Index side = d.tiled.warp; side > 0)
        k.tiled = d.tiled,
        k.warps = std::min(ceil_div(held.rows, side) * ceil_div(e.tiling.bc, side), most_warps_of_a_block);
    else if (is_for_few_rows(e))
        k.own_softmax = true;
    else if (d.keys_of_warp > 0)
        k.warps = std::max<Index>(1, e.tiling.bc / d.keys_of_warp), k.own_keys = true;
    else  // Twice the warps where four could not keep the tiles in registers, as long as each has 16 rows.
        while (tensor_core_registers(e, k.warps, held).spills && k.warps < most_warps &&
               held.rows / (2 * k.warps) >= 16)
            k.warps *= 2;
    return k;
}

}  // namespace

std::optional<Outline> outline_in_turn(const Experiment& e) {
    const Tiling tiling = with_roles(e);
    if (has_timed_lanes(e) || tiling.overlap != on) return std::nullopt;
    Experiment in_turn = e;
    in_turn.tiling = tiling, in_turn.tiling.overlap = off;
    std::optional<Outline> outline(std::in_place);
    Listener* const listeners[] = {&*outline};
    count(in_turn, nullptr, listeners);
    return outline;
}

LaunchKernels::LaunchKernels(const Report& counted, const Outline& outline, RegistersFrom from)
    : counted_(counted),
      e_(counted.experiment),
      outline_(outline),
      registers_from_(from),
      full_(full_tiles(e_)),
      kernel_(kernel_of(full_.experiment, held_by_products())) {}

Kernel LaunchKernels::of(std::size_t k) const {
    const Index rows = rows_together(k), full = full_rows(k);
    Kernel kernel = kernel_;
    if (const Style style = style_of_launch(k); style != kernel_.style)
        kernel = {.style = style, .warps = warps_on_cuda_cores(rows), .places = kernel_.places};
    kernel.rows = rows > 0 && !kernel.own_keys ? rows : full;
    if (launch(k).axes.size() > 1)
        kernel.owning = static_cast<double>(launch(k).axes[1].tiles[0].size) / static_cast<double>(full);
    const HeldRows held{kernel_.rows, held_on_chip(k).register_peak};
    while (rows == 0 && 2 * kernel.warps <= most_warps_of_a_block && 4 * 255 * 32 * kernel.warps < held.registers &&
           !registers(k, kernel.warps, held).compiled)
        kernel.warps *= 2;
    return kernel;
}

Index LaunchKernels::full_rows(std::size_t k) const {
    const Tiling &cut = e_.tiling, &full = full_.experiment.tiling;
    if (launch(k).axes.size() < 2) return full.br;
    const Tiles& tiles = launch(k).axes[1].tiles;
    const Index rows = tiles.tile_size();
    const bool of_keys = rows == cut.bc && (rows != cut.br || std::string_view(tiles.name()) == "j");
    return of_keys ? full.bc : rows == cut.br ? full.br : rows;
}

Occupancy LaunchKernels::occupancy(std::size_t k) const {
    const LaunchInfo on_chip = held_on_chip(k);
    const Index warps = of(k).warps;
    const Registers r = registers(k, warps, {kernel_.rows, on_chip.register_peak});
    Bytes shared = on_chip.sram_peak + staged(k);
    if (kernel_.own_softmax && shared > 0) shared = std::max(shared, e_.algorithm->kernel->short_tiles.shared);
    BlockNeeds needs = {shared, warps, r.per_thread, r.compiled ? 0 : on_chip.register_peak};
    if (const Index on_sm = kernel_.tiled.warps_on_sm; on_sm > 0) {  // SRAM holds pieces of operands, no tiles
        constexpr Index bytes_of_a_warp = 32 * 4;
        needs.shared = needs.tiles = 0;
        needs.registers = std::min(needs.registers, e_.gpu.registers_per_sm / (on_sm * bytes_of_a_warp));
    }
    Occupancy o{residency(needs, e_.gpu), warps, needs.registers, r.compiled, r.spills};
    if (const Index most = e_.placing.blocks_per_sm; most > 0 && most < o.residency.blocks)
        o.residency = {most, ResidencyLimit::asked};
    return o;
}

/// What a full thread block of a launch holds on chip.
LaunchInfo LaunchKernels::held_on_chip(std::size_t k) const {
    LaunchInfo info = counted_.launches[k];
    if (!full_.counted || full_.counted->launches.size() <= k) return info;
    info.sram_peak = std::max(info.sram_peak, full_.counted->launches[k].sram_peak);
    info.register_peak = std::max(info.register_peak, full_.counted->launches[k].register_peak);
    return info;
}

/// Rows of all row tiles that a full thread block works on together; 0 where the launch has no products.
Index LaunchKernels::rows_together(std::size_t k) const {
    Index most = 0;
    for (const BlockOutline& b : launch(k).blocks) {
        const Index rows = rows_at_once(b);
        const bool all = rows > 0 && (b.at.size() < 2 ? rows <= full_rows(k) : rows == b.at[1].size);
        most = std::max(most, all ? full_rows(k) : rows);
    }
    return most;
}

/// The most rows, and the most registers, of all launches with products.
HeldRows LaunchKernels::held_by_products() const {
    HeldRows held;
    for (std::size_t k = 0; k < outline_.launches().size(); ++k)
        if (const Index rows = rows_together(k); rows > 0)
            held = {std::max(held.rows, rows), std::max(held.registers, held_on_chip(k).register_peak)};
    return held.rows > 0 ? held : HeldRows{full_.experiment.tiling.br, 0};
}

Registers LaunchKernels::registers(std::size_t k, Index warps, const HeldRows& held) const {
    if (has_timed_lanes(e_)) {  // as its lanes ask for them, on average over the threads
        constexpr Index bytes_of_a_warp = 32 * 4;
        return {ceil_div(held.registers, warps * bytes_of_a_warp), true, false};
    }
    return registers_of(full_.experiment, launch(k), warps, held, registers_from_);
}

/// Tensor cores multiply no f32: a launch with f32 products runs on CUDA cores, whatever the others do.
Style LaunchKernels::style_of_launch(std::size_t k) const {
    return launch(k).multiplies_f32 ? Style::cuda_cores : kernel_.style;
}

/// Bytes of shared memory through which a product's first operand passes, on CUDA cores, if it is in registers.
Bytes LaunchKernels::staged(std::size_t k) const {
    double most = 0;
    if (style_of_launch(k) == Style::cuda_cores)
        for (const BlockOutline& b : launch(k).blocks)
            for (const Passage& p : b.passages)
                for (const Deed& d : p.deeds)
                    if (d.kind() == Kind::product && !d.reads[0].in_sram())
                        most = std::max(most, 4 * d.reads[0].size());
    return static_cast<Bytes>(most);
}

Occupied count_and_occupy(const Experiment& e, Control* control) {
    Outline outline;
    Listener* const listeners[] = {&outline};
    Occupied o{count(e, control, listeners), {}};
    const std::optional<Outline> in_turn = outline_in_turn(e);
    const LaunchKernels kernels(o.report, in_turn ? *in_turn : outline);
    for (std::size_t k = 0; k < outline.launches().size(); ++k) o.launches.push_back(kernels.occupancy(k));
    return o;
}

}  // namespace tilescope::lab
