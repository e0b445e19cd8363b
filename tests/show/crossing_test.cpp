// What tiles hold, by name, and where they lie in their SM.
#include "show/stage/crossing.hpp"

#include "show/words/formula.hpp"
#include "show/words/steps.hpp"
#include "tests/support/sessions.hpp"

using namespace tilescope;
using namespace tilescope::show;

namespace {

/// All formulas of SM 0, each once, in order of time.
std::vector<std::string> formulas(Run& run) {
    std::vector<std::string> all;
    for (Index tick = 1; tick <= run.ticks(); ++tick) {
        run.seek(tick);
        const SmState& sm = run.moment().sms[0];
        if (!run.operation(sm)) continue;
        const std::string f = formula(run, sm);
        if (std::find(all.begin(), all.end(), f) == all.end()) all.push_back(f);
    }
    return all;
}

const Held& held(const std::vector<Held>& all, const std::string& name) {
    for (const Held& h : all)
        if (h.name == name) return h;
    throw std::out_of_range(name);
}

/// SM 0 at the first tick after `from` whose formula is `wanted`.
const SmState& at(Run& run, const std::string& wanted, Index from = 0) {
    for (Index tick = from + 1; tick <= run.ticks(); ++tick) {
        run.seek(tick);
        if (formula(run, run.moment().sms[0]) == wanted) return run.moment().sms[0];
    }
    throw std::out_of_range(wanted);
}

}  // namespace

TEST_CASE("a tile has the name of what it holds", "[contents]") {
    WaitingSession session = session_of("flash_v2", toy);
    CHECK(formulas(*session.run()) == std::vector<std::string>{"load Q ↑", "load K ↑", "load V ↑", "S ← 0.5 Q K^T",
                                                               "m_old ← m", "m ← max(m, rowmax S)",
                                                               "α ← exp(m_old − m)", "P~ ← exp(S − m)", "l ← α · l",
                                                               "l += rowsum P~", "O ← α · O", "O += P~ V", "O ← O / l",
                                                               "LSE += log l", "store O ↓", "store LSE ↓"});
}

TEST_CASE("exponentials under a saved maximum are weights once they are divided, under a saved LSE at once",
          "[contents]") {
    WaitingSession first = session_of("flash_v1_backward", toy), second = session_of("flash_v2_backward", toy);
    const auto of_first = formulas(*first.run()), of_second = formulas(*second.run());
    const auto has = [](const std::vector<std::string>& all, const char* f) {
        return std::find(all.begin(), all.end(), f) != all.end();
    };
    CHECK(has(of_first, "P~ ← exp(S − m)"));
    CHECK(has(of_first, "P ← P~ / l"));
    CHECK(has(of_second, "P ← exp(S − LSE)"));
}

TEST_CASE("scores that a launch divides and stores are weights, and a copy of an unchanged tile is not old",
          "[contents]") {
    WaitingSession standard = session_of("standard", toy), first = session_of("flash_v1", toy),
                   softmax = session_of("softmax_online", {{"gpu", "toy"}, {"seq", "16"}, {"br", "4"}, {"bc", "4"}});
    const auto has = [](const std::vector<std::string>& all, const std::string& f) {
        return std::find(all.begin(), all.end(), f) != all.end();
    };
    const auto of_standard = formulas(*standard.run());
    CHECK(has(of_standard, "P~ ← exp(S − m)"));
    CHECK(has(of_standard, "P ← P~ / l"));
    CHECK(has(of_standard, "store P ↓"));
    CHECK(has(of_standard, "O += P V"));
    const auto of_first = formulas(*first.run());
    CHECK(has(of_first, "m_new ← m"));
    CHECK(has(of_first, "m_old ← m"));
    CHECK(has(of_first, "α ← exp(m_old − m_new)"));
    CHECK(has(of_first, "m_new ← max(m_new, m~)"));
    CHECK(has(of_first, "β ← exp(m~ − m_new)"));
    CHECK(has(of_first, "β/l_new ← β / l_new"));
    CHECK(has(of_first, "l/l_new ← l / l_new"));
    CHECK(has(of_first, "O ← l/l_new · O"));
    const auto of_softmax = formulas(*softmax.run());
    CHECK(has(of_softmax, "Y~ ← exp(X − m)"));
    CHECK(has(of_softmax, "Y ← Y~ / d"));
}

TEST_CASE("tiles lie as on the wall, and have a place before they are there", "[crossing]") {
    using Place = Held::Place;
    WaitingSession session = session_of("flash_v2", toy);
    Run& run = *session.run();
    const SmState& sm = at(run, "O += P~ V", 20);  // the second block of keys
    const auto all = crossing_of(run, sm);
    CHECK(held(all, "Q₁").place == Place::left);
    CHECK(held(all, "K₂ᵀ").place == Place::above);
    CHECK(held(all, "K₂ᵀ").brief == "Kᵀ");
    CHECK(held(all, "P~₁,₂").brief == "P~");
    CHECK(held(all, "V₂ᵀ").place == Place::below);
    CHECK(held(all, "m").place == Place::between);
    CHECK(held(all, "O₁").place == Place::right);
    const Held& weights = held(all, "P~₁,₂");
    CHECK(weights.place == Place::middle);
    CHECK(weights.notes == std::vector<std::string>{"in S", "4 × 4", "64 B"});
    CHECK(weights.part == Part::first);
    CHECK(held(all, "V₂ᵀ").part == Part::second);
    CHECK(held(all, "O₁").part == Part::result);
    CHECK(short_position(run, sm) == "1,2");

    const auto before = crossing_of(run, at(run, "load Q ↑"));
    CHECK(held(before, "S").now == nullptr);
    CHECK(before.size() == all.size());
    CHECK(crossing_of(run, SmState{}).empty());
}

TEST_CASE("K and V lie on their sides, and a tile's number is its own where a loop leaves out the first ones",
          "[crossing]") {
    WaitingSession session =
        session_of("flash_v1", {{"seq", "256"}, {"heads", "1"}, {"br", "64"}, {"bc", "32"}, {"causal", "true"}});
    Run& run = *session.run();
    run.seek(run.ticks() - 3);
    const SmState& sm = run.moment().sms[0];
    CHECK(short_position(run, sm) == "4,8");
    const auto all = crossing_of(run, sm);
    const Held& k = held(all, "K₈ᵀ");
    CHECK(k.rows == 64);
    CHECK(k.cols == 32);
    CHECK(held(all, "O₄").rows == 64);
}

TEST_CASE("what an SM does is one of four phases", "[sm text]") {
    WaitingSession session = session_of("flash_v2", toy);
    Run& run = *session.run();
    CHECK(phase_of(run, at(run, "load Q ↑")) == StepKind::load);
    CHECK(phase_of(run, at(run, "O += P~ V")) == StepKind::product);
    CHECK(phase_of(run, at(run, "P~ ← exp(S − m)")) == StepKind::rest);
    CHECK(phase_of(run, at(run, "store O ↓")) == StepKind::store);
    CHECK(phase_of(run, SmState{}) == StepKind::none);
}
