#include "lab/gpu_presets.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <set>

#include "core/machine/error.hpp"
#include "lab/gpu_fields.hpp"
#include "tests/lab/gpu_complaint.hpp"

using namespace tilescope;
using namespace tilescope::lab;

namespace {

const std::vector<std::string> all_presets = {"V100",     "T4",       "A100-40GB", "A100-80GB", "RTX-3090",
                                              "RTX-4090", "H100-SXM", "H200",      "B200",      "toy"};

constexpr double KiB = 1024, MiB = 1024 * KiB, GiB = 1024 * MiB;
constexpr double unknown = -1;

/// One column of the table of published numbers, typed by hand and not copied from the JSON files.
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

/// Equal up to the rounding of a number printed with three digits.
bool rounds_to(double exact, double printed) { return std::abs(exact - printed) <= 0.006 * printed; }

double known(const std::optional<double>& x) { return x.value_or(unknown); }

void check_equal(const GpuSpec& a, const GpuSpec& b) {
    CHECK(a.name == b.name);
    CHECK(a.title == b.title);
    CHECK(a.compute_capability == b.compute_capability);
    CHECK(a.sms == b.sms);
    CHECK(a.sram_per_sm == b.sram_per_sm);
    CHECK(a.sram_per_block == b.sram_per_block);
    CHECK(a.registers_per_sm == b.registers_per_sm);
    CHECK(a.l2_bytes == b.l2_bytes);
    CHECK(a.hbm_bytes == b.hbm_bytes);
    CHECK(a.max_warps_per_sm == b.max_warps_per_sm);
    CHECK(a.max_blocks_per_sm == b.max_blocks_per_sm);
    CHECK(a.clock_mhz == b.clock_mhz);
    CHECK(a.tensor_clock_mhz == b.tensor_clock_mhz);
    CHECK(a.hbm_gbs == b.hbm_gbs);
    CHECK(a.fp32_tflops == b.fp32_tflops);
    CHECK(a.tensor_tflops == b.tensor_tflops);
    CHECK(a.tensor_flops_per_clk == b.tensor_flops_per_clk);
    CHECK(a.fp32_lanes == b.fp32_lanes);
    CHECK(a.exp_per_clk == b.exp_per_clk);
    CHECK(a.sram_bytes_per_clk == b.sram_bytes_per_clk);
    CHECK(a.l2_bytes_per_clk == b.l2_bytes_per_clk);
}

std::string complaint_about(const std::string& json) {
    return complaint([&] { parse_gpu(json, "my.json"); });
}

/// A file that changes the A100-40GB by one line of JSON.
std::string changed(const std::string& line) { return R"({"base": "A100-40GB", )" + line + "}"; }

std::string repeated(std::string_view part, std::size_t times) {
    std::string text;
    for (std::size_t i = 0; i < times; ++i) text += part;
    return text;
}

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
        const GpuSpec& gpu = gpu_preset(name);  // B200 has taken one measured number over from an H100
        const std::size_t few = 18 + gpu.l2_partitions.has_value() + gpu.mma_flops_per_clk.has_value();
        CHECK(numbers.size() == (gpu.copy_gbs ? 31 : few));
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

TEST_CASE("a file may change some numbers of a preset", "[gpu]") {
    const GpuSpec a100 = gpu_preset("a100");
    const GpuSpec half =
        parse_gpu(changed(R"("sms": 54, "hbm_gbs": {"value": 7.5e2, "source": "a guess"})"), "half.json");
    GpuSpec expected = a100;
    expected.name += " (changed)";
    expected.title += " (changed)";
    expected.sms = 54;
    expected.hbm_gbs = 750;
    expected.fp32_tflops /= 2, expected.tensor_tflops /= 2;
    check_equal(half, expected);

    const GpuSpec named = parse_gpu(R"({"base": "h 100", "name": "Mine", "l2_bytes_per_clk": null})", "mine.json");
    CHECK(named.name == "Mine");
    CHECK(named.title == "Mine");
    CHECK(named.compute_capability == "9.0");
    CHECK(named.sms == 132);
    CHECK(!named.l2_bytes_per_clk);

    CHECK(parse_gpu(changed(R"("sms": 1.08e2)"), "float.json").sms == 108);
    CHECK(parse_gpu(changed(R"("hbm_bytes": 1125899906842624)"), "large.json").hbm_bytes == Bytes{1} << 50);
}

TEST_CASE("a file's own number wins, and what follows from it is scaled", "[gpu]") {
    const auto h100 = [](const std::string& line) { return parse_gpu(R"({"base": "H100", )" + line + "}", "my.json"); };
    const GpuSpec before = gpu_preset("h100");

    const GpuSpec h20 = h100(R"("sms": 78, "hbm_gbs": 4000, "tensor_tflops": 148)");
    CHECK(h20.tensor_tflops == 148);
    CHECK(h20.tensor_flops_per_clk == Approx(148e6 / (78 * 1830)).epsilon(1e-3));
    CHECK(*h20.mma_flops_per_clk == Approx(2710 * h20.tensor_flops_per_clk / 4096));
    CHECK(*h20.copy_gbs == Approx(2850 * 4000.0 / 3350));

    const GpuSpec scalar = h100(R"("fp32_tflops": 6.69)");
    CHECK(scalar.fp32_lanes == Approx(12.8));
    CHECK(*scalar.fma_per_clk == Approx(12.4));
    CHECK(*scalar.half_rate_per_clk == Approx(6.3));

    const GpuSpec slow = h100(R"("clock_mhz": 495)");
    CHECK(slow.tensor_clock_mhz == Approx(1830 / 4.0));
    CHECK(*slow.cuda_clock_mhz == Approx(495));
    CHECK(*slow.mma_clock_mhz == Approx(1810 / 4.0));
    CHECK(slow.tensor_tflops == Approx(before.tensor_tflops / 4));
    CHECK(slow.fp32_tflops == Approx(before.fp32_tflops / 4));
    CHECK(h100(R"("clock_mhz": 495, "tensor_clock_mhz": 1830)").tensor_tflops == before.tensor_tflops);

    // What is given stays, also where it is what the base has.
    CHECK(*h100(R"("hbm_gbs": 6700, "copy_gbs": 2850)").copy_gbs == 2850);
    CHECK(h100(R"("sms": 66, "tensor_tflops": 989.4)").tensor_flops_per_clk == Approx(2 * 4096));
    CHECK(h100(R"("sram_per_sm": 300000)").sram_per_block == 300000 - 1024);
    CHECK(h100(R"("sram_per_sm": 300000, "sram_per_block": 1000)").sram_per_block == 1000);
}

TEST_CASE("two numbers of a file that contradict each other are an error", "[gpu]") {
    const std::string message =
        complaint_about(R"({"base": "H100", "sms": 78, "tensor_tflops": 148, "tensor_flops_per_clk": 4096})");
    CHECK(
        message ==
        "gpu my.json: tensor_tflops: 148 TFLOP/s differ from the 584.7 that follow from sms 78, tensor_clock_mhz 1830 "
        "and "
        "tensor_flops_per_clk 4096: write tensor_tflops 584.7 or tensor_flops_per_clk 1037, or beside a base only one "
        "of "
        "the two");
    CHECK(contains(complaint_about(changed(R"("fp32_tflops": 19.5, "fp32_lanes": 128)")), "write fp32_tflops 38.98"));
    CHECK(contains(complaint_about(changed(R"("tensor_tflops": 316, "tensor_flops_per_clk": 2048)")),
                   "tensor_tflops 311.9"));
    CHECK(changed_gpu(gpu_preset("a100"), R"({"tensor_tflops": 314, "tensor_flops_per_clk": 2048})").tensor_tflops ==
          314);

    // A file without a base has both; a recording of before is read as it was made.
    std::string whole = gpu_json(gpu_preset("a100"));
    whole.replace(whole.find("\"tensor_tflops\": 312"), 20, "\"tensor_tflops\": 100");
    CHECK(contains(complaint_about(whole), "tensor_tflops: 100 TFLOP/s differ from the 311.9"));
    CHECK(recorded_gpu(whole, "recording").tensor_flops_per_clk == 2048);

    CHECK(contains(complaint_about(changed(R"("tensor_tflops": 1e15)")), "tensor_flops_per_clk: "));
    CHECK(contains(complaint_about(changed(R"("tensor_tflops": 1e15)")),
                   "follows from what the file changes: write a number"));
}

TEST_CASE("a rate as measured above what the data sheet has is an error with both numbers", "[gpu]") {
    const auto h100 = [](const std::string& line) { return R"({"base": "H100", )" + line + "}"; };
    CHECK(complaint_about(h100(R"("copy_gbs": 4000)")) ==
          "gpu my.json: copy_gbs: 4000 GB/s measured are more than the 3350 that hbm_gbs has: write copy_gbs 3350 or "
          "less, or a higher hbm_gbs");
    CHECK(
        contains(complaint_about(h100(R"("mma_flops_per_clk": 4200)")),
                 "mma_flops_per_clk: 4200 FLOP/clk/SM measured are more than the 4096 that tensor_flops_per_clk has"));
    CHECK(contains(complaint_about(h100(R"("fma_per_clk": 130)")), "fma_per_clk: 130"));
    CHECK(contains(complaint_about(h100(R"("half_rate_per_clk": 130)")), "half_rate_per_clk: 130"));
    CHECK(contains(complaint_about(h100(R"("tensor_flops_per_clk": 1024, "mma_flops_per_clk": 2710)")), "1024"));
    CHECK(parse_gpu(h100(R"("copy_gbs": 3380)"), "my.json").copy_gbs == 3380);  // within 1%
    CHECK(parse_gpu(h100(R"("tensor_flops_per_clk": 1024)"), "my.json").mma_flops_per_clk < 1024);
    CHECK(recorded_gpu(h100(R"("copy_gbs": 4000)"), "recording").copy_gbs == 4000);
}

TEST_CASE("a base may be another file, beside the one that names it", "[gpu]") {
    const Folder folder;
    std::filesystem::create_directory(folder / "more");
    write_bytes(folder / "half.json", R"({"base": "H100", "name": "half", "sms": 66})");
    write_bytes(folder / "more/quarter.json", R"({"base": "../half.json", "hbm_gbs": 1675})");
    const GpuSpec quarter = load_gpu(folder / "more/quarter.json"), h100 = gpu_preset("h100");
    CHECK(quarter.name == "half (changed)");
    CHECK(quarter.sms == 66);
    CHECK(quarter.tensor_tflops == h100.tensor_tflops / 2);
    CHECK(*quarter.copy_gbs == Approx(*h100.copy_gbs / 2));
    CHECK(load_gpu(R"({"base": ")" + (folder / "half.json") + "\"}").sms == 66);

