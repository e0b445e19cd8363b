#include "show/words/narration.hpp"

#include <set>

#include "show/run/loop_nest.hpp"
#include "show/run/session.hpp"
#include "tests/support/catch.hpp"

using namespace tilescope;
using namespace tilescope::lab;
using namespace tilescope::show;

namespace {

using Flags = std::vector<std::pair<std::string, std::string>>;

/// Four row tiles and four key tiles on four SMs.
const Flags blackboard = {{"gpu", "toy"}, {"seq", "16"}, {"dim", "4"},    {"heads", "1"},
                          {"br", "4"},    {"bc", "4"},   {"dtype", "f32"}};

Session told_session(const std::string& algorithm, const Flags& flags, RecordingLimits limits = {}) {
    Setup setup;
    setup.algorithm = algorithm;
    for (const auto& [flag, value] : flags) {
        // The softmax kernels do not have these flags.
        if (find_algorithm(algorithm)->computes == &computation::softmax && (flag == "dim" || flag == "causal"))
            continue;
        set_flag(setup.options, flag, std::string(value));
    }
    Session session(limits);
    session.ask(setup);
    session.finish();
    INFO(algorithm << ": " << session.problem());
    REQUIRE(session.run());
    return session;
}

std::string said(Run& run, Index tick, std::size_t sm = 0) {
    run.seek(tick);
    return what_happens(run, run.moment().sms.at(sm));
}

/// What is said about SM 0 from tick `begin` up to the one before `end`.
std::vector<std::string> story(Run& run, Index begin, Index end) {
    std::vector<std::string> all;
    for (Index tick = begin; tick < end; ++tick) all.push_back(said(run, tick));
    return all;
}

bool starts_with(const std::string& text, const std::string& start) { return text.rfind(start, 0) == 0; }

}  // namespace

TEST_CASE("flash_v2 tells its story", "[narration]") {
    Session session = told_session("flash_v2", blackboard);
    Run& run = *session.run();
    CHECK(story(run, 0, 16) ==
          std::vector<std::string>{
              "Nothing has run yet: Q, K and V are in HBM.",
              "The host launches kernel flash_v2: 4 thread blocks for 4 SMs.",
              "SM 0 takes thread block 0 and loads Q, rows 0–3 (64 B), from HBM into SRAM.",
              "SM 0 makes O (4 × 4) = 0, l (4 × 1) = 0 and m (4 × 1) = −∞ in registers.",
              "SM 0 loads K, rows 0–3 (64 B), from HBM into SRAM.",
              "SM 0 loads V, rows 0–3 (64 B), from HBM into SRAM.",
              "SM 0 multiplies 0.5 Q by Kᵀ into S (4 × 4): 128 FLOPs.",
              "SM 0 copies m into m_old (4 × 1).",
              "SM 0 raises m to the greatest value of each row of S (4 × 4): 16 comparisons.",
              "SM 0 subtracts m from m_old (4 × 1) and takes the exponential, which gives α: 4 exponentials.",
              "SM 0 subtracts the row maxima m from S (4 × 4) and takes the exponential, which gives P~: "
              "16 exponentials.",
              "SM 0 multiplies l (4 × 1) by α: 4 multiplications.",
              "SM 0 adds the sum of each row of P~ (4 × 4) to l: 16 additions.",
              "SM 0 multiplies each row of O (4 × 4) by its α: 16 multiplications.",
              "SM 0 multiplies P~ by V and adds the product to O (4 × 4): 128 FLOPs.",
              "SM 0 loads K, rows 4–7 (64 B), from HBM into SRAM.",
          });
    CHECK(story(run, run.ticks() - 4, run.ticks() + 1) ==
          std::vector<std::string>{
              "SM 0 divides each row of O (4 × 4) by its l: 16 divisions.",
              "SM 0 adds the logarithm of l to m (4 × 1), which gives LSE: 8 FLOPs.",
              "SM 0 stores O, rows 0–3 (64 B), from registers into HBM.",
              "SM 0 stores LSE, rows 0–3 (16 B), from registers into HBM.",
              "SM 0 has finished thread block 0 and gives back Q, O, l and m.",
          });
    CHECK(said(run, 2, 3) == "SM 3 takes thread block 3 and loads Q, rows 12–15 (64 B), from HBM into SRAM.");
    CHECK(why(run, run.moment().sms[0]) == "Once: it stays on chip for the whole inner loop.");
    run.seek(1);
    CHECK(why(run, run.moment().sms[0]).empty());
}

TEST_CASE("sentences name heads, parts of rows and whole launches", "[narration]") {
    Flags flags = blackboard;
    flags.insert(flags.end(), {{"heads", "4"}, {"kv-heads", "2"}});
    Session session = told_session("standard", flags);
    Run& run = *session.run();
    CHECK(said(run, 1) == "The host launches kernel scores: 64 thread blocks for 4 SMs.");
    CHECK(said(run, 2, 1) == "SM 1 takes thread block 1 and loads Q of head 1, rows 0–3 (64 B), from HBM into SRAM.");
    CHECK(said(run, 3, 1) == "SM 1 loads K of KV head 1, rows 4–7 (64 B), from HBM into SRAM.");
    CHECK(said(run, 5, 1) == "SM 1 stores S of head 1, rows 0–3, columns 4–7 (64 B), from registers into HBM.");
    CHECK(loop_nest(run) ==
          std::vector<std::string>{"scores: 64 thread blocks, all shown", "softmax: 4 thread blocks, all shown",
                                   "output: 16 thread blocks, all shown", "each visits line 7 (for j = 1..Tc …) × 4"});
}

