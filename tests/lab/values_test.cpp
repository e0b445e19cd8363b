// Values of flags and command lines as people write them, read and written again.
#include "lab/flags/values.hpp"

#include <CLI/CLI.hpp>

#include "core/machine/error.hpp"
#include "core/text/numbers.hpp"
#include "lab/flags/options.hpp"
#include "lab/flags/parse.hpp"
#include "lab/study/vary.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/folder.hpp"

using namespace tilescope;
using namespace tilescope::lab;
using Catch::Matchers::ContainsSubstring;

namespace {

std::string refusal(const std::function<void()>& f) { return message_of<UsageError>(f); }

/// A program with a subcommand, a bounded flag and a plain one.
struct Program {
    Program() : app("", "prog") {
        app.require_subcommand(1);
        CLI::App* run = app.add_subcommand("run");
        run->add_option("ALGO", algorithm)->required();
        add_problem_options(*run, options);
        add_numeric_options(*run, options);
        app.add_subcommand("replay");
    }
    std::string refused(const std::vector<std::string>& words) {
        return refusal([&] { parse(app, words); });
    }
    CLI::App app;
    Options options;
    std::string algorithm;
};

}  // namespace

TEST_CASE("whole numbers may be multiples of 1024", "[flags]") {
    const std::vector<std::pair<std::string, Index>> numbers = {
        {"0", 0}, {"64", 64}, {"-3", -3}, {"16k", 16384}, {"16K", 16384}, {"1M", 1 << 20}, {"2G", Index{2} << 30}};
    for (const auto& [text, value] : numbers) CHECK(to_index("--seq", text) == value);
    CHECK(to_seed("--seed", "18446744073709551615") == ~std::uint64_t{0});
}

TEST_CASE("what is no whole number is refused with the one that was meant", "[flags]") {
    const std::vector<std::pair<std::string, std::string>> meant = {
        {"1e3", "1000"},   {"16kb", "16k"}, {"16KiB", "16k"}, {"16 k", "16k"}, {"1.5k", "1536"}, {"1,024", "1024"},
        {"1_024", "1024"}, {"2m", "2M"},    {"1.5", "2"},     {"64px", "64"},  {"many", "64"},   {"", "64"},
        {"k", "64"},       {"+8", "64"},    {"0x10", "64"},   {"1e300", "64"}, {"nan", "64"},    {"-1e3", "64"}};
    for (const auto& [text, fix] : meant) {
        const std::string why = refusal([&, t = text] { to_index("--seq", t); });
        CAPTURE(text);
        CHECK_THAT(why, Catch::Matchers::StartsWith("--seq "));
        CHECK(why.ends_with(": must be a whole number; try --seq " + fix));
    }
    CHECK(refusal([] { to_index("--seq", "99999999999999999999"); }) ==
          "--seq 99999999999999999999: is too large; try --seq 65536");
    CHECK(refusal([] { to_index("--seq", "9223372036854775807k"); }) ==
          "--seq 9223372036854775807k: is too large; try --seq 65536");
    for (const char* text : {"-1", "1025", "4294967297", "99999999999999999999"})
        CHECK(refusal([&] {
                  to_index("--threads", text, {0, 1024, 8});
              }) == std::string("--threads ") + text + ": must be from 0 to 1024; try --threads 8");
    CHECK(refusal([] { to_seed("--seed", "-1"); }) ==
          "--seed -1: must be a whole number from 0 to 2^64 - 1; try --seed 1");
}

TEST_CASE("numbers are digits, whatever the library takes for one", "[flags]") {
    for (const char* text : {"0.5", "-2", "1e-310", ".5", "1e5", "5e-324", "1.7976931348623157e308"})
        CHECK(text::to_number(text) == std::strtod(text, nullptr));
    for (const char* text : {"", " 8", "8 ", "0x1p3", "nan", "inf", "-inf", "+1", "1e999", "1,5", "--1", "1e", "."})
        CHECK(!text::to_number(text));
    CHECK(refusal([] { to_real("--scale", " 0x1p3", "0.125"); }) ==
          "--scale ' 0x1p3': must be a finite number; try --scale 0.125");
}

