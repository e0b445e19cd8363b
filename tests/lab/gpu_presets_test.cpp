#include "lab/gpu/gpu_presets.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <set>

#include "core/machine/error.hpp"
#include "lab/gpu/gpu_fields.hpp"
#include "lab/gpu/gpu_json.hpp"
#include "tests/lab/gpu_checks.hpp"

using namespace tilescope;
using namespace tilescope::lab;

namespace {

const std::vector<std::string> all_presets = {"V100",     "T4",       "A100-40GB", "A100-80GB", "RTX-3090",
                                              "RTX-4090", "H100-SXM", "H200",      "B200",      "toy"};

constexpr double KiB = 1024, MiB = 1024 * KiB, GiB = 1024 * MiB;
constexpr double unknown = -1;

/// A row of the table of published numbers, typed by hand and not copied from the JSON files.
struct Published {
    const char* name;
    const char* compute_capability;
    double sms, clock, tensor_clock;
    double sram_per_sm, sram_per_block, registers, l2, hbm;
    double hbm_gbs, fp32, tensor, tensor_per_clk, lanes, exp_per_clk;
    double tera_exp_per_s;  // derived: exp_per_clk * sms * tensor_clock
    double warps, blocks, sram_per_clk;
    double sram_tb_per_s;  // derived: sram_per_clk * sms * tensor_clock
    double l2_per_clk;
};

const std::vector<Published> published = {
    {"V100", "7.0", 80,   1530, 1530, 98304, 98304, 262144, 6 * MiB, 16 * GiB, 900,
     15.7,   125,   1024, 64,   16,   1.96,  64,    32,     128,     15.7,     2048},
    {"T4", "7.5", 40,   1590, 1590, 65536, 65536, 262144, 4 * MiB, 16 * GiB, 320,
     8.1,  65,    1024, 64,   16,   1.02,  32,    16,     64,      unknown,  unknown},
    {"A100-40GB", "8.0", 108,  1410, 1410, 167936, 166912, 262144, 40 * MiB, 40 * GiB, 1555,
     19.5,        312,   2048, 64,   16,   2.44,   64,     32,     128,      19.5,     5120},
    {"A100-80GB", "8.0", 108,  1410, 1410, 167936, 166912, 262144, 40 * MiB, 80 * GiB, 2039,
     19.5,        312,   2048, 64,   16,   2.44,   64,     32,     128,      19.5,     5120},
    {"RTX-3090", "8.6", 82,  1695, 1695, 102400, 101376, 262144, 6 * MiB, 24 * GiB, 936,
     35.6,       71,    512, 128,  16,   2.22,   48,     16,     128,     17.8,     unknown},
    {"RTX-4090", "8.9", 128, 2520, 2520, 102400, 101376, 262144, 72 * MiB, 24 * GiB, 1008,
     82.6,       165.2, 512, 128,  16,   5.16,   48,     24,     128,      41.3,     1708},
    {"H100-SXM", "9.0", 132,  1980, 1830, 233472, 232448, 262144, 50 * MiB, 80 * GiB, 3350,
     66.9,       989.4, 4096, 128,  16,   3.87,   64,     32,     128,      30.9,     5120},
    {"H200", "9.0", 132,  1980, 1830, 233472, 232448, 262144, 60 * MiB, 141e9, 4800,
     66.9,   989.4, 4096, 128,  16,   3.87,   64,     32,     128,      30.9,  5120},
    {"B200", "10.0", 148,  1980, 1850, 233472, 232448, 262144, 126 * MiB, 192e9, 8000,
     75,     2250,   8192, 128,  16,   4.38,   64,     32,     128,       35.0,  unknown},
};

/// Whether two numbers agree up to rounding to three digits.
bool rounds_to(double exact, double printed) { return std::abs(exact - printed) <= 0.006 * printed; }

double known(const std::optional<double>& x) { return x.value_or(unknown); }

}  // namespace

