#include "lab/flags/mode.hpp"

#include "core/text/numbers.hpp"
#include "core/text/words.hpp"
#include "lab/system/memory.hpp"

namespace tilescope::lab {
namespace {

std::string needs_less(const Options& o, const Request& request) {
    if (request.file_rank > 0) return "save a part of the arrays";
    return std::string("try ") + (o.out.empty() ? "--mode count, or " : "") + "a shorter --seq";
}

/// The most memory that one of the runs takes, less the inputs that are in memory already.
Bytes host_memory(const std::vector<Report>& counted, const Inputs& present) {
    Bytes most = 0, there = 0;
    for (const Report& r : counted) most = std::max(most, memory_of(r.experiment));
    for (const auto& [name, tensor] : present) there += tensor->bytes();
    return std::max<Bytes>(0, most - there);
}

}  // namespace

ModeChoice choose_mode(const Options& o, const Request& request, const std::vector<Report>& counted) {
    if (o.mode != "auto" && o.mode != "numeric" && o.mode != "count")
        throw UsageError("--mode " + text::shown(o.mode) + ": must be numeric, count or auto; try --mode count");
    const bool needed = request.file_rank > 0 || !o.out.empty();
    if (o.mode == "count") {
        if (needed) throw UsageError("--mode count: has no data, so files mean nothing to it; leave --mode out");
        return {false, "counts only, as asked"};
    }
    double seconds = 0;
    for (const Report& r : counted) seconds += seconds_to_execute(r, static_cast<int>(o.threads));
    const Bytes memory = host_memory(counted, request.inputs);
    const std::string fix = needs_less(o, request);
    std::string beyond;
    for (const Report& r : counted)
        if (beyond.empty()) beyond = beyond_hbm(r.experiment);
    if (o.mode == "numeric" || needed) {
        if (!beyond.empty()) throw RunError("--mode numeric: " + beyond + ", or --mode count");
        check_memory("--mode numeric", memory, fix);
        const char* const why = o.mode == "numeric"     ? "real numbers, as asked"
                                : request.file_rank > 0 ? "real numbers, as given"
                                                        : "real numbers, for --out";
        return {true, why, fix};
    }
    if (!beyond.empty()) return {false, "counts only: " + beyond};
    if (!fits_in_memory(memory))
        return {false, "counts only: real numbers would need " + text::bytes(memory) + " of memory"};
    if (seconds > patience)
        return {false, "counts only: real numbers would take about " + text::number(seconds) +
                           " s, ask for them with --mode numeric"};
    return {true, "real numbers, seed " + std::to_string(o.seed), fix};
}

}  // namespace tilescope::lab