TEST_CASE("a number is written with the digits that read back", "[flags]") {
    CHECK(text::exact(0.1) == "0.1");
    CHECK(text::exact(100) == "100");
    CHECK(text::exact(1e20) == "1e+20");
    CHECK(text::exact(1e-310) == "1e-310");
    CHECK(text::exact(1 / 3.0) == "0.3333333333333333");
    double x = 0.3;
    for (int k = 0; k < 2000; ++k, x = x * 1.0371 + 1e-3) CHECK(text::to_number(text::exact(x)) == x);
}

TEST_CASE("ranges of sizes may be written with k, M and G", "[flags]") {
    CHECK(parse_axis("seq=1k:4k:x2").values == std::vector<std::string>{"1024", "2048", "4096"});
    CHECK(parse_axis("seq=1k:3k:+1k").values == std::vector<std::string>{"1024", "2048", "3072"});
    CHECK(parse_axis("seq=8k,32k").values == std::vector<std::string>{"8k", "32k"});
    Options o;
    set_flag(o, "seq", "8k"), set_flag(o, "br", "1k");
    CHECK(flags_of(o) == std::vector<std::string>{"--seq", "8192", "--br", "1024"});
    set_flag(o, "l2-bytes", "25M");
    CHECK(flags_of(o) == std::vector<std::string>{"--seq", "8192", "--br", "1024", "--l2-bytes", "26214400"});
    CHECK_THAT(refusal([&] { set_flag(o, "head-dim", "8"); }),
               ContainsSubstring("the head dimension is --dim here; try `tilescope run flash_v2 --dim 8`"));
}

TEST_CASE("what a command line has too much or too little of is said in one line", "[flags]") {
    Program p;
    CHECK(p.refused({"runn"}) == "runn: unknown subcommand; did you mean run?; see `prog --help`");
    CHECK(p.refused({"run", "a", "--dimm", "128"}) ==
          "--dimm: unknown flag; did you mean --dim?; see `prog run --help`");
    CHECK(p.refused({"run", "--dimm"}) == "--dimm: unknown flag; did you mean --dim?; see `prog run --help`");
    CHECK(p.refused({"run", "a", "--head-dim", "128"}) ==
          "--head-dim: unknown flag; the head dimension is --dim here; try `prog run a --dim 128`; see `prog run "
          "--help`");
    CHECK(contains(p.refused({"run", "--num-heads=32", "a b", "--seq", "8", "--head-dim", "64", "--bf16"}),
                   "try `prog run --heads 32 'a b' --seq 8 --dim 64 --dtype bf16`"));
    CHECK(contains(p.refused({"run", "a", "--num-heads", "32", "--tma"}), "try `tilescope run flash_v2 --heads 32`"));
    CHECK(contains(p.refused({"run", "a", "--sliding-window", "64", "--seq", "8"}), "try `tilescope run flash_v2 "));
    CHECK(contains(p.refused({"run", "--seqlen-q", "12"}), "try `tilescope run flash_v2 --seq-q 12`"));  // ALGO is 12
    CHECK(p.refused({"run"}) == "ALGO: is required; see `prog run --help`");
    CHECK(p.refused({}) == "a subcommand is required; see `prog --help`");
    CHECK(p.refused({"--seq", "3"}) ==
          "--seq: a subcommand comes first, as in `prog run flash_v2 --seq 4096`; see `prog --help`");
    CHECK(p.refused({"run", "a", "b"}) == "b: means nothing here; leave it out; see `prog run --help`");
    CHECK(p.refused({"run", "a", "--seq"}) == "--seq: needs a value; see `prog run --help`");
    CHECK(p.refused({"run", "a", "--seq", "1", "--seq", "2"}) == "--seq: is there twice; see `prog run --help`");
    CHECK(p.refused({"run", "a", "--causal=1x\x1b"}) ==
          R"(--causal '1x\x1b': must be true or false; try --causal=true)");
    CHECK(p.refused({"run", "a", "--causal=false"}) == "(nothing was thrown)");
    CHECK(p.options.causal == false);
    CHECK_THAT(p.refused({"run", "a", "--threads", "-1"}), ContainsSubstring("must be from 0 to 1024"));
    CHECK_THAT(p.refused({"run", "a", "--distribution", "normale"}), ContainsSubstring("try --distribution normal"));
}