    write_bytes(folder / "lost.json", R"({"base": "nowhere.json"})");
    CHECK(contains(complaint([&] { load_gpu(folder / "lost.json"); }), "nowhere.json: "));
    write_bytes(folder / "self.json", R"({"base": "self.json"})");
    CHECK(contains(complaint([&] { load_gpu(folder / "self.json"); }), "self.json\" is one file too many: at most 8"));
    // What is no file of its own has no folder, and is not told that a path works.
    CHECK(!contains(complaint_about(R"({"base": "half.json"})"), "path of a .json file works"));
}

TEST_CASE("a number that follows from a changed one says what it was and where that is from", "[gpu]") {
    const Folder folder;
    const std::string path = folder / "mine.json";
    write_bytes(path, R"({"base": "H100", "sms": 66, "hbm_gbs": 1675})");
    const auto source = [&](std::string_view key) {
        for (const GpuNumber& n : gpu_numbers(path))
            if (n.key == key) return n.source;
        return std::string();
    };
    CHECK(source("fp32_tflops").starts_with("scaled with what the file changes, from 66.9, as H100-SXM: NVIDIA"));
    CHECK(source("copy_gbs").starts_with("scaled with what the file changes, from 2850, as H100-SXM: measured"));
    CHECK(source("sms") == "not given");
    // Sources of sources stay short enough to be read again.
    for (int n = 0; n < 6; ++n) {
        write_bytes(path + std::to_string(n) + ".json", R"({"base": ")" + path +
                                                            (n ? std::to_string(n - 1) + ".json" : "") +
                                                            R"(", "sms": )" + std::to_string(60 - n) + "}");
        const std::string sheet = gpu_sheet_json(path + std::to_string(n) + ".json");
        CHECK(parse_gpu(sheet, "again").sms == 60 - n);
    }
}

