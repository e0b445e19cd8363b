// `tilescope gpus`: the modelled GPUs, and where their numbers come from.
#include <iostream>

#include "cli/commands.hpp"
#include "cli/doubt.hpp"
#include "cli/json.hpp"
#include "cli/said.hpp"
#include "core/text/embedded.hpp"
#include "core/text/message.hpp"
#include "core/text/numbers.hpp"
#include "core/text/table.hpp"
#include "lab/gpu/gpu_json.hpp"
#include "lab/gpu/gpu_presets.hpp"

namespace tilescope::cli {

std::span<const EmbeddedFile> embedded_schema();

using namespace lab;
using text::message;
namespace {

void print_gpus_json() {
    Json j = {{"schema", "tilescope.gpus/1"}, {"gpus", Json::array()}};
    for (const std::string& n : gpu_preset_names()) j["gpus"].push_back(Json::parse(gpu_sheet_json(n)));
    std::cout << j.dump(2) << '\n';
}

void print_gpus() {
    text::Table table(text::titles({"gpus.gpu", "column.sms", "gpus.sram", "gpus.registers", "gpus.l2", "gpus.hbm",
                                    "gpus.tensor", "gpus.f32", "column.exps"}));
    for (const std::string& n : gpu_preset_names()) {
        const GpuSpec g = gpu_preset(n);
        const std::vector<GpuNumber> numbers = gpu_numbers(n);
        const auto of = [&](const std::vector<std::string>& keys, const std::string& value) {
            return marked(numbers, keys, value);
        };
        const auto rate = [](double per_second, const char* what) { return text::count(per_second) + what + "/s"; };
        table.add(
            {g.name, of({"sms"}, std::to_string(g.sms)), of({"sram_per_block"}, text::binary_bytes(g.sram_per_block)),
             of({"registers_per_sm"}, text::binary_bytes(g.registers_per_sm)),
             of({"l2_bytes"}, text::binary_bytes(g.l2_bytes)), of({"hbm_gbs"}, text::bytes(g.hbm_gbs * 1e9) + "/s"),
             of({"tensor_tflops"}, rate(g.tensor_tflops * 1e12, "FLOP")),
             of({"fp32_tflops"}, rate(g.fp32_tflops * 1e12, "FLOP")),
             of({"exp_per_clk", "sms", "tensor_clock_mhz"},
                rate(g.exp_per_clk * static_cast<double>(g.sms) * g.tensor_clock_mhz * 1e6, ""))});
    }
    table.print(std::cout);
    std::cout << message("gpus.about_units") << '\n' << message("gpus.about_sources") << '\n';
}

void show(const std::string& name) {
    const GpuSpec g = load_gpu(name);
    std::cout << message("gpus.title", g.name, g.title, g.compute_capability) << "\n\n";
    text::Table table(text::titles({"column.number", "column.value", "column.unit", "column.source"}), 4);
    bool sure = true;
    for (const GpuNumber& n : gpu_numbers(name)) {
        table.add({n.key, n.value + (n.confirmed ? "" : doubt), n.unit, n.source});
        sure = sure && n.confirmed;
    }
    table.print(std::cout);
    if (!sure) std::cout << message("gpus.doubt") << '\n';
}

}  // namespace

void add_gpus(CLI::App& app) {
    static Options options;
    static std::string name;
    CLI::App* sub = app.add_subcommand("gpus", message("gpus.command"));
    static bool schema = false;
    add_json_option(*sub, options);
    sub->add_flag("--schema", schema, message("gpus.schema_flag"));
    sub->footer(examples({"gpus.example", "gpus.example_show", "gpus.example_file", "gpus.example_schema"}));
    CLI::App* one = sub->add_subcommand("show", message("gpus.show_command"));
    one->add_option("NAME", name, message("gpus.name"))->required();
    add_json_option(*one, options);
    one->footer(examples({"gpus.example_a100", "gpus.example_edit"}));
    sub->callback([one] {
        if (*one)
            options.json ? (void)(std::cout << gpu_sheet_json(name)) : show(name);
        else if (schema)
            std::cout << embedded_schema()[0].text;
        else
            options.json ? print_gpus_json() : print_gpus();
    });
}

}  // namespace tilescope::cli
