#include "show/words/code_text.hpp"

#include <algorithm>

#include "algorithms/contract/pseudo_code.hpp"
#include "core/text/message.hpp"
#include "core/text/numbers.hpp"
#include "lab/report/metric.hpp"
#include "show/words/narration.hpp"

namespace tilescope::show {
using namespace lab;
using text::message;
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

/// Where to break `code` so that at most `most` characters come before.
std::size_t break_at(std::string_view code, std::size_t most) {
    if (code.size() <= most) return code.size();
    std::size_t space = 0, outside = 0, statement = 0;
    int depth = 0;
    for (std::size_t i = 0; i <= most; ++i) {
        if (code[i] == '(') ++depth;
        if (code[i] == ')') --depth;
        if (code[i] != ' ' || i == 0) continue;
        space = i;
        if (depth > 0) continue;
        outside = i;
        if (std::string_view(",;:").find(code[i - 1]) != std::string_view::npos) statement = i;
    }
    for (const std::size_t place : {statement, outside})
        if (place >= most / 4 && place > 0) return place;
    return space > 0 ? space : most;
}

}  // namespace

std::vector<CodeLine> code_of(const Session& session) {
    if (const Run* run = session.run()) return code_for(run->algorithm(), run->experiment().problem);
    return code_for(session.algorithm(), session.request() ? session.request()->problem : Problem());
}

std::size_t indent_of(std::string_view code) { return std::min(code.find_first_not_of(' '), code.size()); }

std::vector<std::string_view> code_parts(std::string_view code, std::size_t first, std::size_t others) {
    const std::size_t indent = indent_of(code);
    code.remove_prefix(indent);
    std::vector<std::string_view> parts;
    for (std::size_t used = indent; !code.empty(); used = indent + 2) {
        const std::size_t room = parts.empty() ? first : others;
        const std::size_t n = break_at(code, room > used + 8 ? room - used : 8);
        parts.push_back(code.substr(0, n));
        code.remove_prefix(n < code.size() && code[n] == ' ' ? n + 1 : n);
    }
    return parts;
}

CodeExcerpt code_excerpt(const std::vector<std::size_t>& heights, std::ptrdiff_t now, std::size_t rows) {
    if (heights.empty()) return {0, 0};
    const std::size_t at = static_cast<std::size_t>(std::max<std::ptrdiff_t>(0, now));
    CodeExcerpt e = {at, at + 1};
    std::size_t taken = heights[at];
    const auto take = [&](std::size_t line) {
        if (line >= heights.size() || taken + heights[line] > rows) return false;
        taken += heights[line];
        return true;
    };
    for (bool more = true; more;) {
        more = now > 0 && e.first > 0 && take(e.first - 1);
        if (more) --e.first;
        if (take(e.end)) ++e.end, more = true;
    }
    return e;
}

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
        {"", message(run.shortened().empty() ? "code.so_far" : "code.shown_so_far"), message("code.whole_run")},
        {message("code.visits"), "", text::grouped(all.visits)}};
    for (const char* key :
         {"hbm_read_bytes", "hbm_write_bytes", "hbm_reduce_bytes", "matmul_flops", "exps", "other_flops"}) {
        const Metric& m = *find_metric(key);
        const Count so_far = std::get<Count>(m.of_counters(now)), whole = std::get<Count>(m.of_counters(all.cost));
        const auto written = [&](Count n) { return m.unit == lab::MetricUnit::bytes ? text::bytes(n) : count_text(n); };
        if (whole > 0) rows.push_back({m.title, written(so_far), written(whole)});
    }
    return rows;
}

std::string what_happens_now(const Session& session, const SmState* focus) {
    if (focus) return what_happens(*session.run(), *focus);
    if (const auto& overflow = session.overflow()) return message("code.does_not_fit", overflow->algorithm);
    const std::string nothing = message("code.nothing_runs");
    return session.problem().empty() ? nothing : text::sentences({nothing, session.problem()});
}

std::string about_breakpoint(Index sm, Count others, bool is_set) {
    const std::string text =
        is_set ? message("code.click_to_go_on") : message("code.click_to_stop", std::to_string(sm));
    return others == 0 ? text : message("code.others_on_line", others) + "\n" + text;
}

std::string why_no_next_visit(const Run& run, Index sm, std::uint16_t line, bool visited_before) {
    if (!visited_before && profile_of(run, line).visits == 0)
        return message("code.nothing_on_line", std::to_string(line));
    return message(visited_before ? "code.no_other_visit" : "code.no_visit", std::to_string(sm), std::to_string(line));
}

}  // namespace tilescope::show
