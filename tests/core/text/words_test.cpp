// Text as a terminal has it: places, not bytes.
#include "core/text/words.hpp"

#include <sstream>

#include "core/text/table.hpp"
#include "tests/support/catch.hpp"

using namespace tilescope;

TEST_CASE("the width of a text is in characters", "[text]") {
    CHECK(text::width("") == 0);
    CHECK(text::width("abc") == 3);
    CHECK(text::width("−∞ × Kᵀ…") == 8);
}

TEST_CASE("text is wrapped between words", "[text]") {
    CHECK(text::wrapped("", 10).empty());
    CHECK(text::wrapped("a bc def", 8) == std::vector<std::string>{"a bc def"});
    CHECK(text::wrapped("a bc def", 7) == std::vector<std::string>{"a bc", "def"});
    CHECK(text::wrapped("−− ×× ∞∞", 5) == std::vector<std::string>{"−− ××", "∞∞"});
    CHECK(text::wrapped("a muchtoolong b", 4) == std::vector<std::string>{"a", "muchtoolong", "b"});
}

TEST_CASE("columns line up where characters take several bytes", "[text]") {
    text::Table table({"a", "b"});
    table.add({"−∞", "×"});
    table.add({"1", "23"});
    std::ostringstream out;
    table.print(out);
    CHECK(out.str() == "a    b\n------\n−∞   ×\n1   23\n");
}
