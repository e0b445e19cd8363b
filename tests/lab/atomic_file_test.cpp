#include "lab/atomic_file.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <iostream>

#include "core/machine/error.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/folder.hpp"

using namespace tilescope;
using namespace tilescope::lab;
namespace fs = std::filesystem;

namespace {

void write_atomically(const std::string& path, std::string_view content) {
    AtomicFile file(path);
    file.stream() << content;
    file.commit();
}

std::string refusal(const std::string& path) {
    return message_of<RunError>([&] { write_atomically(path, "content"); });
}

const std::string large(300'000, 'x');

}  // namespace

TEST_CASE("atomic file: the content appears at the commit, all at once") {
    const Folder folder;
    write_bytes(folder / "a", "before");
    AtomicFile file(folder / "a");
    file.stream() << large << 12 << std::flush;
    CHECK(bytes_of(folder / "a") == "before");
    const std::string temporary = (folder / "a.tmp-") + std::to_string(::getpid()) + "-";
    for (const auto& entry : fs::directory_iterator(folder / "."))
        CHECK((entry.path().filename() == "a" || entry.path().lexically_normal().string().starts_with(temporary)));
    CHECK(folder.entries() == 2);
    file.commit();
    CHECK(bytes_of(folder / "a") == large + "12");
    CHECK(folder.entries() == 1);
    file.commit();  // harmless
    CHECK(folder.entries() == 1);
}

TEST_CASE("atomic file: without a commit nothing changes") {
    const Folder folder;
    const auto interrupted = [&](const std::string& path) {
        AtomicFile file(path);
        file.stream() << large;
        throw Interrupted();
    };
    write_bytes(folder / "a", "before");
    CHECK_THROWS_AS(interrupted(folder / "a"), Interrupted);
    CHECK_THROWS_AS(interrupted(folder / "new"), Interrupted);
    CHECK(bytes_of(folder / "a") == "before");
    CHECK(folder.entries() == 1);
}

TEST_CASE("atomic file: two writers of one path do not disturb each other") {
    const Folder folder;
    AtomicFile first(folder / "a"), second(folder / "a");
    first.stream() << "first";
    second.stream() << "second";
    second.commit();
    first.commit();
    CHECK(bytes_of(folder / "a") == "first");
    CHECK(folder.entries() == 1);
}

TEST_CASE("atomic file: a path that cannot be written is refused at once") {
    const Folder folder;
    write_bytes(folder / "file", "");
    fs::create_symlink("loop", folder / "loop");
    CHECK(refusal(folder / ".") == "cannot write '" + (folder / ".") + "': Is a directory; name a file in it");
    CHECK(contains(refusal(folder / "missing/a"), "No such file or directory; name a file in a folder that exists"));
    CHECK(contains(refusal(folder / "missing/"), "No such file"));
    CHECK(contains(refusal(folder / "file/a"), "Not a directory"));
    CHECK(contains(refusal(folder / "file/"), "Not a directory"));
    CHECK(contains(refusal(folder / "loop"), "symbolic links"));
    CHECK(contains(refusal(folder / std::string(300, 'n')), "choose a shorter name"));
    CHECK(contains(refusal(""), "cannot write ''"));
    CHECK(contains(refusal(folder / "two\nlines/a"), "two\\x0alines"));
    CHECK(folder.entries() == 2);
    if (::geteuid() == 0) return;  // nothing is forbidden to root
    fs::permissions(folder / "file", fs::perms::owner_read);
    CHECK(contains(refusal(folder / "file"), "Permission denied; choose a place you may write to"));
    fs::permissions(folder / ".", fs::perms::owner_read | fs::perms::owner_exec);
    CHECK(contains(refusal(folder / "new"), "Permission denied"));
    fs::permissions(folder / ".", fs::perms::owner_all);
}

TEST_CASE("atomic file: symbolic links lead to the file that is replaced") {
    const Folder folder;
    fs::create_directory(folder / "there");
    write_bytes(folder / "there/a", "before");
    fs::create_symlink("there/a", folder / "link");
    fs::create_symlink("link", folder / "link to link");
    fs::create_symlink("there/new", folder / "dangling");
    write_atomically(folder / "link to link", "after");
    write_atomically(folder / "dangling", "new");
    CHECK(bytes_of(folder / "there/a") == "after");
    CHECK(bytes_of(folder / "there/new") == "new");
    CHECK(fs::is_symlink(folder / "link to link"));
    CHECK(fs::is_symlink(folder / "dangling"));
}

TEST_CASE("atomic file: devices, pipes and open descriptors are written straight to") {
    const Folder folder;
    write_atomically("/dev/null", large);
    CHECK(fs::is_character_file("/dev/null"));

    REQUIRE(::mkfifo((folder / "fifo").c_str(), 0600) == 0);
    const int reader = ::open((folder / "fifo").c_str(), O_RDONLY | O_NONBLOCK);
    write_atomically(folder / "fifo", "through");
    char got[8] = {};
    CHECK(::read(reader, got, sizeof got) == 7);
    CHECK(std::string(got) == "through");
    ::close(reader);
    CHECK(fs::is_fifo(folder / "fifo"));

    const int open = ::open((folder / "log").c_str(), O_WRONLY | O_CREAT, 0600);
    REQUIRE(::write(open, "head ", 5) == 5);
    write_atomically("/dev/fd/" + std::to_string(open), "body ");
    REQUIRE(::write(open, "tail", 4) == 4);
    ::close(open);
    CHECK(bytes_of(folder / "log") == "head body tail");
    CHECK(contains(refusal("/dev/fd/" + std::to_string(open)), "cannot write"));
    CHECK(contains(refusal("/dev/fd/nonsense"), "cannot write"));
    CHECK(folder.entries() == 2);
}

TEST_CASE("atomic file: a full disk is noticed, and the old content kept") {
    CHECK(contains(refusal("/dev/full"), "No space left on device; free some space"));
    CHECK_THROWS_AS(AtomicFile("/dev/full").stream() << large, RunError);

    const Folder folder;
    write_bytes(folder / "a", "before");
    rlimit unlimited{};
    REQUIRE(::getrlimit(RLIMIT_FSIZE, &unlimited) == 0);
    const rlimit limited{100'000, unlimited.rlim_max};
    const auto handler = std::signal(SIGXFSZ, SIG_IGN);
    REQUIRE(::setrlimit(RLIMIT_FSIZE, &limited) == 0);
    const std::string message = message_of<RunError>([&] { write_atomically(folder / "a", large); });
    REQUIRE(::setrlimit(RLIMIT_FSIZE, &unlimited) == 0);
    std::signal(SIGXFSZ, handler);
    CHECK(contains(message, "File too large"));
    CHECK(bytes_of(folder / "a") == "before");
    CHECK(folder.entries() == 1);
}

TEST_CASE("atomic file: a failure that the writer ignored is reported at the commit") {
    const Folder folder;
    AtomicFile file(folder / "a");
    file.stream().setstate(std::ios::failbit);
    CHECK_THROWS_AS(file.commit(), RunError);
}

TEST_CASE("atomic file: a signal ends the wait for a pipe's reader") {
    const Folder folder;
    REQUIRE(::mkfifo((folder / "fifo").c_str(), 0600) == 0);
    struct sigaction noted {
    }, before{};
    noted.sa_handler = [](int) {};
    ::sigaction(SIGALRM, &noted, &before);
    const itimerval soon{{0, 10'000}, {0, 10'000}}, never{};
    ::setitimer(ITIMER_REAL, &soon, nullptr);  // again and again: the first may come before the wait
    CHECK_THROWS_AS(AtomicFile(folder / "fifo"), Interrupted);
    ::setitimer(ITIMER_REAL, &never, nullptr);
    ::sigaction(SIGALRM, &before, nullptr);
}
