#include "core/text/numbers.hpp"

#include "tests/support/catch.hpp"

using namespace tilescope;

TEST_CASE("bytes have three digits and a decimal unit", "[text]") {
    CHECK(text::bytes(std::int64_t{0}) == "0 B");
    CHECK(text::bytes(std::int64_t{812}) == "812 B");
    CHECK(text::bytes(std::int64_t{34'600'000}) == "34.6 MB");
    CHECK(text::bytes(34.6e6) == "34.6 MB");
}

TEST_CASE("tenths keep all digits before the point", "[text]") {
    CHECK(text::tenths(0) == "0");
    CHECK(text::tenths(0.25) == "0.3");
    CHECK(text::tenths(2.5) == "2.5");
    CHECK(text::tenths(2.96) == "3");
    CHECK(text::tenths(1024) == "1024");
    CHECK(text::tenths(12345.67) == "12345.7");
}
