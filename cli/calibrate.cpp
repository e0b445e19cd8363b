// `tilescope calibrate [-o FILE]`: measures this machine's GPU, and makes a GPU file of it for `--gpu`.
#include <iostream>
#include <optional>

#include "cli/commands.hpp"
#include "cli/json.hpp"
#include "cli/now.hpp"
#include "cli/progress.hpp"
#include "core/text/numbers.hpp"
#include "core/text/page.hpp"
#include "core/text/table.hpp"
#include "core/text/words.hpp"
#include "device/calibration.hpp"
#include "device/case_tables.hpp"
#include "device/kernel_run.hpp"
#include "lab/flags/ending.hpp"
#include "lab/system/atomic_file.hpp"

namespace tilescope::cli {
using namespace lab;
using namespace device;
namespace {

/// In the order of Benchmark.
constexpr const char* reading_names[] = {
    "matrix products",
    "fused multiply-adds",
    "maxima",
    "conversions",
    "exponentials",
    "shared memory",
    "L2",
    "one SM",
    "copy",
    "L2 latency",
    "DRAM latency",
    "launches",
    "clock",
    "tensor clock 1",
    "tensor clock 2",
};
static_assert(std::size(reading_names) == benchmark_count);

Readings measure_all(const Device& device) {
    Readings all;
    for (std::size_t k = 0; k < benchmark_count; ++k) {
        check_stop(&control());
        const Progress progress(
            [k] { return std::to_string(k + 1) + " of " + std::to_string(benchmark_count) + ": " + reading_names[k]; });
        try {
            all[k] = measure(static_cast<Benchmark>(k), device, &control());
        } catch (const OutOfDeviceMemory& e) {
            throw RunError(std::string("calibrate: ") + reading_names[k] + ' ' + e.what() +
                           "; end other programs that use the GPU");
        } catch (const RunError& e) {
            throw RunError(std::string("calibrate: ") + reading_names[k] + ": " + e.what() +
                           "; tilescope validate shows whether kernels run on this GPU");
        }
    }
    return all;
}

void print_rates(const Calibration& c, const Json& sheet) {
    text::Table table({"rate", "unit", "measured on", "data sheet", "measured"}, 3);
    for (const MeasuredRate& r : c.rates)
        table.add({r.key, sheet[r.key]["unit"].get<std::string>(), r.how + (r.written ? "" : "; a check"),
                   r.sheet ? text::exact(*r.sheet) : "", text::exact(r.value)});
    table.print(std::cout);
}

/// Where the numbers that are not in the table come from.
void print_origins(const Calibration& c) {
    if (!c.preset.empty()) {
        text::print_wrapped(std::cout,
                            "Sizes, limits and the highest clock are the driver's; all other numbers are the "
                            "preset's, " +
                                c.preset +
                                ", also the bandwidth of shared memory and the "
                                "partitions of the L2, which timing does not show.");
        return;
    }
    std::vector<std::string> derived;
    for (const auto& [key, origin] : c.origins)
        if (!origin.confirmed) derived.push_back(key);
    text::print_wrapped(std::cout, "No preset describes this device. Derived or taken, so not confirmed: " +
                                       text::join(derived, ", ") + ". The file says how.");
}

void print_use(const std::string& file) {
    if (file.empty()) {
        text::print_wrapped(std::cout, "Nothing was written: -o FILE.json writes a GPU file for --gpu.");
        return;
    }
    const bool is_path = file.ends_with(".json") || file.find('/') != std::string::npos;  // as --gpu sees it
    std::cout << "Written to " << text::shown(file) << ". Use it: tilescope timeline flash_v2 --gpu "
              << shell_line({is_path ? file : "./" + file}) << '\n';
}

const Device& usable(const DeviceSearch& search) {
    if (!search.device)
        throw RunError("calibrate: nothing was measured. " + search.missing + ' ' + text::as_sentence(search.fix));
    const Device& d = *search.device;
    if (std::stoi(d.compute_capability) < 8)
        throw RunError("calibrate: " + d.name + " has compute capability " + d.compute_capability +
                       "; the microbenchmarks, as all tensor-core kernels here, need 8.0 or more");
    return d;
}

void run_calibration(const Options& options, const std::string& out) {
    check_ending("--output", out, {".json"});
    const DeviceSearch search = find_device();
    const Device& device = usable(search);
    std::optional<AtomicFile> file;  // opened before the work: if it cannot be written, this fails at once
    if (!out.empty()) file.emplace(out);
    if (!options.json) std::cout << device_text(device) << "\n\n" << std::flush;
    const Calibration c = calibrate(device, measure_all(device), utc_now().substr(0, 10));
    const std::string sheet = gpu_sheet_json(c.spec, c.origins);
    parse_gpu(sheet, out.empty() ? "calibrated" : out);  // throws where --gpu would refuse the file
    if (file) {
        file->stream() << sheet;
        file->commit();
    }
    if (options.json) {
        std::cout << sheet;
        return;
    }
    print_rates(c, Json::parse(sheet));
    std::cout << '\n';
    print_origins(c);
    print_use(out);
}

}  // namespace

void add_calibrate(CLI::App& app) {
    static Options options;
    static std::string out;
    CLI::App* sub = app.add_subcommand("calibrate", "Measure this machine's GPU: a GPU file for --gpu");
    sub->add_option("-o,--output", out, "Write a GPU file (.json)")->type_name("FILE");
    add_json_option(*sub, options);
    sub->footer(
        "Examples:\n"
        "  tilescope calibrate\n"
        "  tilescope calibrate -o mine.json    then: tilescope timeline flash_v2 --gpu mine.json\n"
        "Microbenchmarks read rates, latencies and clocks, in less than a minute; all else is the driver's and the\n"
        "data sheet's. A source stands beside each number. Needs an NVIDIA GPU, which nothing else should use.");
    sub->callback([] { run_calibration(options, out); });
}

}  // namespace tilescope::cli
