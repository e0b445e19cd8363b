#include <iostream>
#include <sstream>

#include "algorithms/contract/algorithm.hpp"
#include "core/record/player.hpp"
#include "lab/gpu/gpu_presets.hpp"
#include "lab/run/experiment.hpp"
#include "lab/workload/inputs.hpp"
#include "tests/support/catch.hpp"

using namespace tilescope;
using namespace tilescope::lab;

namespace {

void program_of_the_page() {
#include "events_page.program"
}

const std::string printed_on_the_page =
#include "events_page.printed"
    ;

}  // namespace

TEST_CASE("the C++ of docs/events.md prints what the page says") {
    std::ostringstream printed;
    auto* terminal = std::cout.rdbuf(printed.rdbuf());
    program_of_the_page();
    std::cout.rdbuf(terminal);
    CHECK(printed.str() == printed_on_the_page);
}
