#include "show/code_text.hpp"

#include "core/text/numbers.hpp"
#include "lab/metric.hpp"
#include "show/narration.hpp"

namespace tilescope::show {
using namespace lab;
namespace {

LineProfile profile_of(const Run& run, std::uint16_t line) {
    const auto found = run.lines().find(line);
    return found == run.lines().end() ? LineProfile() : found->second;
}

Counters cost_so_far(const Run& run, std::uint16_t line) {
    const auto found = run.line_costs().find(line);
    return found == run.line_costs().end() ? Counters() : found->second;
}

std::string count_text(Count n) { return text::count(static_cast<double>(n)); }

}  // namespace

LineCost line_cost(const Run& run, std::uint16_t line) {
    const Counters now = cost_so_far(run, line), all = profile_of(run, line).cost;
    LineCost cost;
    if (all.hbm() > 0) cost.hbm = text::bytes(now.hbm()), cost.has_hbm = now.hbm() > 0;
    if (all.flops() > 0) cost.flops = count_text(now.flops()), cost.has_flops = now.flops() > 0;
    return cost;
}

std::vector<std::array<std::string, 3>> line_costs(const Run& run, std::uint16_t line) {
    const LineProfile all = profile_of(run, line);
    if (all.visits == 0) return {};
    const Counters now = cost_so_far(run, line);
    std::vector<std::array<std::string, 3>> rows = {
        {"", run.shortened().empty() ? "so far" : "shown so far", "whole run"},
        {"visits", "", text::grouped(all.visits)}};
    for (const char* key : {"hbm_read_bytes", "hbm_write_bytes", "matmul_flops", "exps", "other_flops"}) {
        const Metric& m = *find_metric(key);
        const Count so_far = std::get<Count>(m.of_counters(now)), whole = std::get<Count>(m.of_counters(all.cost));
        const auto written = [&](Count n) { return m.unit == std::string_view("B") ? text::bytes(n) : count_text(n); };
        if (whole > 0) rows.push_back({m.title, written(so_far), written(whole)});
    }
    return rows;
}

std::string what_happens_now(const Session& session, const SmState* focus) {
    if (focus) return what_happens(*session.run(), *focus);
    if (const auto& overflow = session.overflow())
        return "Nothing runs: the tiles of " + overflow->algorithm + " do not fit on chip.";
    if (!session.problem().empty()) return "Nothing runs. " + session.problem();
    return "Nothing runs.";
}

std::string about_breakpoint(Index sm, Count others, bool is_set) {
    const std::string text = is_set ? "Click: playing no longer stops here."
                                    : "Click: playing stops when SM " + std::to_string(sm) + " gets here.";
    if (others == 0) return text;
    return text::grouped(others) + (others == 1 ? " other SM is" : " other SMs are") + " on this line.\n" + text;
}

std::string why_no_next_visit(const Run& run, Index sm, std::uint16_t line, bool visited_before) {
    const std::string where = "line " + std::to_string(line), who = "SM " + std::to_string(sm);
    if (visited_before) return who + " does not visit " + where + " again: back to the first time.";
    if (profile_of(run, line).visits == 0) return "Nothing moves and nothing is computed on " + where + ".";
    return who + " never visits " + where + " in what is shown.";
}

}  // namespace tilescope::show
