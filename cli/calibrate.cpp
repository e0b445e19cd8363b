// `tilescope calibrate [-o FILE]`: measures this machine's GPU, and makes a GPU file of it for `--gpu`.
#include <iostream>
#include <optional>

#include "cli/commands.hpp"
#include "cli/json.hpp"
#include "cli/now.hpp"
#include "cli/progress.hpp"
#include "cli/said.hpp"
#include "core/text/message.hpp"
#include "core/text/numbers.hpp"
#include "core/text/page.hpp"
#include "core/text/table.hpp"
#include "core/text/words.hpp"
#include "device/calibration.hpp"
#include "device/case_tables.hpp"
#include "device/kernel_run.hpp"
#include "lab/flags/ending.hpp"
#include "lab/gpu/gpu_json.hpp"
#include "lab/gpu/gpu_presets.hpp"
#include "lab/system/atomic_file.hpp"

namespace tilescope::cli {
using namespace lab;
using namespace device;
using text::message;
namespace {

/// Ids of the benchmarks' messages, in the order of Benchmark.
constexpr const char* reading_ids[] = {
    "calibrate.matrix_products",
    "calibrate.multiply_adds",
    "calibrate.maxima",
    "calibrate.conversions",
    "calibrate.exponentials",
    "calibrate.shared_memory",
    "calibrate.l2",
    "calibrate.one_sm",
    "calibrate.copy",
    "calibrate.l2_latency",
    "calibrate.dram_latency",
    "calibrate.launches",
    "calibrate.clock",
    "calibrate.tensor_clock_1",
    "calibrate.tensor_clock_2",
    "calibrate.wgmma",
    "calibrate.wgmma",
    "calibrate.wgmma",
    "calibrate.wgmma",
    "calibrate.wgmma",
    "calibrate.wgmma",
    "calibrate.wgmma",
    "calibrate.beside_wgmma",
    "calibrate.beside_wgmma",
    "calibrate.beside_wgmma",
    "calibrate.beside_wgmma",
    "calibrate.beside_wgmma",
    "calibrate.beside_wgmma",
    "calibrate.beside_wgmma",
    "calibrate.beside_wgmma",
    "calibrate.barriers",
    "calibrate.barriers",
    "calibrate.barriers",
    "calibrate.bulk_copies",
    "calibrate.bulk_copies",
    "calibrate.bulk_copies",
    "calibrate.bulk_copies",
    "calibrate.bulk_copies",
};
static_assert(std::size(reading_ids) == benchmark_count);

/// Why what needs compute capability 9.0 is left out; "" where it is not.
std::string without_lanes(const Device& device) {
    if (device.compute_capability != hopper)
        return message("calibrate.no_hopper", device.name, device.compute_capability);
    return built_for_hopper() ? "" : message("calibrate.not_built_for_hopper");
}

Readings measure_all(const Device& device) {
    Readings all;
    const std::size_t count = without_lanes(device).empty() ? benchmark_count : first_of_hopper;
    for (std::size_t k = 0; k < count; ++k) {
        check_stop(&control());
        const std::string reading = message(reading_ids[k]);
        const Progress progress([&] { return message("progress.of", k + 1, count, reading); });
        try {
            all[k] = measure(static_cast<Benchmark>(k), device, &control());
        } catch (const OutOfDeviceMemory& e) {
            throw RunError(message("calibrate.no_memory", reading, e.what()));
        } catch (const RunError& e) {
            throw RunError(message("calibrate.failed", reading, e.what()));
        }
    }
    return all;
}

void print_rates(const Calibration& c, const Json& sheet) {
    text::Table table(text::titles({"calibrate.rate", "column.unit", "calibrate.measured_on", "calibrate.data_sheet",
                                    "calibrate.measured"}),
                      3);
    for (const MeasuredRate& r : c.rates)
        table.add({r.key, sheet[r.key]["unit"].get<std::string>(),
                   r.written ? r.how : message("calibrate.a_check", r.how), r.sheet ? text::exact(*r.sheet) : "",
                   text::exact(r.value)});
    table.print(std::cout);
}

/// Prints where the numbers come from that the table does not show.
void print_origins(const Calibration& c) {
    if (!c.preset.empty()) {
        text::print_wrapped(std::cout, message("calibrate.of_preset", c.preset));
        return;
    }
    std::vector<std::string> derived;
    for (const auto& [key, origin] : c.origins)
        if (!origin.confirmed) derived.push_back(key);
    text::print_wrapped(std::cout, message("calibrate.without_preset", text::join(derived, ", ")));
}

void print_use(const std::string& file) {
    if (file.empty()) {
        text::print_wrapped(std::cout, message("calibrate.not_written"));
        return;
    }
    const bool is_path = file.ends_with(".json") || file.find('/') != std::string::npos;  // --gpu reads it as a path
    std::cout << message("calibrate.written", text::shown(file), shell_line({is_path ? file : "./" + file})) << '\n';
}

const Device& usable(const DeviceSearch& search) {
    if (!search.device)
        throw RunError(text::sentences({message("calibrate.nothing"), search.missing, text::as_sentence(search.fix)}));
    const Device& d = *search.device;
    if (std::stoi(d.compute_capability) < 8) throw RunError(message("calibrate.too_old", d.name, d.compute_capability));
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
    if (const std::string why = without_lanes(device); !why.empty()) text::print_wrapped(std::cout, why);
    print_origins(c);
    print_use(out);
}

}  // namespace

void add_calibrate(CLI::App& app) {
    static Options options;
    static std::string out;
    CLI::App* sub = app.add_subcommand("calibrate", message("calibrate.command"));
    sub->add_option("-o,--output", out, message("calibrate.output_flag"))->type_name("FILE");
    add_json_option(*sub, options);
    sub->footer(examples({"calibrate.example", "calibrate.example_file"}) + '\n' +
                paragraph(message("calibrate.footer"), 108));
    sub->callback([] { run_calibration(options, out); });
}

}  // namespace tilescope::cli
