// S and P in types of their own, as unfused graphs of frameworks store them.
#include "lab/flags/request.hpp"
#include "lab/run/experiment.hpp"
#include "tests/support/harness.hpp"
#include "tests/support/problems.hpp"

using namespace tilescope;
using namespace tilescope::lab;

namespace {

Report counted(const Options& o) {
    const Algorithm& a = *find_algorithm("standard");
    return count(experiment_of(a, resolve(o, a)));
}

/// Bytes that go to HBM and back for each score.
Bytes bytes_of_a_score(const char* scores, const char* weights) {
    Options o;
    o.seq = 512, o.heads = 2;
    if (scores) o.scores = scores;
    if (weights) o.weights = weights;
    Bytes moved = 0;
    for (const TensorReport& t : counted(o).tensors)
        if (t.name == "S" || t.name == "P") moved += t.traffic.read + t.traffic.write;
    CHECK(moved % (512 * 512 * 2) == 0);
    return moved / (512 * 512 * 2);
}

}  // namespace

// XLA's unfused graph has S in f32 and P in 16 bits.
TEST_CASE("a score takes 12 bytes with S in f32 and P in f16, and 16 with both in f32", "[standard]") {
    CHECK(bytes_of_a_score(nullptr, nullptr) == 8);
    CHECK(bytes_of_a_score("f32", "f16") == 12);
    CHECK(bytes_of_a_score(nullptr, "f32") == 12);
    CHECK(bytes_of_a_score("f32", nullptr) == 16);
    CHECK(bytes_of_a_score("f32", "f32") == 16);
    CHECK(bytes_of_a_score("f16", "f16") == 8);
}

TEST_CASE("what S and P are stored as is in the closed form", "[standard][closed_forms]") {
    const Algorithm& a = *find_algorithm("standard");
    for (const Case& given : typed_cases()) {
        const Case c = as_supported(a, given);
        INFO(to_string(a, c));
        const Prediction predicted = a.predict(c.problem, c.tiling, roomy());
        const Counters counted = run(a, c, roomy(), count_mode).counters;
        CHECK(counted.hbm_read == predicted.hbm_read);
        CHECK(counted.hbm_write == predicted.hbm_write);
    }
}

TEST_CASE("types that are those of Q anyhow are no types of their own", "[standard]") {
    Options o;
    const Problem plain = resolve(o, computation::attention).problem;
    o.scores = "f16", o.weights = "f16";
    CHECK((resolve(o, computation::attention).problem == plain));
    o.dtype = "f32", o.scores = "f32", o.weights.reset();
    CHECK(!resolve(o, computation::attention).problem.uses(Feature::score_types));
}
