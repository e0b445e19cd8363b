#include "lab/model/mapping.hpp"

#include <algorithm>
#include <limits>

#include "core/text/message.hpp"
#include "core/text/words.hpp"
#include "lab/model/laned.hpp"
#include "lab/model/published_tiles.hpp"

namespace tilescope::lab {
using text::message;
namespace {

Index round_down(Index n) { return n > 16 ? n / 16 * 16 : std::max<Index>(n, 1); }

std::string flags(const Algorithm& algorithm, const Tiling& t) {
    std::string words;
    for (const Knob& k : algorithm.knobs)
        if (t.*k.value > 0) words += std::string(words.empty() ? "--" : " --") + k.name + ' ' + k.text(t);
    return words;
}

/// "--br 5000 does not fit, not even with --bc 1": nobody typed the 1, so the message must not blame it.
std::string does_not_fit(const Algorithm& algorithm, const Tiling& tiling, const Tiling& given) {
    Tiling typed = tiling, chosen = tiling;
    for (const Knob& k : algorithm.knobs) {
        if (given.*k.value <= 0) typed.*k.value = 0;
        if (given.*k.value > 0 || !k.is_size) chosen.*k.value = 0;
    }
    const std::string asked = flags(algorithm, typed), completed = flags(algorithm, chosen);
    if (completed.empty()) return message("mapping.does_not_fit", asked);
    // Tile sizes that were not given are the least possible; a number of parts comes from a rule.
    const bool least = chosen.br > 0 || chosen.bc > 0;
    if (asked.empty()) return message("mapping.not_even_fits", completed);
    return message(least ? "mapping.does_not_fit_even_with" : "mapping.does_not_fit_with", asked, completed);
}

/// The free knob to halve next: the greatest, of equal ones the last; nullptr when all are at 1.
const Knob* to_halve(const Algorithm& algorithm, const Tiling& given, const Tiling& now) {
    const Knob* greatest = nullptr;
    for (const Knob& k : algorithm.knobs)
        if (k.is_size && given.*k.value <= 0 && now.*k.value > 1 && (!greatest || now.*k.value >= now.*greatest->value))
            greatest = &k;
    return greatest;
}

Tiling start_of(TileRule rule, const Algorithm& algorithm, const Problem& p, const GpuSpec& gpu, Index like) {
    if (rule == TileRule::paper) return paper_rule(p, gpu);
    if (Tiling named{.like = like}; like > 0) {
        named = algorithm.kernel->complete(p, named, gpu);
        return cut_to(p, {named.br, named.bc});
    }
    return cut_to(p, published_tiling(algorithm, p, gpu, rule == TileRule::common));
}

}  // namespace

const char* name_of(TileRule rule) {
    constexpr const char* names[] = {"kernel", "paper", "best", "common"};
    return names[static_cast<std::size_t>(rule)];
}

const char* name_of(Objective objective) {
    constexpr const char* names[] = {"time", "dram", "sm-traffic"};
    return names[static_cast<std::size_t>(objective)];
}

void validate(const Tiling& given, const Problem& problem) {
    const auto check = [](const char* field, Index value, Index rows) {
        constexpr Index limit = Index{1} << 31;
        if (value < 0) throw BadValue(field, std::to_string(value), message("mapping.tile_of_no_rows"), "64");
        if (value > limit)
            throw BadValue(field, std::to_string(value), message("mapping.tile_too_large", std::to_string(rows)),
                           "auto");
    };
    check("br", given.br, problem.seq_q);
    check("bc", given.bc, problem.seq_k);
    const double partials = static_cast<double>(problem.batch_heads()) * static_cast<double>(problem.seq_q) *
                            static_cast<double>(problem.dim_v + 1) * static_cast<double>(given.splits);
    if (partials > 0x1p56)
        throw BadValue("splits", std::to_string(given.splits), message("mapping.too_many_parts"), "auto");
}

std::string tiles_text(const Experiment& e) {
    std::vector<std::string> words;
    for (const Knob& k : e.algorithm->knobs)
        if (k.is_size) words.push_back(std::string(k.symbol) + ' ' + k.text(e.tiling));
    return text::join(words, ", ");
}

Tiling paper_rule(const Problem& p, const GpuSpec& gpu) {
    const Index elements = gpu.sram_per_block / size_of(p.key_type());
    const Index bc = ceil_div(elements, 4 * p.dim);
    return cut_to(p, {round_down(std::min(bc, p.dim)), round_down(bc)});
}

bool fits(const Algorithm& algorithm, const Problem& problem, const Tiling& tiling, const GpuSpec& gpu) {
    // One head without a mask holds the largest tiles of all thread blocks, and is folded to a few thread blocks.
    Problem p = problem;
    p.batch = p.heads = p.kv_heads = p.bias.group = 1;
    p.mask = {};
    try {
        Gpu machine(gpu, count_mode, 1);
        run_program(machine, algorithm, p, tiling, {});
        return true;
    } catch (const OutOfChipMemory&) {
        return false;
    }
}

GpuSpec with_room(GpuSpec gpu, bool sram, bool registers) {
    constexpr Bytes endless = std::numeric_limits<Bytes>::max() / 2;
    if (sram) gpu.sram_per_block = endless;
    if (registers) gpu.registers_per_sm = endless;
    return gpu;
}

Tiling completed(Tiling t, const Algorithm& algorithm, const Problem& problem, const GpuSpec& gpu) {
    if (algorithm.kernel->complete) t = algorithm.kernel->complete(problem, t, gpu);
    if (t.splits == 0 && algorithm.kernel->parts)
        t.splits = std::min(algorithm.kernel->parts(problem, t, gpu), most_splits);
    return t;
}

std::optional<Tiling> fitting_tiling(const Algorithm& algorithm, const Problem& problem, const Tiling& given,
                                     const GpuSpec& gpu, TileRule rule) {
    Tiling t = start_of(rule, algorithm, problem, gpu, given.like);
    for (const Knob& k : algorithm.knobs)
        if (given.*k.value > 0) t.*k.value = given.*k.value;
    while (!fits(algorithm, problem, completed(t, algorithm, problem, gpu), gpu)) {
        const Knob* knob = to_halve(algorithm, given, t);
        if (!knob) return std::nullopt;
        t.*knob->value = round_down(t.*knob->value / 2);
    }
    return completed(t, algorithm, problem, gpu);
}

std::optional<Tiling> nearest_fit(const Algorithm& algorithm, const Problem& problem, const Tiling& tiling,
                                  const GpuSpec& gpu) {
    // A number of parts by the algorithm's own rule is chosen again for other tiles, and so are knobs that are no
    // sizes.
    const auto of_sizes = [&](Index br, Index bc, Index splits) {
        Tiling t{br, bc, splits};
        t.like = tiling.like;
        return t;
    };
    const bool by_rule = algorithm.kernel->parts &&
                         tiling.splits == completed(of_sizes(tiling.br, tiling.bc, 0), algorithm, problem, gpu).splits;
    const Index splits = by_rule ? 0 : tiling.splits;
    for (const Tiling& kept : {of_sizes(tiling.br, 0, splits), of_sizes(0, tiling.bc, splits)}) {
        if (kept.br == 1 || kept.bc == 1) continue;
        if (const auto fit = fitting_tiling(algorithm, problem, kept, gpu)) return fit;
    }
    if (const auto fit = fitting_tiling(algorithm, problem, of_sizes(0, 0, splits), gpu)) return fit;
    // Launches that combine parts hold a number for each part and row: one part needs less room.
    return tiling.splits > 1 ? fitting_tiling(algorithm, problem, of_sizes(0, 0, 1), gpu) : std::nullopt;
}

Wish with_splits(Wish wish, const Algorithm& algorithm, const Problem& problem, const GpuSpec& gpu) {
    if (!has_splits(algorithm.knobs))
        wish.tiling.splits = 0;
    else if (wish.tiling.splits == 0 && !algorithm.kernel->parts)
        wish.tiling.splits = splits_by(wish.splits, problem, gpu);
    return wish;
}

Experiment mapped(const Algorithm& algorithm, const Problem& problem, const Wish& given_wish, const GpuSpec& gpu,
                  Control* control) {
    validate(given_wish.tiling, problem);
    const Wish wish = with_splits(given_wish, algorithm, problem, gpu);
    const Tiling& given = wish.tiling;
    const auto with = [&](const Tiling& t) {
        Experiment e{&algorithm, problem, t, gpu, wish.placing, wish.rule == TileRule::common};
        check_lanes_go_on(e);
        return e;
    };
    if (wish.rule == TileRule::best) {
        if (const auto best = best_mapping(algorithm, problem, wish, gpu, control))
            return {&algorithm, problem, best->tiling, gpu, best->placing};
    }
    if (given.br > 0 && given.bc > 0) return with(completed(given, algorithm, problem, gpu));
    const TileRule rule = wish.rule == TileRule::best ? TileRule::kernel : wish.rule;
    if (const auto t = fitting_tiling(algorithm, problem, given, gpu, rule)) return with(*t);
    // Not even the smallest choice fits. Running it says what is too large.
    Tiling least = given;
    least.br = std::max<Index>(1, given.br), least.bc = std::max<Index>(1, given.bc);
    return with(completed(least, algorithm, problem, gpu));
}

Tiling choose_tiling(const Algorithm& algorithm, const Problem& problem, const Wish& wish, const GpuSpec& gpu) {
    return mapped(algorithm, problem, wish, gpu).tiling;
}

std::string explain(const OutOfChipMemory& e, const Algorithm& algorithm, const Problem& problem, const Tiling& tiling,
                    const GpuSpec& gpu, const std::optional<Tiling>& given) {
    const auto number = [](Index n) { return std::to_string(n); };
    const auto about = [&](const char* id, const LiveTile& t) {
        return "    " + message(id, t.name, number(t.rows), number(t.cols), name_of(t.dtype), number(t.bytes));
    };
    const std::string line = number(e.line);
    std::vector<std::string> lines = {
        message("mapping.needs", does_not_fit(algorithm, tiling, given.value_or(tiling)), algorithm.name,
                number(e.used + e.wanted.bytes), name_of(e.space),
                algorithm.lineage.file ? message("mapping.line_of_file", line, source_of(e.here)) : line,
                e.whose.empty()          ? message("mapping.block_on", gpu.name)
                : e.space == Space::sram ? e.whose
                                         : message("mapping.lane", e.whose),
                number(e.capacity), number(e.missing())),
        "  " + message("mapping.at_that_moment", name_of(e.space))};
    for (const LiveTile& t : e.live) lines.push_back(about("mapping.tile", t));
    lines.push_back(about("mapping.tile_does_not_fit", e.wanted));
    auto fix = nearest_fit(algorithm, problem, tiling, gpu);
    if (fix) {
        // Roles that follow from the sizes, or were asked for, need not be said.
        Tiling asked = given.value_or(tiling);
        asked.br = fix->br, asked.bc = fix->bc;
        const Tiling whole = completed(asked, algorithm, problem, gpu);
        for (const Knob& k : algorithm.knobs)
            if (!k.is_size && (*fix).*k.value == whole.*k.value) (*fix).*k.value = 0;
    }
    lines.push_back("  " + (fix                      ? message("mapping.this_fits", flags(algorithm, *fix))
                            : e.space == Space::sram ? message("mapping.nothing_fits_in_sram")
                            : algorithm.lineage.file ? message("mapping.nothing_fits_in_registers_of_lanes")
                                                     : message("mapping.nothing_fits_in_registers")));
    return text::join(lines, "\n");
}

}  // namespace tilescope::lab
