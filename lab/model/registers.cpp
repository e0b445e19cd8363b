#include "lab/model/registers.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <sstream>
#include <vector>

#include "core/text/embedded.hpp"
#include "lab/model/style.hpp"

namespace tilescope::lab {

/// lab/model/registers.csv
std::span<const EmbeddedFile> embedded_registers();

namespace {

struct Measured {
    std::string algorithm, launch, dtype;
    Index br, bc, dim, dim_v, registers;  ///< sizes of 0: any
};

std::vector<Measured> read_table() {
    std::vector<Measured> all;
    std::istringstream lines{std::string(embedded_registers()[0].text)};
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with('#') || line.starts_with("algorithm,")) continue;
        std::istringstream cells(line);
        Measured c;
        std::getline(cells, c.algorithm, ',');
        std::getline(cells, c.launch, ',');
        std::getline(cells, c.dtype, ',');
        for (Index* number : {&c.br, &c.bc, &c.dim, &c.dim_v, &c.registers}) {
            std::string cell;
            std::getline(cells, cell, ',');
            std::from_chars(cell.data(), cell.data() + cell.size(), *number);
        }
        all.push_back(c);
    }
    return all;
}

const std::vector<Measured>& compiled_kernels() {
    static const std::vector<Measured> table = read_table();
    return table;
}

bool is(Index compiled, Index size) { return compiled == 0 || compiled == size; }

/// Whether `c` is a launch of the experiment's algorithm, with tiles of any size.
bool was_measured_for(const Measured& c, const Experiment& e) {
    return c.algorithm == e.algorithm->name && c.dtype == name_of(e.problem.dtype) && is(c.dim, e.problem.dim) &&
           is(c.dim_v, e.problem.dim_v);
}

constexpr Index most_per_thread = 255, threads_of_warp = 32, register_bytes = 4;

/// Registers of a thread, if a rule says `needed`: at least what the program's tiles take; at most what there is.
Registers limited(double needed, Index warps, const HeldRows& held, const GpuSpec& gpu) {
    const Index threads = warps * threads_of_warp;
    const Index n = std::max(static_cast<Index>(std::ceil(needed)), ceil_div(held.registers, threads * register_bytes));
    const Index share =
        gpu.compute_capability == "none" ? most_per_thread : gpu.registers_per_sm / register_bytes / threads;
    const Index most = std::min(most_per_thread, share);
    return {std::min(most, n), false, n > most};
}

/// The products of a thread block on CUDA cores, and the elements of the largest tiles that it keeps in registers. Row
/// tiles that are worked on together count as one.
struct Kept {
    double products = 0, scores = 0, sums = 0;

    explicit Kept(const BlockOutline& block) {
        std::map<Index, double> turns;  // by code: all passages of a loop share it, however large their tiles are
        for (const Passage& p : block.passages) {
            const double of_passage = take(p);
            if (p.code < 0)
                products += of_passage;
            else
                turns[p.code] = std::max(turns[p.code], of_passage);
        }
        for (const auto& [code, of_turn] : turns) products += of_turn;
    }

  private:
    /// The products of a passage.
    double take(const Passage& p) {
        const auto together = static_cast<double>(rows_at_once(p.deeds));
        double of_passage = 0;
        for (const Deed& d : p.deeds) of_passage += take(d, together);
        return of_passage;
    }
    /// The operation's part of a product of all rows that are worked on together; 0 where it is no product.
    double take(const Deed& d, double together) {
        const bool product = d.kind() == Kind::product;
        const double rows = static_cast<double>(d.out.tile.rows);
        const double share = product && !d.transposed[0] ? std::min(1.0, rows / together) : 1;
        const bool kept = d.out.id != no_tile && !d.out.in_sram();
        if (kept && (product || d.kind() == Kind::load)) {
            // Only products that make logits are scaled. Others, such as O, are sums.
            double& largest = product && !d.scaled ? sums : scores;
            largest = std::max(largest, d.out.size() / share);
        }
        return product ? share : 0;
    }
};

Registers estimated_registers(const Experiment& e, const LaunchOutline& launch, Index warps, const HeldRows& held) {
    Kept kept(launch.blocks.at(0));  // the thread block that computes most: others may see no key
    for (const BlockOutline& b : launch.blocks)
        if (const Kept of_block(b); of_block.products > kept.products) kept = of_block;
    const auto threads = static_cast<double>(warps * threads_of_warp);
    const Registers own =
        limited(68 + 24 * kept.products + (0.75 * kept.scores + 1.25 * kept.sums) / threads, warps, held, e.gpu);
    if (style_of(e) != Style::tensor_cores) return own;
    // A launch without products, over rows of another tile size, holds no tiles of products.
    const Registers with_products = tensor_core_registers(e, warps, held);
    const bool other_rows = launch.axes.size() > 1 && launch.axes[1].tiles.tile_size() != e.tiling.br;
    return kept.products == 0 && other_rows && own.per_thread < with_products.per_thread ? own : with_products;
}

}  // namespace

Registers registers_of(const Experiment& e, const LaunchOutline& launch, Index warps, const HeldRows& held,
                       RegistersFrom from) {
    for (const Measured& c : compiled_kernels())
        if (from == RegistersFrom::compiler && was_measured_for(c, e) && is(c.br, e.tiling.br) &&
            is(c.bc, e.tiling.bc) && c.launch == launch.kernel)
            return {c.registers, true, false};
    return estimated_registers(e, launch, warps, held);
}

std::vector<Tiling> compiled_tiles(const Experiment& e) {
    std::vector<Tiling> tiles;
    for (const Measured& c : compiled_kernels()) {
        const Tiling tile{c.br, c.bc};
        const bool any = c.br == 0 || c.bc == 0, known = std::find(tiles.begin(), tiles.end(), tile) != tiles.end();
        if (was_measured_for(c, e) && !any && !known) tiles.push_back(tile);
    }
    return tiles;
}

Registers tensor_core_registers(const Experiment& e, Index warps, const HeldRows& held) {
    const Index kept = ceil_div(held.rows * (e.tiling.bc + e.problem.dim_v), warps * threads_of_warp);
    return limited(63 + static_cast<double>(kept), warps, held, e.gpu);
}

}  // namespace tilescope::lab
