#include "device/ncu.hpp"

#include <cmath>

#include "core/machine/counters.hpp"
#include "core/machine/error.hpp"
#include "device/csv.hpp"
#include "device/driver.hpp"
#include "tests/support/catch.hpp"

using namespace tilescope;
using namespace tilescope::device;

namespace {

// Output of Nsight Compute with --csv --page raw, shortened: its own lines, a header, units, and a row per launch.
constexpr const char* report =
    R"csv(==PROF== Connected to process 4711 (/opt/tilescope)
==PROF== Profiling "scores_kernel" - 0 (1/2): 0%....50%....100% - 6 passes
==PROF== Profiling "output_kernel" - 1 (2/2): 0%....50%....100% - 6 passes
==PROF== Disconnected from process 4711
"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC","dram__bytes_read.sum","gpu__time_duration.sum","l1tex__m_xbar2l1tex_read_bytes.sum","launch__occupancy_limit_registers","launch__occupancy_limit_shared_mem","launch__waves_per_multiprocessor","lts__t_sectors_srcunit_tex_op_write.sum","sm__inst_executed_pipe_tensor.sum","smsp__inst_executed_pipe_xu.sum","smsp__sass_thread_inst_executed_op_ffma_pred_on.sum"
"","","","","","","","","","","","byte","nsecond","byte","block","block","","sector","inst","inst","inst"
"0","4711","tilescope","host","void scores_kernel<64, 64>(Args)","1","13","(128, 1, 1)","(64, 16, 1)","0","9.0","50,331,648","1,234","2,164,260,864","2","3","3.88","524,288","n/a","131,072","1,000"
"1","4711","tilescope","host","void ""odd, name""(int)","1","13","(128, 1, 1)","(64, 16, 1)","0","9.0","8","56,789.5","136","4","1","0.5","2","n/a","0","24"
)csv";

double metric(const NcuLaunch& l, const char* name) { return l.metrics.at(name); }

}  // namespace

TEST_CASE("ncu: its CSV is found among its other lines and read", "[ncu]") {
    const auto launches = parse_ncu(report);
    REQUIRE(launches.size() == 2);
    CHECK(launches[0].kernel == "void scores_kernel<64, 64>(Args)");
    CHECK(launches[1].kernel == "void \"odd, name\"(int)");
    CHECK(metric(launches[0], "l1tex__m_xbar2l1tex_read_bytes.sum") == 2164260864.0);
    CHECK(metric(launches[0], "gpu__time_duration.sum") == 1234);
    CHECK(metric(launches[1], "gpu__time_duration.sum") == 56789.5);
    CHECK(launches[0].metrics.count("sm__inst_executed_pipe_tensor.sum") == 0);
    CHECK(launches[0].metrics.count("Stream") == 0);
}

TEST_CASE("ncu: units are brought to bytes and nanoseconds", "[ncu]") {
    const auto launches = parse_ncu(
        "\"ID\",\"Kernel Name\",\"dram__bytes_read.sum\",\"dram__bytes_write.sum\",\"gpu__time_duration.sum\"\r\n"
        "\"\",\"\",\"Mbyte\",\"Kbyte\",\"usecond\"\r\n"
        "\"0\",\"k\",\"1.5\",\"2,000.25\",\"3.5\"\r\n");
    REQUIRE(launches.size() == 1);
    CHECK(metric(launches[0], "dram__bytes_read.sum") == 1.5e6);
    CHECK(metric(launches[0], "dram__bytes_write.sum") == 2000250);
    CHECK(metric(launches[0], "gpu__time_duration.sum") == 3500);
}

TEST_CASE("ncu: the launches of an algorithm add up", "[ncu]") {
    const Measured m = combine(parse_ncu(report));
    CHECK(m.read_bytes == 2164261000.0);
    CHECK(m.write_bytes == 32.0 * (524288 + 2));
    CHECK(m.dram_read_bytes == 50331656.0);
    CHECK(!m.dram_write_bytes);
    CHECK(m.xu_ops == 32.0 * 131072);
    CHECK(m.ffma_flops == 2 * 1024.0);
    CHECK(!m.tensor_instructions);
    CHECK(std::abs(m.microseconds.value_or(0) - 58.0235) < 1e-9);
    // From the second launch, which took longer.
    CHECK(m.blocks_by_shared == 1.0);
    CHECK(m.blocks_by_registers == 4.0);
    CHECK(m.blocks_per_sm() == 1.0);
    CHECK(m.waves == 0.5);
    CHECK(!combine({}).read_bytes);
}

