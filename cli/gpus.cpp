// `tilescope gpus`: the modelled GPUs, and where their numbers come from.
#include <iostream>

#include "cli/commands.hpp"
#include "cli/json.hpp"
#include "core/text/numbers.hpp"
#include "core/text/table.hpp"
#include "lab/gpu_presets.hpp"

namespace tilescope::cli {
using namespace lab;
namespace {

void print_all(bool json) {
    if (json) {
        Json j = {{"schema", "tilescope.gpus/1"}, {"gpus", Json::array()}};
        for (const std::string& n : gpu_preset_names()) j["gpus"].push_back(Json::parse(gpu_json(gpu_preset(n))));
        std::cout << j.dump(2) << '\n';
        return;
    }
    text::Table table({"GPU", "SMs", "SRAM / block", "registers / SM", "L2", "HBM", "tensor f16", "f32", "exps"});
    for (const std::string& n : gpu_preset_names()) {
        const GpuSpec g = gpu_preset(n);
        table.add({g.name, std::to_string(g.sms), text::binary_bytes(g.sram_per_block),
                   text::binary_bytes(g.registers_per_sm), text::binary_bytes(g.l2_bytes),
                   text::bytes(g.hbm_gbs * 1e9) + "/s", text::count(g.tensor_tflops * 1e12) + "FLOP/s",
                   text::count(g.fp32_tflops * 1e12) + "FLOP/s",
                   text::count(g.exp_per_clk * static_cast<double>(g.sms) * g.tensor_clock_mhz * 1e6) + "/s"});
    }
    table.print(std::cout);
    std::cout << "Sources: tilescope gpus show NAME. Exponentials: SMs x rate per clock, at the tensor clock.\n";
}

void show(const std::string& name, bool json) {
    if (json) {
        Json j = {{"schema", "tilescope.gpu-numbers/1"}, {"name", load_gpu(name).name}, {"numbers", Json::array()}};
        for (const GpuNumber& n : gpu_numbers(name))
            j["numbers"].push_back({{"key", n.key}, {"unit", n.unit}, {"value", n.value}, {"source", n.source}});
        std::cout << j.dump(2) << '\n';
        return;
    }
    const GpuSpec g = load_gpu(name);
    std::cout << g.name << ": " << g.title << ", compute capability " << g.compute_capability << "\n\n";
    text::Table table({"number", "value", "unit", "source"}, 4);
    for (const GpuNumber& n : gpu_numbers(name)) table.add({n.key, n.value, n.unit, n.source});
    table.print(std::cout);
}

}  // namespace

void add_gpus(CLI::App& app) {
    static Options options;
    static std::string name;
    CLI::App* sub = app.add_subcommand("gpus", "The modelled GPUs and the sources of their numbers");
    add_json_option(*sub, options);
    sub->footer(
        "Examples:\n"
        "  tilescope gpus\n"
        "  tilescope gpus show H100\n"
        "  tilescope gpus show my-gpu.json");
    CLI::App* one = sub->add_subcommand("show", "All numbers of one GPU, with a source for each");
    one->add_option("NAME", name, "A preset's name or a JSON file")->required();
    add_json_option(*one, options);
    one->footer("Examples:\n  tilescope gpus show A100-80GB\n  tilescope gpus show my-gpu.json --json");
    sub->callback([one] { *one ? show(name, options.json) : print_all(options.json); });
}

}  // namespace tilescope::cli
