// Which mode a run takes.
#include <unistd.h>

#include "cli/commands.hpp"
#include "core/text/numbers.hpp"

namespace tilescope::cli {
using namespace lab;
namespace {

constexpr double patience = 10;  // seconds that `auto` is willing to take

double physical_memory() {
    return static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGE_SIZE));
}

}  // namespace

ModeChoice choose_mode(const Options& o, const Request& request, const std::vector<Report>& counted) {
    if (o.mode != "auto" && o.mode != "numeric" && o.mode != "count")
        throw UsageError("--mode " + o.mode + ": must be numeric, count or auto; try --mode count");
    const bool needed = request.file_rank > 0 || !o.out.empty();
    if (o.mode == "count") {
        if (needed) throw UsageError("--mode count: has no data, so files mean nothing to it; leave --mode out");
        return {false, "counts only, as asked"};
    }
    double seconds = 0, memory = 0;
    for (const Report& r : counted) {
        seconds += seconds_to_execute(r, static_cast<int>(o.threads));
        memory = std::max(memory, static_cast<double>(host_memory(r.experiment)));
    }
    const bool roomy = memory < 0.7 * physical_memory();
    if (o.mode == "numeric" || needed) {
        if (!roomy)
            throw RunError("--mode numeric: needs " + text::bytes(memory) + " of memory, this machine has " +
                           text::bytes(physical_memory()) + "; try --mode count, or a shorter --seq");
        return {true, o.mode == "numeric" ? "real numbers, as asked" : "real numbers, for the files"};
    }
    if (!roomy) return {false, "counts only: real numbers would need " + text::bytes(memory) + " of memory"};
    if (seconds > patience)
        return {false, "counts only: real numbers would take about " + text::number(seconds) +
                           " s, ask for them with --mode numeric"};
    return {true, "real numbers, seed " + std::to_string(o.seed)};
}

}  // namespace tilescope::cli
