// One row in every softmax program: the result by mathematics, and the counts of the papers.
#include "show/stage/softmaxes.hpp"

#include <cmath>

#include "tests/support/sessions.hpp"

using namespace tilescope;
using namespace tilescope::show;

namespace {}  // namespace

TEST_CASE("every softmax program ends with the softmax of the row's scores", "[softmaxes]") {
    for (const bool causal : {false, true}) {
        WaitingSession session = session_of("flash_v2", causal ? with(toy, {{"causal", "true"}}) : toy);
        const Run& run = *session.run();
        const RowStory story(run, 0, 6);
        const Softmaxes all(run, story);
        std::vector<double> scores;
        for (const RowKey& key : story.at(run.ticks()).keys)
            if (key.state == RowKey::State::known) scores.push_back(static_cast<double>(key.score));
        REQUIRE(scores.size() == (causal ? 7 : 16));
        CHECK(all.keys() == static_cast<Index>(scores.size()));
        double sum = 0;
        for (const double x : scores) sum += std::exp(x);
        const auto programs = all.at(1);
        REQUIRE(programs.size() >= 3);
        for (const SoftmaxMoment& p : programs) {
            INFO(p.algorithm->name);
            CHECK(p.done());
            REQUIRE(p.result.size() == scores.size());
            for (std::size_t k = 0; k < scores.size(); ++k)
                CHECK(static_cast<double>(p.result[k].value()) == Approx(std::exp(scores[k]) / sum).epsilon(1e-5));
        }
    }
}

TEST_CASE("passes and bytes of a row are those of the papers", "[softmaxes]") {
    WaitingSession session = session_of("flash_v2", toy);
    const Softmaxes all(*session.run(), RowStory(*session.run(), 0, 3));
    Index checked = 0;
    for (const SoftmaxMoment& p : all.at(1)) {
        INFO(p.algorithm->name);
        const bool safe = p.algorithm == find_algorithm("softmax_safe");
        CHECK(p.passes == (safe ? 3 : 2));
        CHECK(p.pass == p.passes);
        CHECK(p.read == p.passes * 16 * 4);
        CHECK(p.written == 16 * 4);
        ++checked;
    }
    CHECK(checked == 3);
}

TEST_CASE("cursors move bytes equally fast: who has fewer passes is done first", "[softmaxes]") {
    WaitingSession session = session_of("flash_v2", toy);
    const Softmaxes all(*session.run(), RowStory(*session.run(), 0, 3));
    for (const SoftmaxMoment& p : all.at(0)) CHECK(p.read + p.written == 0);
    for (int percent = 0; percent <= 100; ++percent) {
        const auto programs = all.at(percent / 100.0);
        for (const SoftmaxMoment& p : programs) {
            // Each program has moved the same share of 256 bytes, to within a block of keys.
            if (p.done()) continue;
            CHECK(std::abs(static_cast<double>(p.read + p.written) - percent / 100.0 * 256) <= 32);
        }
    }
    const auto late = all.at(0.8);  // 204 of 256 bytes
    CHECK(late[0].done());
    CHECK_FALSE(late[1].done());
    CHECK(late[2].done());
    CHECK(softmaxes_headline(late) == "softmax_naive and softmax_online are done; softmax_safe is in pass 3 of 3.");
    CHECK(softmax_counts(late[1])[0].find("pass 3 of 3") == 0);
}

TEST_CASE("a row with scores above 88.7 is lost without the maximum alone", "[softmaxes]") {
    Setup asked = setup("flash_v2", toy);
    asked.options.distribution = "overflow";
    WaitingSession session;
    session.ask(asked);
    REQUIRE(session.run());
    const Softmaxes all(*session.run(), RowStory(*session.run(), 0, 3));
    const auto end = all.at(1);
    CHECK(std::isinf(end[0].row.sum));
    CHECK(softmax_result(end[0])[0].find("∞ / ∞ = NaN: ") == 0);
    for (const std::size_t k : {std::size_t{1}, std::size_t{2}}) {
        CHECK(std::isfinite(end[k].row.sum));
        CHECK(softmax_result(end[k])[0].empty());
    }
    CHECK(softmaxes_headline(end).find("softmax_naive has lost this row: the sum is ∞.") == 0);
    CHECK(softmaxes_reason(all, end).find("88.7") != std::string::npos);
}

TEST_CASE("a score beyond the type is infinite as it is stored, and lost to all", "[softmaxes]") {
    WaitingSession session = session_of("flash_v2", with(toy, {{"scale", "1000000"}, {"dtype", "f16"}}));
    Index infinite = 0;
    for (Index query = 0; query < 16 && infinite == 0; ++query) {
        const Softmaxes all(*session.run(), RowStory(*session.run(), 0, query));
        infinite = all.out_of_range();
        if (infinite > 0) CHECK(softmaxes_reason(all, all.at(1)).find("f16 holds (65,504)") != std::string::npos);
    }
    CHECK(infinite > 0);
}

TEST_CASE("a row that sees no key has no softmax", "[softmaxes]") {
    WaitingSession session = session_of("flash_v2", {{"gpu", "toy"},
                                                     {"seq-q", "8"},
                                                     {"seq-k", "4"},
                                                     {"dim", "4"},
                                                     {"heads", "1"},
                                                     {"causal", "true"},
                                                     {"br", "4"},
                                                     {"bc", "4"}});
    const Softmaxes all(*session.run(), RowStory(*session.run(), 0, 0));
    CHECK(all.keys() == 0);
    CHECK(all.at(0.5).empty());
    CHECK(softmaxes_headline(all.at(0.5)).find("sees no key") != std::string::npos);
}