TEST_CASE("an SM without a thread block is idle", "[narration]") {
    Flags flags = blackboard;
    flags.insert(flags.end(), {{"seq-q", "20"}});
    Session session = told_session("flash_v2", flags);
    Run& run = *session.run();
    CHECK(said(run, run.ticks(), 3) == "SM 3 is idle: launch flash_v2 has no thread block left for it.");
    CHECK(starts_with(said(run, run.ticks()), "SM 0 has finished thread block 4 "));
    CHECK(why(run, run.moment().sms[3]).empty());
}

TEST_CASE("softmax kernels speak of X", "[narration]") {
    Flags flags = blackboard;
    flags.insert(flags.end(), {{"heads", "2"}});
    Session session = told_session("softmax_naive", flags);
    Run& run = *session.run();
    CHECK(said(run, 0) == "Nothing has run yet: X is in HBM.");
    CHECK(said(run, 3) == "SM 0 loads X of matrix 1, rows 0–3, columns 0–3 (64 B), from HBM into registers.");
    CHECK(said(run, 4) == "SM 0 takes the exponential of X (4 × 4), which gives Y~: 16 exponentials.");
    CHECK(said(run, 5) == "SM 0 adds up each row of Y~ (4 × 4) for l: 12 additions.");
}

TEST_CASE("regions are named by their rows, and by columns where these are not all", "[narration]") {
    Session session = told_session("flash_v2", blackboard);
    const Run& run = *session.run();
    CHECK(rows_of(run, {0, 0, {4, 4}, {0, 4}}) == "rows 4–7");
    CHECK(rows_of(run, {0, 0, {4, 1}, {0, 4}}) == "row 4");
    CHECK(rows_of(run, {0, 0, {4, 4}, {1, 2}}) == "rows 4–7, columns 1–2");
    CHECK(rows_of(run, {0, 0, {0, 16}, {3, 1}}) == "rows 0–15, column 3");
}

TEST_CASE("the loop nest has the totals of the whole run", "[narration]") {
    const Flags long_one = {{"seq", "16384"}, {"heads", "64"}, {"br", "64"}, {"bc", "64"}};
    Session session = told_session("flash_v2", long_one, {.matmul_flops = 1, .value_bytes = 1, .events = 20000});
    CHECK_FALSE(session.run()->has_values());
    const auto nest = loop_nest(*session.run());
    REQUIRE(nest.size() == 2);
    CHECK(starts_with(nest[0], "flash_v2: 16,384 thread blocks, shown: "));
    CHECK(nest[0].ends_with(" of head 1"));
    CHECK(nest[1] == "each visits lines 7–10 (read K_j, V_j from HBM …) × 256");
    CHECK(loop_nest(*session.run(), 0) == nest);

    Session outer = told_session("flash_v1", blackboard);
    CHECK(loop_nest(*outer.run()) == std::vector<std::string>{
                                         "flash_v1: 1 thread block, all shown",
                                         "it visits line 2 (write O = 0, l = 0, m = -inf to HBM) × 4",
                                         "it visits line 6 (read K_j, V_j from HBM) × 4",
                                         "it visits lines 8–13 (read Q_i, O_i, l_i, m_i from HBM …) × 16",
                                     });
    Session passes = told_session("three_pass", blackboard);
    CHECK(loop_nest(*passes.run()) == std::vector<std::string>{
                                          "three_pass: 4 thread blocks, all shown",
                                          "each visits line 3 (for j = 1..Tc …) × 4",
                                          "each visits line 4 (for j = 1..Tc …) × 4",
                                          "each visits lines 5–6 (for j = 1..Tc …) × 4",
                                      });
    Flags flags = blackboard;
    flags.emplace_back("causal", "true");
    Session causal = told_session("flash_v2", flags);
    CHECK(loop_nest(*causal.run()).back() == "each visits lines 7–10 (read K_j, V_j from HBM …) × 2.5 on average");
}

TEST_CASE("loops are known of launches that were not recorded", "[narration]") {
    Session session = told_session("standard", blackboard, {.matmul_flops = 1, .value_bytes = 1, .events = 8});
    const Run& run = *session.run();
    REQUIRE(run.trace().launches().size() == 1);
    CHECK(loop_nest(run) ==
          std::vector<std::string>{"scores: 16 thread blocks, shown: 1", "softmax: 1 thread block, none shown",
                                   "output: 4 thread blocks, none shown", "each visits line 7 (for j = 1..Tc …) × 4"});
}

TEST_CASE("every moment of every algorithm is a sentence of its own words", "[narration]") {
    const std::string flag = GENERATE("", "causal");
    for (const Algorithm& a : algorithms()) {
        Flags flags = blackboard;
        flags.insert(flags.end(), {{"seq-q", "10"}, {"seq-k", "14"}});
        if (!flag.empty()) flags.emplace_back(flag, "true");
        Session session = told_session(a.name, flags);
        Run& run = *session.run();
        std::set<std::string> sentences;
        for (Index tick = 0; tick <= run.ticks(); ++tick) {
            run.seek(tick);
            for (const SmState& sm : run.moment().sms) sentences.insert(what_happens(run, sm));
        }
        CHECK(sentences.size() > 10);
        for (const std::string& s : sentences) {
            CAPTURE(a.name, s);
            CHECK(s.ends_with('.'));
            CHECK(s.find("nan") == std::string::npos);
            CHECK(s.find("carries out") == std::string::npos);  // words for operations without a phrase
            CHECK(s.find('%') == std::string::npos);
        }
        CHECK_FALSE(loop_nest(run).empty());
    }
}