TEST_CASE("a GPU that is changed keeps its name, and is one machine", "[gpu]") {
    const GpuSpec a100 = gpu_preset("a100"), half = changed_gpu(a100, R"({"sms": 54})");
    CHECK(half.name == "A100-40GB");
    CHECK(half.tensor_tflops == a100.tensor_tflops / 2);
    CHECK(changed_gpu(a100, "{}").fp32_tflops == a100.fp32_tflops);
    CHECK_THROWS_AS(changed_gpu(a100, R"({"base": "T4"})"), BadValue);
}

// A machine at the limits of some numbers, with what follows from them.
TEST_CASE("what gpus show writes of any valid file is read again", "[gpu]") {
    std::mt19937 random(13);
    const auto upto = [&](std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random); };
    const auto bases = gpu_preset_names();
    const Folder folder;
    const std::string path = folder / "mine.json", again = folder / "again.json";
    int valid = 0;
    for (int n = 0; n < 500; ++n) {
        std::string file = "{\"base\": \"" + bases[upto(bases.size())] + '"';
        std::set<std::size_t> chosen;
        for (std::size_t k = 1 + upto(4); k > 0; --k) chosen.insert(upto(gpu_fields().size()));
        for (const std::size_t k : chosen) {
            const GpuField& f = gpu_fields()[k];
            const double share = upto(3) == 0 ? static_cast<double>(upto(2)) : static_cast<double>(upto(1000)) / 1000;
            double x = std::clamp(std::max(f.least, 1e-30) * std::pow(f.most / std::max(f.least, 1e-30), share),
                                  f.least, f.most);
            if (std::holds_alternative<Index GpuSpec::*>(f.member)) x = std::max(f.least, std::floor(x));
            file += ", \"" + std::string(f.key) + "\": " + number_text(x);
        }
        file += "}";
        CAPTURE(file);
        write_bytes(path, file);
        GpuSpec gpu;
        try {
            gpu = load_gpu(path);
        } catch (const BadValue& e) {
            const std::string why = e.what();
            CAPTURE(why);
            CHECK((contains(why, "differ from the") || contains(why, "follows from what the file changes") ||
                   contains(why, "more than sram_per_sm") || contains(why, "measured are more than the")));
            continue;
        }
        ++valid;
        write_bytes(again, gpu_sheet_json(path));
        CHECK_NOTHROW(load_gpu(again));
        if (!same_machine(load_gpu(again), gpu)) FAIL("another machine");
        CHECK(same_machine(parse_gpu(gpu_json(gpu), "again"), gpu));
    }
    CHECK(valid > 250);
}

