#include "show/run/loop_nest.hpp"

#include <cmath>

#include "algorithms/contract/pseudo_code.hpp"
#include "core/text/message.hpp"
#include "core/text/numbers.hpp"
#include "show/run/heads.hpp"

namespace tilescope::show {
using text::message;
namespace {

/// The first statement of the loop, without its indentation.
std::string excerpt(const Run& run, const Loop& loop) {
    const std::string code = code_of(run.algorithm(), loop.first_line);
    const std::size_t end = std::min(code.find_first_of(":;"), code.size());
    return code.substr(0, end) + (loop.last_line > loop.first_line || end < code.size() ? " …" : "");
}

/// How often the first line of the loop is visited. A program may carry out the first iteration before the loop.
Count visits(const Run& run, const Loop& loop) { return run.lines().at(loop.first_line).visits; }

std::string say(const Run& run, const Loop& loop, Count blocks) {
    const Count n = visits(run, loop);
    const double each = static_cast<double>(n) / static_cast<double>(blocks);
    const bool exact = n % blocks == 0;
    const std::string times =
        exact || each > 100 ? text::grouped(std::llround(each)) : text::number(std::round(each * 10) / 10);
    // Causality gives some blocks fewer tiles than others.
    const bool average = !exact || run.experiment().problem.mask.hides();
    const std::string first = std::to_string(loop.first_line), last = std::to_string(loop.last_line);
    const std::string lines =
        first == last ? message("loop_nest.line", first) : message("loop_nest.lines", first, last);
    return message(blocks == 1 ? "loop_nest.it_visits"
                   : average   ? "loop_nest.each_visits_on_average"
                               : "loop_nest.each_visits",
                   lines, excerpt(run, loop), times);
}

/// A launch, its thread blocks, and which of them are shown.
std::string say(const Run& run, const LaunchInfo& l, Count recorded) {
    const Count all = l.thread_blocks;
    if (recorded == all || recorded == 0)
        return message(recorded == all ? "loop_nest.all_shown" : "loop_nest.none_shown", l.kernel, all);
    const Problem& p = run.recorded();
    const Index heads = p.batch_heads();
    if (heads == run.experiment().problem.batch_heads()) return message("loop_nest.shown", l.kernel, all, recorded);
    if (heads == 1) return message("loop_nest.shown_of_head", l.kernel, all, recorded, head_name(p, 0));
    return message(p.packed > 1 ? "loop_nest.shown_of_kv_heads" : "loop_nest.shown_of_heads", l.kernel, all, recorded,
                   std::to_string(heads));
}

}  // namespace

std::vector<std::string> loop_nest(const Run& run, Index launch) {
    const LaunchInfo& l = run.counted().launches[static_cast<std::size_t>(launch)];
    const Count n = l.thread_blocks;
    std::vector<std::string> lines = {say(run, l, std::ssize(run.schedule().placements_of(launch)))};
    for (const Loop& loop : run.nest()[static_cast<std::size_t>(launch)].loops)
        if (loop.first_line != 0 && visits(run, loop) > n) lines.push_back(say(run, loop, n));
    return lines;
}

std::vector<std::string> loop_nest(const Run& run) {
    std::vector<std::string> lines;
    for (Index launch = 0; launch < static_cast<Index>(run.counted().launches.size()); ++launch)
        for (std::string& line : loop_nest(run, launch)) lines.push_back(std::move(line));
    return lines;
}

}  // namespace tilescope::show
