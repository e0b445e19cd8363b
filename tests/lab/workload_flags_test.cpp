// The table of workload flags: from flags to a problem, and back.
#include <set>
#include <string>

#include "algorithms/contract/feature_names.hpp"
#include "lab/flags/command.hpp"
#include "lab/flags/request.hpp"
#include "lab/flags/table.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/problems.hpp"

using namespace tilescope;
using namespace tilescope::lab;

namespace {

/// Problems that no flags make: with block masks, which keep their blocks but not how they were made; with windows that
/// leave out the query's own place; and with the top-left corner where both corners are equal.
bool beyond_flags(const Problem& p) {
    const auto leaves_out = [](std::optional<Index> reach) { return reach && *reach < 0; };
    return p.mask.blocks() || leaves_out(p.mask.left()) || leaves_out(p.mask.right()) ||
           (p.corner == Corner::top_left && (p.seq_q == p.seq_k || !(p.mask.hides() || p.alibi > 0)));
}

std::vector<Case> cases() {
    std::vector<Case> all = corner_cases();
    for (const Case& c : typed_cases()) all.push_back(c);
    for (const Case& c : hidden_row_cases()) all.push_back(c);
    for (std::uint64_t seed = 1; seed <= 200; ++seed)
        for (const Case& c : {random_case(seed), window_case(seed), score_case(seed)}) all.push_back(c);
    std::erase_if(all, [](const Case& c) { return beyond_flags(c.problem); });
    return all;
}

}  // namespace

TEST_CASE("the flags of a problem make that problem", "[flags]") {
    const std::vector<Case> all = cases();
    REQUIRE(all.size() > 500);
    for (const Case& c : all) {
        const Options o = options_of(c.problem);
        INFO(shell_line(flags_of(o)));
        const Problem again = resolve(o, computation::attention).problem;
        CHECK((again == c.problem));
        // As typed: each flag with its text.
        Options typed;
        for (const Flag& flag : flags())
            if (flag.given(o)) set_flag(typed, flag.name, flag.get(o));
        CHECK((resolve(typed, computation::attention).problem == c.problem));
    }
}

TEST_CASE("every flag that asks a problem for something is written of it", "[flags]") {
    for (const Flag& flag : flags()) {
        INFO(flag.name);
        CHECK((flag.ask == nullptr || flag.write != nullptr));
        CHECK((!flag.is_size || flag.ask != nullptr));
    }
    std::set<std::string> keys;
    for (const Feature f : all_features) {
        INFO(name_of(f));
        CHECK(static_cast<std::size_t>(f) == keys.size());  // none is left out
        CHECK(keys.insert(key_of(f)).second);
        if (f == Feature::head_dims) continue;  // every problem has them
        bool asked = false;
        for (const Flag& flag : flags()) asked = asked || flag.asks_for == f;
        CHECK(asked);
    }
}