TEST_CASE("sources of a user's file are shown, inherited, or said to be missing", "[gpu]") {
    const Folder folder;
    const std::string path = folder / "mine.json";
    write_bytes(path,
                changed(R"("sms": 54, "hbm_gbs": {"value": 750, "source": "a guess"}, "fp32_lanes": {"value": 1})"));
    CHECK(load_gpu(path).sms == 54);
    for (const auto& number : gpu_numbers(path)) {
        CAPTURE(number.key);
        if (number.key == "sms" || number.key == "fp32_lanes")
            CHECK(number.source == "not given");
        else if (number.key == "hbm_gbs")
            CHECK(number.source == "a guess");
        else if (number.key == "fp32_tflops" || number.key == "tensor_tflops")
            CHECK(number.source.starts_with("scaled with what the file changes, from " +
                                            std::string(number.key == "fp32_tflops" ? "19.5" : "312") +
                                            ", as A100-40GB: "));
        else
            CHECK(number.source.starts_with("as A100-40GB: "));
    }
}

TEST_CASE("a file without a base needs every number that is not optional", "[gpu]") {
    const std::string message = complaint_about(R"({"name": "Mine", "sms": 4, "hbm_gbs": 1})");
    CHECK(contains(message, "sram_per_sm, sram_per_block, registers_per_sm"));
    CHECK(contains(message, "compute_capability"));
    CHECK(contains(message, R"(missing: write them, or take them from a preset with "base": "A100-40GB")"));
    CHECK(!contains(message, "sms,"));
    CHECK(!contains(message, "hbm_gbs"));
    CHECK(!contains(message, "sram_bytes_per_clk"));
    CHECK(contains(complaint_about("{}"), "name, title, compute_capability, sms, "));
}