TEST_CASE("ncu: what goes wrong is told", "[ncu]") {
    CHECK(ncu_problem(report).empty());
    CHECK(unknown_metrics(report).empty());
    const std::string denied =
        "==PROF== Connected to process 1 (/t)\n"
        "==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU Performance Counters on "
        "the target device 0.\n";
    CHECK_THAT(ncu_problem(denied), Catch::Matchers::ContainsSubstring("ERR_NVGPUCTRPERM"));
    CHECK(ncu_problem(denied).ends_with(how_to_read_counters(rights())));
    CHECK(parse_ncu(denied).empty());
    CHECK(ncu_problem("==ERROR== Something else\n") == "ncu says: Something else");
    CHECK(ncu_problem("==ERROR== Some\x1b[m\n") == R"(ncu says: 'Some\x1b[m')");
    CHECK(unknown_metrics("==ERROR== Failed to find metric sm__inst_executed_pipe_tensor.sum\n") ==
          std::vector<std::string>{"sm__inst_executed_pipe_tensor.sum"});
    CHECK(unknown_metrics("==PROF== sm__inst_executed_pipe_tensor.sum\n").empty());
}

TEST_CASE("ncu: rows cut short are passed over, and nonsense is refused by name", "[ncu]") {
    CHECK(parse_ncu("").empty());
    CHECK(parse_ncu("\"0\",\"1\"\n").empty());
    CHECK(parse_ncu("\"ID\",\"Kernel Name\",\"dram__bytes_read.sum\"\n\"0\",\"k\"\n").empty());
    const auto of = [](const std::string& cell, const std::string& unit = "byte") {
        return parse_ncu("\"ID\",\"Kernel Name\",\"dram__bytes_read.sum\"\n\"\",\"\",\"" + unit + "\"\n\"0\",\"k\",\"" +
                         cell + "\"");
    };
    for (const char* none : {"", "n/a", "N/A", "nan", "-", "#N/A", "(!) n/a"}) {
        const auto launches = of(none);
        REQUIRE(launches.size() == 1);
        CHECK(launches[0].metrics.empty());
        CHECK(launches[0].not_available.contains(NcuMetric::dram_read));
    }
    for (const char* wrong : {"1,2x", "abc", "inf", "-5", "1e300"}) {
        INFO(wrong);
        CHECK_THROWS_AS(of(wrong), UsageError);
    }
    CHECK(of("237,216", "Mbyte")[0].metrics.at(NcuMetric::dram_read) == Catch::Detail::Approx(237.216e6));
    CHECK(of("237,216")[0].metrics.at(NcuMetric::dram_read) == 237216);
}

TEST_CASE("csv: a file's numbers are read as it writes them, or it is said that they cannot be", "[ncu]") {
    const auto read = [](std::vector<std::string> cells, char separator = ',') {
        Numbers numbers(separator);
        for (const std::string& c : cells) numbers.see(c);
        return numbers.read(cells[0]);
    };
    CHECK(read({"1,234"}) == 1234.0);
    CHECK(read({"1,234", "0.5"}) == 1234.0);
    CHECK(read({"1,234", "0,5"}) == 1.234);
    CHECK(read({"1,234", "12345"}) == 1.234);
    CHECK(read({"1.234", "12345"}) == 1.234);
    CHECK(read({"1.234", "1.234.567"}) == 1234.0);
    CHECK(read({"0,125"}) == 0.125);
    CHECK(read({"1234,125"}) == 1234.125);
    CHECK(read({"1.234,5"}) == 1234.5);
    CHECK(read({"1 234 567"}) == 1234567.0);
    CHECK(read({"1'234.5"}) == 1234.5);
    CHECK(read({"-1.5E+06"}) == -1.5e6);
    CHECK(read({"2e3"}) == 2000.0);
    CHECK(read({"12"}) == 12.0);
    CHECK(read({"1,234", "12345"}, ';') == 1.234);
    for (const char* none : {"", "n/a", "nan", "inf", "1,2x", "e5", "-", ",", "(1, 2)"}) CHECK_FALSE(read({none}));
    CHECK_THROWS_AS(read({"1,234"}, ';'), UsageError);
    CHECK_THROWS_AS(read({"1,5", "1.5"}), UsageError);
    CHECK_THROWS_AS(read({"1,234,567", "1.234.567"}), UsageError);
}

TEST_CASE("csv: text is brought to UTF-8, and cells may be quoted", "[ncu]") {
    CHECK(in_utf8("\xEF\xBB\xBFx") == "x");
    CHECK(in_utf8(std::string_view("\xFF\xFEx\0\xB5\0", 6)) == "x\xC2\xB5");
    CHECK(in_utf8(std::string_view("\xFE\xFF\0x\xD8\x3D\xDE\x00", 8)) == "x\xF0\x9F\x98\x80");
    CHECK(in_utf8(std::string_view("x\0y\0", 4)) == "xy");
    CHECK(in_utf8("\xFF\xFEx") == "");  // half a character
    CHECK(lines_of("a\r\n\nb") == std::vector<std::string_view>{"a", "", "b"});
    CHECK(cells_of("a,\"b,\"\"c\",") == std::vector<std::string>{"a", "b,\"c", ""});
    CHECK(cells_of("a;b,c", ';') == std::vector<std::string>{"a", "b,c"});
}
