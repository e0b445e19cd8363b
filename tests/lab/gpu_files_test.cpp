// GPU files of users: files that change a preset or describe a whole GPU, and what can be wrong with them.
#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <set>

#include "lab/gpu/gpu_fields.hpp"
#include "lab/gpu/gpu_json.hpp"
#include "lab/gpu/gpu_presets.hpp"
#include "tests/lab/gpu_checks.hpp"

using namespace tilescope;
using namespace tilescope::lab;

namespace {

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

    // A given number stays, also where it equals the base's.
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

    // A file without a base states a peak and its factors, which may contradict each other. A recording, which may be
    // of an older version, is accepted all the same.
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
    // A GPU that is no file has no folder, so the message does not suggest a path.
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
    // A source that quotes a source stays short enough to be read again.
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

TEST_CASE("a file that is older than what calibrate reads of lanes has the machine that it had", "[gpu]") {
    for (const char* name : {"H100-SXM", "H200"}) {
        const GpuSpec now = gpu_preset(name);
        int lacking = 0;
        for (const GpuField& f : gpu_fields()) {
            const auto* member = std::get_if<std::optional<double> GpuSpec::*>(&f.member);
            if (!member || !f.measured) continue;
            const auto number = *member;
            if (!(now.*number)) continue;
            GpuSpec other = now, old = now;
            other.*number = 0.5 * *(now.*number), old.*number = std::nullopt;
            CAPTURE(name, f.key);
            CHECK_FALSE(same_machine(other, now));
            CHECK(same_machine(old, now) == f.assumed);
            CHECK(is_changed_preset(old) != f.assumed);
            lacking += f.assumed;
        }
        CHECK(lacking == 13);
    }
}

// Files put some numbers at their limits, with the numbers that follow from them.
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

// An algorithm that takes more than linear time would not end here.
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
    write_bytes(plain, gpu_json(gpu_preset("v100")));  // a '/' in the name makes it a path
    check_equal(load_gpu(plain), gpu_preset("v100"));
    write_bytes(large, gpu_json(gpu_preset("v100")) + std::string(1 << 20, ' '));
    CHECK(contains(load(large), "larger than 1 MiB"));
}