TEST_CASE("presets come oldest first, and the toy last", "[gpu]") {
    CHECK(gpu_preset_names() == all_presets);
    CHECK(embedded_gpus().size() == all_presets.size());
    for (const auto& file : embedded_gpus()) {
        const std::string stem(file.name.substr(0, file.name.size() - 5));
        CAPTURE(stem);
        CHECK(gpu_preset(stem).name == stem);
        CHECK(contains(file.text, R"("schema": "tilescope.gpu/1")"));
    }
}

TEST_CASE("presets hold the published numbers", "[gpu]") {
    REQUIRE(published.size() == all_presets.size() - 1);
    for (const auto& row : published) {
        CAPTURE(row.name);
        const GpuSpec gpu = gpu_preset(row.name);
        CHECK(gpu.name == row.name);
        CHECK(gpu.title.starts_with("NVIDIA "));
        CHECK(gpu.compute_capability == row.compute_capability);
        CHECK(static_cast<double>(gpu.sms) == row.sms);
        CHECK(static_cast<double>(gpu.sram_per_sm) == row.sram_per_sm);
        CHECK(static_cast<double>(gpu.sram_per_block) == row.sram_per_block);
        CHECK(static_cast<double>(gpu.registers_per_sm) == row.registers);
        CHECK(static_cast<double>(gpu.l2_bytes) == row.l2);
        CHECK(static_cast<double>(gpu.hbm_bytes) == row.hbm);
        CHECK(static_cast<double>(gpu.max_warps_per_sm) == row.warps);
        CHECK(static_cast<double>(gpu.max_blocks_per_sm) == row.blocks);
        CHECK(gpu.clock_mhz == row.clock);
        CHECK(gpu.tensor_clock_mhz == row.tensor_clock);
        CHECK(gpu.hbm_gbs == row.hbm_gbs);
        CHECK(gpu.fp32_tflops == row.fp32);
        CHECK(gpu.tensor_tflops == row.tensor);
        CHECK(gpu.tensor_flops_per_clk == row.tensor_per_clk);
        CHECK(gpu.fp32_lanes == row.lanes);
        CHECK(gpu.exp_per_clk == row.exp_per_clk);
        CHECK(known(gpu.sram_bytes_per_clk) == row.sram_per_clk);
        CHECK(known(gpu.l2_bytes_per_clk) == row.l2_per_clk);
    }
}

TEST_CASE("the numbers of a preset agree with each other and with the derived rows", "[gpu]") {
    for (const auto& row : published) {
        CAPTURE(row.name);
        const GpuSpec gpu = gpu_preset(row.name);
        const auto sms = static_cast<double>(gpu.sms);
        const double clocks = sms * gpu.clock_mhz * 1e6, tensor_clocks = sms * gpu.tensor_clock_mhz * 1e6;
        CHECK(rounds_to(clocks * gpu.fp32_lanes * 2 / 1e12, gpu.fp32_tflops));
        CHECK(rounds_to(tensor_clocks * gpu.tensor_flops_per_clk / 1e12, gpu.tensor_tflops));
        CHECK(rounds_to(tensor_clocks * gpu.exp_per_clk / 1e12, row.tera_exp_per_s));
        if (row.sram_tb_per_s != unknown)
            CHECK(rounds_to(tensor_clocks * known(gpu.sram_bytes_per_clk) / 1e12, row.sram_tb_per_s));
    }
}

TEST_CASE("the toy is small enough for a blackboard and consistent", "[gpu]") {
    const GpuSpec toy = gpu_preset("toy");
    CHECK(toy.sms == 4);
    CHECK(toy.sram_per_sm == 2048);
    CHECK(toy.sram_per_block == 2048);
    CHECK(toy.registers_per_sm == 4096);
    CHECK(toy.l2_bytes == 4096);
    CHECK(toy.max_blocks_per_sm == 2);
    const double clocks = static_cast<double>(toy.sms) * toy.clock_mhz * 1e6;
    CHECK(rounds_to(clocks * toy.fp32_lanes * 2 / 1e12, toy.fp32_tflops));
    CHECK(rounds_to(clocks * toy.tensor_flops_per_clk / 1e12, toy.tensor_tflops));
    for (const auto& number : gpu_numbers("toy"))
        CHECK(number.source.starts_with("chosen for the blackboard, no real device"));
}

