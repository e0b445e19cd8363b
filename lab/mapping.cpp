#include "lab/mapping.hpp"

#include <sstream>

#include "lab/experiment.hpp"

namespace tilescope {
namespace {

Index round_down(Index n) { return n > 16 ? n / 16 * 16 : std::max<Index>(n, 1); }

void check_tile(const char* flag, Index value, Index most) {
    if (value < 0) throw UsageError(std::string(flag) + ' ' + std::to_string(value) + ": must be at least 1, or auto");
    constexpr Index limit = Index{1} << 31;
    if (value > limit)
        throw UsageError(std::string(flag) + ' ' + std::to_string(value) + ": must be at most 2^31; the sequence has " +
                         std::to_string(most) + " rows, try " + flag + " auto");
}

std::string flags(const Tiling& t) { return "--br " + std::to_string(t.br) + " --bc " + std::to_string(t.bc); }

}  // namespace

Tiling paper_rule(const Problem& p, const GpuSpec& gpu) {
    const Index elements = gpu.sram_per_block / size_of(p.dtype);
    const Index bc = ceil_div(elements, 4 * p.dim);
    return {std::min(round_down(std::min(bc, p.dim)), p.seq_q), std::min(round_down(bc), p.seq_k)};
}

bool fits(const Algorithm& algorithm, const Problem& problem, const Tiling& tiling, const GpuSpec& gpu) {
    // One head without causality holds the largest tiles that any thread block holds, and folds to a few of them.
    Problem p = problem;
    p.batch = p.heads = p.kv_heads = 1;
    p.mask = {};
    try {
        Gpu machine(gpu, count_mode, 1);
        run_program(machine, algorithm, p, tiling, {});
        return true;
    } catch (const OutOfChipMemory&) {
        return false;
    }
}

std::optional<Tiling> fitting_tiling(const Algorithm& algorithm, const Problem& problem, const Tiling& given,
                                     const GpuSpec& gpu) {
    const Tiling rule = paper_rule(problem, gpu);
    Tiling t = {given.br > 0 ? given.br : rule.br, given.bc > 0 ? given.bc : rule.bc};
    while (!fits(algorithm, problem, t, gpu)) {
        const bool can_br = given.br <= 0 && t.br > 1, can_bc = given.bc <= 0 && t.bc > 1;
        if (!can_br && !can_bc) return std::nullopt;
        if (can_bc && (t.bc >= t.br || !can_br))
            t.bc = round_down(t.bc / 2);
        else
            t.br = round_down(t.br / 2);
    }
    return t;
}

Tiling choose_tiling(const Algorithm& algorithm, const Problem& problem, const Tiling& given, const GpuSpec& gpu) {
    check_tile("--br", given.br, problem.seq_q);
    check_tile("--bc", given.bc, problem.seq_k);
    if (given.br > 0 && given.bc > 0) return given;
    if (const auto t = fitting_tiling(algorithm, problem, given, gpu)) return *t;
    // Not even the smallest choice fits; the run of it says what is too large.
    return {given.br > 0 ? given.br : 1, given.bc > 0 ? given.bc : 1};
}

std::string explain(const OutOfChipMemory& e, const Algorithm& algorithm, const Problem& problem, const Tiling& tiling,
                    const GpuSpec& gpu) {
    std::ostringstream out;
    const auto row = [&](const LiveTile& t, const char* remark) {
        out << "    " << t.name << " [" << t.rows << " x " << t.cols << ' ' << name_of(t.dtype) << "]  " << t.bytes
            << " B" << remark << '\n';
    };
    out << flags(tiling) << " does not fit: " << algorithm.name << " needs " << e.used + e.wanted.bytes << " B of "
        << name_of(e.space) << " at line " << e.line << ", a thread block on " << gpu.name << " has " << e.capacity
        << " B, " << e.missing() << " B are missing\n";
    out << "  in " << name_of(e.space) << " at that moment:\n";
    for (const LiveTile& t : e.live) row(t, "");
    row(e.wanted, "  <- does not fit");
    // Keep what the user asked for where that is possible: first Br, then Bc, then neither.
    auto fix = fitting_tiling(algorithm, problem, {tiling.br, 0}, gpu);
    if (!fix) fix = fitting_tiling(algorithm, problem, {0, tiling.bc}, gpu);
    if (!fix) fix = fitting_tiling(algorithm, problem, {}, gpu);
    if (fix)
        out << "  this fits: " << flags(*fix);
    else
        out << "  no tiling fits: give the SMs more with --sram KIB, choose another --gpu, or a smaller --dim";
    return out.str();
}

}  // namespace tilescope