TEST_CASE("each mistake in a file is named with its key and a fix", "[gpu]") {
    const std::string whole = "is not allowed: write a whole number from 1 to 1000000 (SMs)";
    const std::vector<std::pair<std::string, std::string>> mistakes = {
        // numbers
        {changed(R"("sms": -4)"), "my.json: sms: -4 " + whole},
        {changed(R"("sms": 0)"), "sms: 0 " + whole},
        {changed(R"("sms": 1000001)"), "sms: 1000001 " + whole},
        {changed(R"("sms": 107.5)"), "sms: 107.5 " + whole},
        {changed(R"("sram_per_sm": {"value": 164, "unit": "KiB"})"), "sram_per_sm.unit: \"KiB\" is not its unit"},
        {changed(R"("sms": {"value": 4, "confirmed": "no"})"), "sms.confirmed: write true or false"},
        {changed(R"("sms": "108")"), "sms: \"108\" " + whole},
        {changed(R"("sms": true)"), "sms: true " + whole},
        {changed(R"("sms": [108])"), "sms: [108] " + whole},
        {changed(R"("sms": null)"), "sms: null " + whole},
        {changed(R"("sms": {"value": null, "source": "x"})"), "sms: null " + whole},
        {changed(R"("sms": 18446744073709551615)"), "sms: 18446744073709551615 " + whole},
        {changed(R"("sms": 99999999999999999999999)"), "sms: "},
        {changed(R"("sms": 1e999)"), "sms: the number is too large"},
        {changed(R"("sms": -1e999)"), "sms: the number is too large"},
        {changed(R"("sms": {"value": 1e999})"), "sms: the number is too large"},
        {changed(R"("sms": NaN)"), "not valid JSON at line 1"},
        {changed(R"("sms": Infinity)"), "not valid JSON at line 1"},
        {changed(R"("hbm_bytes": 1125899906842625)"), "hbm_bytes: 1125899906842625 is not allowed"},
        {changed(R"("sram_per_sm": 1073741825)"), "sram_per_sm: 1073741825 is not allowed"},
        {changed(R"("hbm_gbs": 0)"), "hbm_gbs: 0 is not allowed: write a number from 1e-06 to 1000000000 (GB/s)"},
        {changed(R"("hbm_gbs": -1.5)"), "hbm_gbs: -1.5 is not allowed"},
        {changed(R"("hbm_gbs": 1e-320)"), "hbm_gbs: "},
        {changed(R"("hbm_gbs": null)"), "hbm_gbs: null is not allowed"},
        {changed(R"("l2_bytes_per_clk": "fast")"),
         "l2_bytes_per_clk: \"fast\" is not allowed: write a number from 1e-06 to "
         "1000000000 (B/clk), or null if unknown"},
        {changed(R"("sram_per_block": 200000)"), "sram_per_block: more than sram_per_sm: write 167936 or less"},
        {changed(R"("sram_per_sm": 1000)"), "sram_per_block: more than sram_per_sm: write 1000 or less"},
        // objects
        {changed(R"("sms": {"source": "x"})"), "sms: has no \"value\": write a whole number"},
        {changed(R"("sms": {})"), "sms: has no \"value\""},
        {changed(R"("sms": {"value": 4, "sorce": "x"})"), "sms.sorce: unknown key: did you mean source?"},
        {changed(R"("sms": {"value": 4, "source": 5})"), "sms.source: 5 is not a text"},
        {changed(R"("sms": {"value": {"value": 4}})"), "sms: {\"value\":4} is not allowed"},
        {changed(R"("sms": {"value": 4, "source": ")" + std::string(301, 'x') + "\"}"),
         "sms.source: 301 bytes of text"},
        // keys
        {changed(R"("smss": 4)"), "smss: unknown key: did you mean sms?"},
        {changed(R"("SMs": 4)"), "SMs: unknown key: did you mean sms?"},
        {changed(R"("l2": 4)"), "l2: unknown key: did you mean l2_bytes?"},
        {changed(R"("sram": 4)"), "sram: unknown key: did you mean sram_per_sm?"},
        {changed(R"("tensor_tflop": 4)"), "tensor_tflop: unknown key: did you mean tensor_tflops?"},
        {changed(R"("ab\n\u001b": 4)"), R"('ab\n\x1b': unknown key)"},
        {changed("\"" + std::string(100'000, 'k') + "\": 4"), "kkk...kkk"},
        {changed(R"("sms": 4, "sms": 5)"), "sms: written twice"},
        {changed(R"("base": "T4")"), "base: written twice"},
        {changed(R"("sms": {"value": 4, "value": 5})"), "sms.value: written twice"},
        // texts
        {changed(R"("name": 5)"), "name: 5 is not a text: write it in \"quotes\""},
        {changed(R"("name": "")"), "name: 0 bytes of text: write 1 to 100"},
        {changed("\"title\": \"" + std::string(101, 'x') + "\""), "title: 101 bytes of text: write 1 to 100"},
        {changed(R"("name": "a\u0007b")"), "name: \"a\\u0007b\" has a control character: remove it"},
        {changed(R"("name": "a\nb")"), "name: \"a\\nb\" has a control character"},
        {changed(R"("name": "a\u007fb")"), R"(name: '"a\x7fb"' has a control character)"},
        {changed(R"("name": "a\u009bb")"), "has a control character"},
        {changed("\"name\": \"a\nb\""), "not valid JSON at line 2"},
        {changed("\"name\": \"\xff\""), "ill-formed UTF-8 byte"},
        {changed(R"("name": "\ud800")"), "not valid JSON at line 1"},
        {changed("\"sms\xc0\": 4"), "ill-formed UTF-8 byte"},
        {changed(R"("schema": "tilescope.gpu/2")"), R"(schema: "tilescope.gpu/2" is unknown: write "tilescope.gpu/1")"},
        {changed(R"("schema": 1)"), "schema: 1 is unknown"},
        {R"({"base": "A1000"})", R"(my.json: base: "A1000": unknown GPU, did you mean A100-40GB?)"},
        {R"({"base": "rtx"})", R"(base: "rtx": several GPUs begin like that: write one of RTX-3090, RTX-4090)"},
        {R"({"base": 4})", "base: 4 is not a text"},
        {R"({"base": "my.json"})", R"(base: "my.json": unknown GPU)"},
        // the whole text
        {"", "not valid JSON at line 1"},
        {" \n\n", "not valid JSON at line 3"},
        {"{", "not valid JSON at line 1"},
        {"[]", "must hold one JSON object"},
        {"null", "must hold one JSON object"},
        {"4", "must hold one JSON object"},
        {"1e999", "the number is too large"},
        {changed("\"sms\": 4") + "}", "not valid JSON at line 1"},
        {changed("\"sms\": 4,"), "not valid JSON at line 1"},
        {changed("\"sms\": 4 // four"), "not valid JSON at line 1"},
        {std::string("\0{}", 3), "not valid JSON at line 1"},
    };
    for (const auto& [json, expected] : mistakes) {
        const std::string message = complaint_about(json);
        CAPTURE(json.substr(0, 200), expected, message);
        CHECK(message.starts_with("gpu my.json: "));
        CHECK(contains(message, expected));
    }
}

// What took more than linear time would not end here.
TEST_CASE("hostile files are refused quickly", "[gpu]") {
    const std::size_t deep = 100'000;
    const std::vector<std::pair<std::string, std::string>> hostile = {
        {repeated("[", deep), "nested too deeply"},
        {repeated("[", deep) + repeated("]", deep), "nested too deeply"},
        {repeated("{\"a\":", deep), "nested too deeply"},
        {changed("\"sms\": " + repeated("[", deep)), "nested too deeply"},
        {changed("\"sms\": " + repeated("{\"value\":", deep)), "nested too deeply"},
        {std::string(1 << 20, ' ') + "{}", "larger than 1 MiB"},
        {"\"" + std::string((1 << 20) - 2, '\\') + "\"", ""},
        {"[" + repeated("[],", 300'000) + "0]", "must hold one JSON object"},
        {"{" + repeated("\"\":1,", 200'000) + "\"x\":1}", "written twice"},
        {changed("\"sms\": " + std::string(1'000'000, '9')), "sms: "},
        {changed("\"sms\": [" + repeated("1,", 500'000) + "1]"), "is not allowed: write a whole number"},
        {changed("\"sms\": 0." + std::string(1'000'000, '0') + "1"), "sms: 0.0 is not allowed"},
    };
    for (const auto& [json, expected] : hostile) {
        const std::string message = complaint_about(json);
        CAPTURE(json.substr(0, 50), message);
        CHECK(contains(message, expected));
    }
}

TEST_CASE("a path that cannot be read is named", "[gpu][posix]") {
    const Folder folder;
    const auto load = [](const std::string& path) { return complaint([&] { load_gpu(path); }); };
    CHECK(contains(load(folder / "absent.json"), "absent.json: cannot be opened (No such file or directory)"));
    CHECK(contains(load("absent.json"), "gpu absent.json: cannot be opened"));
    CHECK(contains(load(folder / ""), "is a folder: write the path of a .json file"));
    CHECK(contains(load("/dev/zero"), "is not a regular file"));
    CHECK(contains(load("/" + std::string(10'000, 'x')), "cannot be opened"));
    CHECK(contains(load("no\n/such"), "no\\n/such': cannot be opened"));
    CHECK(contains(complaint([] { gpu_numbers("./absent"); }), "cannot be opened"));

    const std::string empty = folder / "empty.json", plain = folder / "plain", large = folder / "large.json";
    write_bytes(empty, "");
    CHECK(contains(load(empty), "not valid JSON at line 1"));
    write_bytes(plain, gpu_json(gpu_preset("v100")));  // a '/' is enough to be a path
    check_equal(load_gpu(plain), gpu_preset("v100"));
    write_bytes(large, gpu_json(gpu_preset("v100")) + std::string(1 << 20, ' '));
    CHECK(contains(load(large), "larger than 1 MiB"));
}
