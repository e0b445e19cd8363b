// The loop nest in words: thread blocks of each launch, and the lines that each of them visits more than once.
#include <cmath>

#include "core/text/numbers.hpp"
#include "show/narration.hpp"

namespace tilescope::show {
namespace {

/// Lines of the pseudo-code, one after the other, that one loop visits.
struct Level {
    std::uint16_t first, last;
    Count visits;
};

const Placement* first_block(const Run& run, Index launch) {
    const auto& all = run.schedule().placements();
    const auto found =
        std::partition_point(all.begin(), all.end(), [&](const Placement& p) { return p.launch < launch; });
    return found != all.end() && found->launch == launch ? &*found : nullptr;
}

Index recorded_blocks(const Run& run, Index launch) {
    const auto& all = run.schedule().placements();
    const auto end =
        std::partition_point(all.begin(), all.end(), [&](const Placement& p) { return p.launch <= launch; });
    const Placement* first = first_block(run, launch);
    return first ? end - all.begin() - (first - all.data()) : 0;
}

/// The line on which the thread blocks of a launch begin; nothing where none was recorded.
std::optional<std::uint16_t> first_line(const Run& run, Index launch) {
    const Placement* block = first_block(run, launch);
    if (!block) return std::nullopt;
    const auto step = run.trace().find_forward(run.schedule().steps_after(block->first_tick),
                                               [](const Step& s) { return s.event.line != 0; });
    return step ? std::optional(run.trace()[*step].event.line) : std::nullopt;
}

/// Whether a loop begins or ends after line `after`, up to `line`.
bool another_loop(const Run& run, std::uint16_t after, std::uint16_t line) {
    return std::any_of(run.algorithm().code.begin(), run.algorithm().code.end(), [&](const CodeLine& c) {
        return c.number > after && c.number <= line && (' ' + std::string(c.code)).find(" for") != std::string::npos;
    });
}

/// The lines that thread blocks of this launch visit more than once. The pseudo-code is in the order of the launches:
/// a launch has the lines from its first one to the first one of the next.
std::vector<Level> levels(const Run& run, Index launch, Count blocks) {
    const bool is_last = launch + 1 == static_cast<Index>(run.counted().launches.size());
    const auto begin = first_line(run, launch), end = is_last ? std::nullopt : first_line(run, launch + 1);
    std::vector<Level> found;
    if (!begin || (!is_last && !end)) return found;
    bool goes_on = false;
    for (const auto& [line, profile] : run.lines()) {
        if (line < *begin || (end && line >= *end)) continue;
        if (goes_on && profile.visits == found.back().visits && !another_loop(run, found.back().last, line))
            found.back().last = line;
        else if (profile.visits > blocks)
            found.push_back({line, line, profile.visits});
        goes_on = profile.visits > blocks;
    }
    return found;
}

/// The first statement of the level, without its indentation.
std::string excerpt(const Run& run, const Level& level) {
    for (const CodeLine& line : run.algorithm().code) {
        if (line.number != level.first) continue;
        const std::string code = line.code;
        const std::size_t begin = code.find_first_not_of(' '), end = std::min(code.find_first_of(":;"), code.size());
        return code.substr(begin, end - begin) + (level.last > level.first || end < code.size() ? " …" : "");
    }
    return {};
}

std::string say(const Run& run, const Level& level, Count blocks) {
    const double each = static_cast<double>(level.visits) / static_cast<double>(blocks);
    const bool exact = level.visits % blocks == 0;
    const std::string times =
        exact || each > 100 ? text::grouped(std::llround(each)) : text::number(std::round(each * 10) / 10);
    // Causality gives some blocks fewer tiles than others.
    const bool average = blocks > 1 && (!exact || run.experiment().problem.causal);
    return std::string(blocks > 1 ? "each visits line" : "it visits line") + (level.last > level.first ? "s " : " ") +
           std::to_string(level.first) + (level.last > level.first ? "–" + std::to_string(level.last) : "") + " (" +
           excerpt(run, level) + ") × " + times + (average ? " on average" : "");
}

std::string shown(const Run& run, Count recorded, Count all) {
    if (recorded == all) return ", all shown";
    if (recorded == 0) return ", none shown";
    const Index heads = run.recorded().batch_heads();
    const std::string of = heads == run.experiment().problem.batch_heads() ? ""
                           : heads == 1                                    ? " of head 1"
                                                                           : " of heads 1–" + std::to_string(heads);
    return ", shown: " + text::grouped(recorded) + of;
}

}  // namespace

std::vector<std::string> loop_nest(const Run& run, Index launch) {
    const LaunchInfo& l = run.counted().launches[static_cast<std::size_t>(launch)];
    const Count n = l.thread_blocks;
    std::vector<std::string> lines = {std::string(l.kernel) + ": " + text::grouped(n) +
                                      (n == 1 ? " thread block" : " thread blocks") +
                                      shown(run, recorded_blocks(run, launch), n)};
    for (const Level& level : levels(run, launch, n)) lines.push_back(say(run, level, n));
    return lines;
}

std::vector<std::string> loop_nest(const Run& run) {
    std::vector<std::string> lines;
    for (Index launch = 0; launch < static_cast<Index>(run.counted().launches.size()); ++launch)
        for (std::string& line : loop_nest(run, launch)) lines.push_back(std::move(line));
    return lines;
}

}  // namespace tilescope::show
