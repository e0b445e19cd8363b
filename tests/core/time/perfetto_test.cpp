#include "core/time/perfetto.hpp"

#include <sstream>
#include <vector>

#include "tests/support/catch.hpp"

using namespace tilescope;

namespace {

std::string bytes(std::initializer_list<int> values) {
    std::string s;
    for (const int v : values) s += static_cast<char>(v);
    return s;
}

std::uint64_t read_varint(std::string_view& in) {
    std::uint64_t value = 0;
    for (int shift = 0;; shift += 7) {
        const auto byte = static_cast<unsigned char>(in.front());
        in.remove_prefix(1);
        value |= std::uint64_t{byte & 0x7fu} << shift;
        if (byte < 0x80) return value;
    }
}

/// The bodies of a trace's packets; fails where lengths are wrong.
std::vector<std::string> packets(std::string_view in) {
    std::vector<std::string> all;
    while (!in.empty()) {
        REQUIRE(read_varint(in) == (1 << 3 | 2));
        const std::uint64_t length = read_varint(in);
        REQUIRE(length <= in.size());
        all.emplace_back(in.substr(0, static_cast<std::size_t>(length)));
        in.remove_prefix(static_cast<std::size_t>(length));
    }
    return all;
}

}  // namespace

TEST_CASE("numbers of a message are varints, seven bits a byte, the lowest first", "[perfetto]") {
    CHECK(Message().number(1, 0).bytes() == bytes({0x08, 0}));
    CHECK(Message().number(1, 127).bytes() == bytes({0x08, 0x7f}));
    CHECK(Message().number(1, 128).bytes() == bytes({0x08, 0x80, 0x01}));
    CHECK(Message().number(1, 150).bytes() == bytes({0x08, 0x96, 0x01}));
    CHECK(Message().number(60, 1).bytes() == bytes({0xe0, 0x03, 1}));  // the field's number is a varint, too
    CHECK(Message().number(1, ~std::uint64_t{0}).bytes() ==
          bytes({0x08, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01}));
    for (int bit = 0; bit < 64; ++bit)
        for (const std::uint64_t n : {std::uint64_t{1} << bit, (std::uint64_t{1} << bit) - 1}) {
            const std::string encoded = Message().number(3, n).bytes();
            std::string_view in = encoded;
            CHECK(read_varint(in) == 3 * 8);
            CHECK(read_varint(in) == n);
            CHECK(in.empty());
        }
}

TEST_CASE("real numbers have eight bytes, texts a length", "[perfetto]") {
    CHECK(Message().real(2, 1).bytes() == bytes({0x11, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f}));
    CHECK(Message().text(2, "testing").bytes() == bytes({0x12, 7}) + "testing");
    CHECK(Message().text(2, "").bytes() == bytes({0x12, 0}));
    const std::string zero("a\0b", 3);
    CHECK(Message().text(1, zero).bytes() == bytes({0x0a, 3}) + zero);
}

TEST_CASE("a message within a message has the length of all that is in it", "[perfetto]") {
    Message inner, middle, outer;
    inner.number(1, 150);
    middle.message(3, inner);
    outer.message(1, middle).number(2, 5);
    CHECK(outer.bytes() == bytes({0x0a, 5, 0x1a, 3, 0x08, 0x96, 0x01, 0x10, 5}));
    // A length of 200 takes two bytes.
    Message longer;
    longer.message(1, Message().text(1, std::string(197, 'x')));
    CHECK(longer.bytes().substr(0, 3) == bytes({0x0a, 0xc8, 0x01}));
    CHECK(longer.bytes().size() == 3 + 200);
}

TEST_CASE("packets follow each other, all of one sequence", "[perfetto]") {
    std::ostringstream out;
    PerfettoTrace trace(out);
    const PerfettoTrace::Track run = trace.track("run"), sm = trace.track("SM 0", run, "what it is");
    const PerfettoTrace::Name step = trace.slice_name("step"), note = trace.note_name("rows");
    trace.begin(sm, 5, "head 0", std::vector<PerfettoTrace::Note>{{note, "0 to 63"}});
    trace.begin(sm, 5, step);
    trace.end(sm, 1'000'000'000'000);
    trace.end(sm, 1'000'000'000'000);
    trace.count(trace.counter("tensor", "%", sm), 7, 50);
    const std::vector<std::string> all = packets(out.str());
    REQUIRE(all.size() == 10);
    // Sequence 1. Only the first packet says that what was interned before is forgotten.
    const std::string first = bytes({0x50, 1, 0x68, 3, 0xb8, 0x05, 1}), others = bytes({0x50, 1, 0x68, 2});
    CHECK(all[0].ends_with(first));
    for (std::size_t k = 1; k < all.size(); ++k) CHECK(all[k].ends_with(others));
    CHECK(all[4] == bytes({0x40, 5, 0x5a, 26, 0x48, 1, 0x58, 2, 0xba, 0x01, 6}) + "head 0" +
                        bytes({0x22, 11, 0x08, 2, 0x32, 7}) + "0 to 63" + others);
    CHECK(all[5] == bytes({0x40, 5, 0x5a, 6, 0x48, 1, 0x58, 2, 0x50, 1}) + others);
    CHECK(all[6] == all[7]);
    CHECK(all[9] == bytes({0x40, 7, 0x5a, 14, 0x48, 4, 0x58, 3, 0xe1, 0x02, 0, 0, 0, 0, 0, 0, 0x49, 0x40}) + others);
}
