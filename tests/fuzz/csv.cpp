// Measurements and output of Nsight Compute: any text is read, or is refused with a message.
#include "device/measurements.hpp"
#include "device/ncu.hpp"
#include "tests/fuzz/fuzz.hpp"

using namespace tilescope;
using namespace tilescope::device;

namespace {

void read_survey(std::string_view text) {
    const auto file = read_measurements(text);
    if (!file) return;
    fuzz::require(file->rows.size() <= text.size(), "no more rows than bytes");
    for (const MeasuredRow& row : file->rows) {
        for (const std::string& column : *file->columns) row.number(column);
        fuzz::accepted([&] { command_of(case_of(row)); });
    }
}

void read_times(std::string_view text) {
    const auto file = read_library(text);
    if (!file) return;
    fuzz::require(file->rows.size() <= text.size(), "no more rows than bytes");
    for (const MeasuredRow& row : file->rows) fuzz::accepted([&] { problem_of(row); });
}

void read_profile(std::string_view text) {
    fuzz::accepted([&] {
        const std::vector<NcuLaunch> launches = parse_ncu(text);
        fuzz::require(launches.size() <= text.size(), "no more launches than bytes");
        combine(launches).blocks_per_sm();
    });
    if (const std::string problem = ncu_problem(text); !problem.empty()) fuzz::check_message(problem);
    fuzz::require(unknown_metrics(text).size() <= ncu_metrics().size(), "only metrics that were asked for");
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    read_survey(fuzz::text_of(data, size));
    read_times(fuzz::text_of(data, size));
    read_profile(fuzz::text_of(data, size));
    return 0;
}
