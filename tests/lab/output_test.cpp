#include "lab/system/output.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <iostream>

#include "tests/support/catch.hpp"
#include "tests/support/folder.hpp"

using namespace tilescope;
using namespace tilescope::lab;

namespace {

const std::string large(300'000, 'x');

}  // namespace

TEST_CASE("output: a file that grows is there as soon as it is flushed") {
    const Folder folder;
    write_bytes(folder / "a", "before");
    Output out(folder / "a");
    out << "first\n" << std::flush;
    CHECK(bytes_of(folder / "a") == "first\n");
    out << large;
    out.close();
    CHECK(bytes_of(folder / "a") == "first\n" + large);
    out.close();  // does nothing
}

TEST_CASE("output: what cannot be written is said by the call that wrote it, once") {
    const std::string said = "cannot write /dev/full: No space left on device; free some space or choose another disk";
    const auto message = [&](auto&& write) {
        Output out("/dev/full");
        return message_of<RunError>([&] { write(out); });
    };
    CHECK(message([](Output& out) { out << large; }) == said);
    CHECK(message([](Output& out) { out << 1 << std::flush; }) == said);
    CHECK(message([](Output& out) {
              out << "few";
              out.close();
          }) == said);
    Output out("/dev/full");
    out << "few";
    CHECK_THROWS_AS(out.flush(), RunError);
    CHECK_NOTHROW(out.close());
    CHECK(contains(message_of<RunError>([] { Output("/no/such/folder/a"); }), "name a file in a folder that exists"));
}

TEST_CASE("output: a pipe that nobody reads is no fault") {
    int ends[2];
    REQUIRE(::pipe(ends) == 0);
    ::close(ends[0]);
    const auto handler = std::signal(SIGPIPE, SIG_IGN);
    Output out(ends[1], "the pipe");
    CHECK_THROWS_AS(out << "text" << std::flush, ClosedPipe);
    std::signal(SIGPIPE, handler);
}
