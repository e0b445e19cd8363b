#include "show/words/tables.hpp"

#include <algorithm>

#include "core/text/numbers.hpp"
#include "lab/report/metric.hpp"
#include "tests/support/sessions.hpp"

using namespace tilescope;
using namespace tilescope::lab;
using namespace tilescope::show;

namespace {

const CounterRow& row_named(const std::vector<CounterRow>& rows, const std::string& name) {
    return *std::find_if(rows.begin(), rows.end(), [&](const CounterRow& r) { return r.name == name; });
}

}  // namespace

TEST_CASE("every counter has its row, its number and its unit", "[tables]") {
    WaitingSession session = session_of("flash_v2", toy);
    Run& run = *session.run();
    run.seek(run.ticks());
    const auto rows = counter_rows(run, "standard", session.counted("standard"));
    // By hand: Q once, and K and V four times, 256 B each; O 256 B and LSE 64 B. Two products of 4 x 4 x 4 for each of
    // 16 tiles. An exponential for every score, and for every row of every tile.
    const std::pair<const char*, const char*> wanted[] = {{"SM read", "2.30 kB"},     {"SM written", "320 B"},
                                                          {"matmul FLOPs", "4.10 k"}, {"exponentials", "320"},
                                                          {"launches", "1"},          {"thread blocks", "4"}};
    for (const auto& [name, number] : wanted) {
        INFO(name);
        CHECK(row_named(rows, name).whole.text == number);
        CHECK(row_named(rows, name).so_far.text == number);
    }
    CHECK(
        row_named(rows, "SM read").whole.explanation ==
        "SM read: 2,304 B\nbytes that SMs read across their boundary, whether the L2 has them or not; the papers' HBM "
        "accesses");
    CHECK(row_named(rows, "matmul FLOPs").whole.explanation ==
          "matmul FLOPs: 4,096 FLOP\nof matrix products; a multiply-add is 2");
    CHECK(row_named(rows, "exponentials").whole.explanation == "exponentials: 320\nexponentials");
}

TEST_CASE("every row is a metric of the one list, as that calls and explains it", "[tables]") {
    WaitingSession session = session_of("flash_v2", toy);
    for (const CounterRow& row : counter_rows(*session.run(), "standard", session.counted("standard"))) {
        INFO(row.name);
        const auto is_it = [&](const Metric& m) { return row.name == m.title; };
        REQUIRE(std::count_if(metrics().begin(), metrics().end(), is_it) == 1);
        const Metric& m = *std::find_if(metrics().begin(), metrics().end(), is_it);
        CHECK(row.brief == m.brief);
        CHECK(row.explanation.ends_with(m.meaning));
        CHECK(row.whole.explanation.find(m.meaning) != std::string::npos);
    }
}

TEST_CASE("rows follow the counters they are named after", "[tables]") {
    WaitingSession session = session_of("flash_v1", half);
    Run& run = *session.run();
    run.seek(run.ticks() / 2);
    const Counters &whole = run.counted().counters, &so_far = run.player().state().total;
    const auto rows = counter_rows(run, "standard", nullptr);
    const auto digits = [](const TableCell& c) {
        std::string number = c.explanation.substr(c.explanation.find(": ") + 2);
        number = number.substr(0, number.find_first_of(" \n"));
        std::erase(number, ',');
        return std::stoll(number);
    };
    const std::pair<const char*, Count Counters::*> named[] = {
        {"SM read", &Counters::hbm_read},           {"SM written", &Counters::hbm_write},
        {"SRAM read", &Counters::sram_read},        {"SRAM written", &Counters::sram_write},
        {"matmul FLOPs", &Counters::matmul_flops},  {"exponentials", &Counters::exps},
        {"other FLOPs", &Counters::other_flops},    {"launches", &Counters::launches},
        {"thread blocks", &Counters::thread_blocks}};
    for (const auto& [name, member] : named) {
        INFO(name);
        CHECK(digits(row_named(rows, name).whole) == whole.*member);
        CHECK(digits(row_named(rows, name).so_far) == so_far.*member);
    }
    CHECK(digits(row_named(rows, "registers").whole) == whole.register_read + whole.register_write);
    CHECK(*row_named(rows, "SM read").progress == double(run.hbm_read(run.tick())) / double(run.hbm_read(run.ticks())));
    CHECK_FALSE(row_named(rows, "SRAM read").progress);
}

TEST_CASE("the other algorithm's numbers stand beside, or that it does not fit", "[tables]") {
    WaitingSession session = session_of("flash_v1", half);
    const Run& run = *session.run();
    const Report* standard = session.counted("standard");
    REQUIRE(standard);
    const auto rows = counter_rows(run, "standard", standard);
    CHECK(row_named(rows, "SM read").other.explanation ==
          "SM read: " + text::grouped(standard->counters.hbm_read) + " B\n" + find_metric("hbm_read_bytes")->meaning);
    CHECK(row_named(rows, "SM read").ratio == "×2.2");
    CHECK(row_named(rows, "launches").ratio == "×3.0");
    const auto none = counter_rows(run, "standard", nullptr);
    CHECK(none[0].other.text == "does not fit");
    CHECK(none[0].other.explanation == "standard does not fit on chip with this tiling");
    CHECK(none[0].ratio.empty());
}

TEST_CASE("a ratio has two digits, and the larger number above one", "[tables]") {
    CHECK(ratio_text(22, 10) == "×2.2");
    CHECK(ratio_text(10, 22) == "×0.45");
    CHECK(ratio_text(123, 10) == "×12");
    CHECK(ratio_text(10, 10) == "×1.0");
    CHECK(ratio_text(10, 0).empty());
}

TEST_CASE("every tensor has its bytes, and the total is their sum", "[tables]") {
    WaitingSession session = session_of("flash_v2", toy);
    Run& run = *session.run();
    run.seek(2);  // after the load of Q
    const auto rows = tensor_rows(run);
    REQUIRE(rows.size() == 5);
    CHECK(rows[0].name.text == "Q");
    CHECK(rows[0].name.explanation == "Q: input");
    CHECK(rows[0].size.text == "256 B");
    CHECK(rows[0].read.text == "256 B");
    CHECK(rows[0].read.share == 1);
    CHECK(rows[1].name.text == "K");
    CHECK(rows[1].read.text == "0 B");
    CHECK_FALSE(rows[1].read.any);
    CHECK(rows[1].all_reads.text == "1.02 kB");
    CHECK(rows[1].all_reads.explanation == "K, read in the whole run: 1,024 B");
    CHECK(rows[1].all_reads.share == 1);
    CHECK(rows[4].name.text == "LSE");
    CHECK(rows[4].all_writes.text == "64 B");
    const TensorRow total = tensor_total(run);
    CHECK(total.size.explanation == "all tensors in HBM: 1,088 B");
    CHECK(total.read.text == "256 B");
    CHECK(total.all_reads.explanation == "read in the whole run: 2,304 B");
    CHECK(total.all_writes.explanation == "written in the whole run: 320 B");
}
