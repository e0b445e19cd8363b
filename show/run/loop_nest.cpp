#include "show/run/loop_nest.hpp"

#include <cmath>

#include "core/text/numbers.hpp"
#include "core/text/words.hpp"
#include "show/run/heads.hpp"

namespace tilescope::show {
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
    const bool average = blocks > 1 && (!exact || run.experiment().problem.mask.hides());
    const bool several = loop.last_line > loop.first_line;
    return std::string(blocks > 1 ? "each visits line" : "it visits line") + (several ? "s " : " ") +
           std::to_string(loop.first_line) + (several ? "–" + std::to_string(loop.last_line) : "") + " (" +
           excerpt(run, loop) + ") × " + times + (average ? " on average" : "");
}

std::string shown(const Run& run, Count recorded, Count all) {
    if (recorded == all) return ", all shown";
    if (recorded == 0) return ", none shown";
    const Index heads = run.recorded().batch_heads();
    const std::string of = heads == run.experiment().problem.batch_heads() ? ""
                           : heads == 1                                    ? " of " + head_name(run.recorded(), 0)
                                        : " of " + head_word(run.recorded()) + "s 1–" + std::to_string(heads);
    return ", shown: " + text::grouped(recorded) + of;
}

}  // namespace

std::vector<std::string> loop_nest(const Run& run, Index launch) {
    const LaunchInfo& l = run.counted().launches[static_cast<std::size_t>(launch)];
    const Count n = l.thread_blocks;
    std::vector<std::string> lines = {std::string(l.kernel) + ": " + text::counted(n, "thread block") +
                                      shown(run, std::ssize(run.schedule().placements_of(launch)), n)};
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
