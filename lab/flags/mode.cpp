#include "lab/flags/mode.hpp"

#include "core/text/message.hpp"
#include "core/text/numbers.hpp"
#include "core/text/words.hpp"
#include "lab/system/memory.hpp"

namespace tilescope::lab {
using text::message;
namespace {

std::string needs_less(const Options& o, const Request& request) {
    if (request.file_rank > 0) return message("mode.save_a_part");
    return message((o.out + o.out_lse).empty() ? "mode.count_or_shorter" : "mode.shorter");
}

/// The memory of the run that takes most, less the inputs that are in memory already.
Bytes host_memory(const std::vector<Report>& counted, const Inputs& present) {
    Bytes most = 0, there = 0;
    for (const Report& r : counted) most = std::max(most, memory_of(r.experiment));
    for (const auto& [name, tensor] : present) there += tensor->bytes();
    return std::max<Bytes>(0, most - there);
}

}  // namespace

ModeChoice choose_mode(const Options& o, const Request& request, const std::vector<Report>& counted) {
    if (o.mode != "auto" && o.mode != "numeric" && o.mode != "count")
        throw UsageError(message("mode.unknown", text::shown(o.mode)));
    const bool needed = request.file_rank > 0 || !(o.out + o.out_lse).empty();
    if (o.mode == "count") {
        if (needed) throw UsageError(message("mode.count_with_files"));
        return {false, message("mode.counts_as_asked")};
    }
    double seconds = 0;
    for (const Report& r : counted) seconds += seconds_to_execute(r, static_cast<int>(o.threads));
    const Bytes memory = host_memory(counted, request.inputs);
    const std::string fix = needs_less(o, request);
    std::string beyond;
    for (const Report& r : counted)
        if (beyond.empty()) beyond = beyond_hbm(r.experiment);
    if (o.mode == "numeric" || needed) {
        if (!beyond.empty()) throw RunError(message("mode.no_room", beyond));
        check_memory(memory, "mode.too_little_memory", fix);
        const char* const why = o.mode == "numeric"     ? "mode.numbers_as_asked"
                                : request.file_rank > 0 ? "mode.numbers_as_given"
                                                        : "mode.numbers_for_out";
        return {true, message(why), fix};
    }
    if (!beyond.empty()) return {false, message("mode.counts_for", beyond)};
    if (!fits_in_memory(memory)) return {false, message("mode.counts_for_memory", text::bytes(memory))};
    if (seconds > patience) return {false, message("mode.counts_for_time", text::number(seconds))};
    return {true, message("mode.numbers_of_seed", std::to_string(o.seed)), fix};
}

}  // namespace tilescope::lab
