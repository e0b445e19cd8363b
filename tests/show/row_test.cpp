// One row in detail: its story agrees with what follows from its inputs by mathematics.
#include "show/stage/row.hpp"

#include <cmath>

#include "show/stage/row_text.hpp"
#include "tests/support/sessions.hpp"

using namespace tilescope;
using namespace tilescope::show;

namespace {

struct Given {
    const Run& run;

    double at(const char* name, Index row, Index column) const {
        for (const RecordedTensor& t : run.trace().tensors())
            if (t.name == name) return static_cast<double>(t.initial[static_cast<std::size_t>(row * t.cols + column)]);
        throw std::out_of_range(name);
    }
    double score(Index query, Index key) const {
        const Index dim = run.recorded().dim;
        double sum = 0;
        for (Index c = 0; c < dim; ++c) sum += at("Q", query, c) * at("K", key, c);
        return sum / std::sqrt(static_cast<double>(dim));
    }
    bool sees(Index query, Index key) const { return run.recorded().sees(query, key); }
};

/// Checks that scores, maximum and weights of a row follow from its inputs.
void check_row(const Run& run, const std::string& algorithm, Index query) {
    INFO(algorithm << ", query " << query);
    const Given in{run};
    const RowStory story(run, 0, query);
    const RowMoment m = story.at(run.ticks());
    double largest = -INFINITY;
    for (Index k = 0; k < run.recorded().seq_k; ++k) {
        const RowKey& key = m.keys[static_cast<std::size_t>(k)];
        CHECK((key.state == RowKey::State::known) == in.sees(query, k));
        if (!in.sees(query, k)) continue;
        CHECK(static_cast<double>(key.score) == Approx(in.score(query, k)).margin(1e-5));
        largest = std::max(largest, in.score(query, k));
    }
    if (std::isinf(largest) || !m.has_m) return;
    CHECK(static_cast<double>(m.m) == Approx(largest).margin(1e-5));
    for (const RowKey& key : m.keys)
        if (key.state == RowKey::State::known && key.has_weight)
            CHECK(static_cast<double>(key.weight) ==
                  Approx(std::exp(static_cast<double>(key.score) - largest)).margin(1e-5));
}

const Flags ragged = {{"gpu", "toy"}, {"seq-q", "9"},   {"seq-k", "14"}, {"dim", "4"},
                      {"heads", "1"}, {"dtype", "f32"}, {"br", "4"},     {"bc", "4"}};

}  // namespace

TEST_CASE("a row's scores, maximum and weights are those of its inputs, in every algorithm", "[row]") {
    for (const char* algorithm :
         {"standard", "three_pass", "two_pass", "flash_v1", "flash_v2", "chunked", "memory_efficient"})
        for (const bool causal : {false, true}) {
            Flags flags = ragged;
            if (causal) flags.push_back({"causal", "true"});
            WaitingSession session = session_of(algorithm, flags);
            for (const Index query : {0, 3, 8}) check_row(*session.run(), algorithm, query);
        }
}

TEST_CASE("the sum and the output of a row are put together from what is told of it", "[row]") {
    WaitingSession session = session_of("flash_v2", ragged);
    const Run& run = *session.run();
    const Given in{run};
    const RowStory story(run, 0, 5);
    // The last turn of the loop, before the division.
    const RowVisit* last = nullptr;
    for (const RowVisit& v : story.visits())
        if (v.keys.size > 0) last = &v;
    REQUIRE(last);
    const RowMoment m = story.at(last->to);
    double sum = 0, first = 0;
    for (std::size_t k = 0; k < m.keys.size(); ++k) {
        sum += static_cast<double>(m.keys[k].weight);
        first += static_cast<double>(m.keys[k].weight) * in.at("V", static_cast<Index>(k), 0);
    }
    CHECK(static_cast<double>(m.sum) == Approx(sum).epsilon(1e-4));
    REQUIRE(m.output.size() == 4);
    CHECK(static_cast<double>(m.output[0]) == Approx(first).epsilon(1e-3).margin(1e-4));
}

TEST_CASE("each line's numbers are what was before, what is left of it, and what came", "[row]") {
    WaitingSession session = session_of("flash_v2", ragged);
    const Run& run = *session.run();
    const RowStory story(run, 0, 5);
    Index rescaled = 0;
    for (const RowVisit& v : story.visits()) {
        const RowMoment m = story.at(v.to);
        if (!m.sum_line || !m.sum_line->scaled || !std::isfinite(m.m_was)) continue;
        const float factor = std::exp(m.m_was - m.m);
        CHECK(m.sum_line->kept[0] == Approx(factor * m.sum_line->was[0]).epsilon(1e-4));
        CHECK(row_shrinks(m).empty() == !(m.m > m.m_was));
        CHECK(row_output(m) == "O, its " + std::to_string(m.output.size()) + " sums" +
                                   (row_shrinks(m).empty() ? "" : ": " + row_shrinks(m)));
        rescaled += m.m > m.m_was;
    }
    CHECK(rescaled > 0);
}

TEST_CASE("forgetting to rescale is wrong where a new maximum comes, and right where none does", "[row]") {
    WaitingSession session = session_of("flash_v2", ragged);
    const Run& run = *session.run();
    const Given in{run};
    Index wrong = 0, right = 0;
    for (Index query = 0; query < run.recorded().seq_q; ++query) {
        const Forgotten f = RowStory(run, 0, query).forgotten();
        CHECK(f.possible);
        Index where = 0;  // the place of the largest score
        for (Index k = 1; k < run.recorded().seq_k; ++k)
            if (in.score(query, k) > in.score(query, where)) where = k;
        (where < 4 ? right : wrong) += 1;
        if (where < 4) CHECK(f.error < 1e-6);
        if (where >= 4) CHECK(f.error > 1e-3);
    }
    CHECK(wrong > 0);
    CHECK(right > 0);
    WaitingSession standard = session_of("standard", ragged);
    CHECK_FALSE(RowStory(*standard.run(), 0, 0).forgotten().possible);
}

TEST_CASE("a row is told in words made of its values", "[row]") {
    Flags flags = ragged;
    flags[1] = {"seq-q", "16"}, flags[2] = {"seq-k", "16"};
    WaitingSession session = session_of("flash_v2", flags);
    Run& run = *session.run();
    const RowStory story(run, 0, 0);
    const auto said = [&](Index tick) { return row_headline(run, story, story.at(tick)); };
    CHECK(said(0) == "Query 0: nothing of its row has been read yet.");
    CHECK(said(12) == "Block 1 is the first that this row sees. Its largest score, 0.34, becomes m.");
    CHECK(said(24) ==
          "Block 2 holds a larger score. m jumps from 0.34 to 1.48, so all that was summed before shrinks to 32%.");
    CHECK(said(run.ticks()) == "The row is done: every key that it sees is in the sum.");
    CHECK(forgotten_text(story.forgotten()) == "Without rescaling: 49% from the right answer (computed)");
}

TEST_CASE("naive exponentials overflow at a ceiling that is said", "[row]") {
    WaitingSession session =
        session_of("standard",
                   {{"softmax", "naive"}, {"scale", "100"}, {"seq", "64"}, {"heads", "1"}, {"br", "16"}, {"bc", "16"}});
    Run& run = *session.run();
    Index overflowing = 0;
    for (Index query = 0; query < 16; ++query) {
        const RowStory story(run, 0, query);
        for (Index tick = 0; tick <= run.ticks(); ++tick)
            if (row_headline(run, story, story.at(tick)).starts_with("A score is above 88.7")) {
                ++overflowing;
                break;
            }
    }
    CHECK(overflowing == 16);
}