TEST_CASE("every number of a preset has a unit and a source", "[gpu]") {
    for (const auto& name : all_presets) {
        const auto numbers = gpu_numbers(name);
        const GpuSpec& gpu = gpu_preset(name);  // B200 has one measured number, that of an H100
        const std::size_t few = 18 + gpu.l2_partitions.has_value() + gpu.mma_flops_per_clk.has_value();
        CHECK(numbers.size() == (gpu.copy_gbs ? 44 : few));
        std::set<std::string> keys;
        for (const auto& number : numbers) {
            CAPTURE(name, number.key, number.source);
            keys.insert(number.key);
            CHECK(!number.unit.empty());
            CHECK(number.source.size() > 3);
            CHECK(number.source != "not given");
        }
        CHECK(keys.size() == numbers.size());
    }
}

TEST_CASE("numbers are listed as written, with what is unconfirmed said to be so", "[gpu]") {
    const auto number = [](std::string_view gpu, std::string_view key) {
        for (const auto& n : gpu_numbers(gpu))
            if (n.key == key) return n;
        return GpuNumber{};
    };
    CHECK(number("t4", "sms").value == "40");
    CHECK(number("t4", "fp32_tflops").value == "8.1");
    CHECK(number("h200", "hbm_bytes").value == "141000000000");
    CHECK(number("toy", "fp32_tflops").value == "0.016");
    CHECK(number("t4", "hbm_gbs").unit == "GB/s");
    CHECK(number("t4", "l2_bytes_per_clk").value == "unknown");
    CHECK(contains(number("t4", "l2_bytes_per_clk").source, "not published"));
    CHECK(contains(number("a100", "exp_per_clk").source, "from memory, unconfirmed"));
    CHECK(contains(number("h100", "exp_per_clk").source, "FlashAttention-3"));
    CHECK(contains(number("b200", "l2_bytes").source, "uncertain"));
    CHECK(contains(number("a100", "tensor_flops_per_clk").source, "computed: "));
}

TEST_CASE("what gpu_json writes reads back equal", "[gpu]") {
    for (const auto& name : all_presets) {
        const GpuSpec gpu = gpu_preset(name);
        check_equal(parse_gpu(gpu_json(gpu), "written"), gpu);
    }
    GpuSpec odd = gpu_preset("t4");
    odd.name = "quote \" backslash \\ and ü";
    odd.hbm_gbs = 0.1 + 0.2;
    odd.exp_per_clk = 1.0 / 3;
    odd.hbm_bytes = (Bytes{1} << 50) - 1;
    odd.l2_bytes_per_clk = 1e-5;
    odd.sram_bytes_per_clk.reset();
    check_equal(parse_gpu(gpu_json(odd), "written"), odd);
    CHECK(contains(gpu_json(odd), "\"clock_mhz\": 1590,"));
}

TEST_CASE("what gpu_sheet_json writes is a file for --gpu, with every source and doubt", "[gpu]") {
    const Folder folder;
    const std::string path = folder / "sheet.json";
    for (const auto& name : all_presets) {
        CAPTURE(name);
        write_bytes(path, gpu_sheet_json(name));
        check_equal(load_gpu(path), gpu_preset(name));
        CHECK(gpu_sheet_json(path) == gpu_sheet_json(name));
        const auto numbers = gpu_numbers(path), of_preset = gpu_numbers(name);
        for (std::size_t k = 0; k < numbers.size(); ++k) {
            CHECK(numbers[k].source == of_preset[k].source);
            CHECK(numbers[k].confirmed == of_preset[k].confirmed);
        }
    }
}

TEST_CASE("numbers that their sources doubt are marked, and no others", "[gpu]") {
    for (const auto& name : all_presets)
        for (const auto& n : gpu_numbers(name)) {
            CAPTURE(name, n.key, n.source);
            const bool doubted =
                contains(n.source, "unconfirmed") || contains(n.source, "uncertain") || contains(n.source, "conflict");
            CHECK(n.confirmed == !doubted);
        }
}
