#include "lab/system/atomic_file.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
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

struct stat status_of(const std::string& path) {
    struct stat status {};
    REQUIRE(::stat(path.c_str(), &status) == 0);
    return status;
}

/// root may do anything. While this exists, root acts as user 65534, who owns the folder.
class AsNobody {
  public:
    explicit AsNobody(const Folder& folder) : root_(::geteuid() == 0), folder_(folder / ".") {
        if (!root_) return;
        for (const auto& entry : fs::directory_iterator(folder_))
            REQUIRE(::lchown(entry.path().c_str(), 65534, 0) == 0);
        REQUIRE(::chown(folder_.c_str(), 65534, 0) == 0);
        REQUIRE(::seteuid(65534) == 0);
    }
    ~AsNobody() {
        if (root_ && (::seteuid(0) != 0 || ::chown(folder_.c_str(), 0, 0) != 0)) std::abort();
    }
    AsNobody(const AsNobody&) = delete;
    AsNobody& operator=(const AsNobody&) = delete;

  private:
    const bool root_;
    const std::string folder_;
};

/// While this exists, no file can grow beyond this size: as on a full disk.
class SmallFiles {
  public:
    explicit SmallFiles(rlim_t most) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
        REQUIRE(::getrlimit(RLIMIT_FSIZE, &before_) == 0);
        const rlimit limited{most, before_.rlim_max};
        REQUIRE(::setrlimit(RLIMIT_FSIZE, &limited) == 0);
    }
    ~SmallFiles() {
        ::setrlimit(RLIMIT_FSIZE, &before_);
        std::signal(SIGXFSZ, handler_);
    }
    SmallFiles(const SmallFiles&) = delete;
    SmallFiles& operator=(const SmallFiles&) = delete;

  private:
    rlimit before_{};
    void (*handler_)(int);
};

}  // namespace

TEST_CASE("atomic file: the content appears at the commit, all at once") {
    const Folder folder;
    write_bytes(folder / "a", "before");
    AtomicFile file(folder / "a");
    file.stream() << large << 12 << std::flush;
    CHECK(bytes_of(folder / "a") == "before");
    for (const auto& entry : fs::directory_iterator(folder / ".")) {
        const std::string name = entry.path().filename();
        CHECK((name == "a" || name.starts_with(".tilescope-")));
    }
    CHECK(folder.entries() == 2);
    file.commit();
    CHECK(bytes_of(folder / "a") == large + "12");
    CHECK(folder.entries() == 1);
    file.commit();  // does nothing
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
    CHECK(refusal(folder / ".") == "cannot write " + (folder / ".") + ": Is a directory; name a file in it");
    CHECK(contains(refusal(folder / "missing/a"), "No such file or directory; name a file in a folder that exists"));
    CHECK(contains(refusal(folder / "missing/"), "No such file"));
    CHECK(contains(refusal(folder / "file/a"), "Not a directory"));
    CHECK(contains(refusal(folder / "file/"), "Not a directory"));
    CHECK(contains(refusal(folder / "loop"), "symbolic links"));
    CHECK(contains(refusal(folder / std::string(300, 'n')), "choose a shorter name"));
    CHECK(contains(refusal(""), "cannot write ''"));
    CHECK(contains(refusal(folder / "two\nlines/a"), "two\\nlines"));
    CHECK(folder.entries() == 2);
    const AsNobody nobody(folder);
    fs::permissions(folder / "file", fs::perms::owner_read);
    CHECK(contains(refusal(folder / "file"), "Permission denied; choose a place you may write to"));
    fs::permissions(folder / ".", fs::perms::owner_read | fs::perms::owner_exec);
    CHECK(contains(refusal(folder / "new"), "Permission denied"));
    fs::permissions(folder / ".", fs::perms::owner_all);
}

TEST_CASE("atomic file: a file that is replaced keeps its permissions and its owner") {
    const Folder folder;
    for (const int mode : {0600, 0640, 0755, 0666, 04711}) {
        write_bytes(folder / "a", "before");
        REQUIRE(::chmod((folder / "a").c_str(), static_cast<mode_t>(mode)) == 0);
        if (::geteuid() == 0) REQUIRE(::chown((folder / "a").c_str(), 65534, 65534) == 0);
        const struct stat before = status_of(folder / "a");
        write_atomically(folder / "a", "after");
        const struct stat after = status_of(folder / "a");
        CHECK(after.st_ino != before.st_ino);
        CHECK(after.st_mode == before.st_mode);
        CHECK(after.st_uid == before.st_uid);
        CHECK(after.st_gid == before.st_gid);
        fs::remove(folder / "a");
    }
    const mode_t mask = ::umask(027);
    write_atomically(folder / "new", "content");
    ::umask(mask);
    CHECK((status_of(folder / "new").st_mode & 0777) == 0640);
}

TEST_CASE("atomic file: while it is written, nobody reads it who may not read what it replaces") {
    const Folder folder;
    write_bytes(folder / "a", "secret");
    fs::permissions(folder / "a", fs::perms::owner_read | fs::perms::owner_write);
    AtomicFile file(folder / "a");
    for (const auto& entry : fs::directory_iterator(folder / "."))
        CHECK((status_of(entry.path()).st_mode & 0777) == 0600);
}

TEST_CASE("atomic file: other names of a file keep its old content") {
    const Folder folder;
    write_bytes(folder / "a", "before");
    fs::create_hard_link(folder / "a", folder / "b");
    write_atomically(folder / "a", "after");
    CHECK(bytes_of(folder / "a") == "after");
    CHECK(bytes_of(folder / "b") == "before");
}

TEST_CASE("atomic file: the longest names that a file system has") {
    const Folder folder;
    const std::string path = folder / std::string(255, 'n');
    write_atomically(path, "first");
    write_atomically(path, "second");
    CHECK(bytes_of(path) == "second");
    CHECK(folder.entries() == 1);
}

TEST_CASE("atomic file: a file that may be written to, in a folder that may not") {
    const Folder folder;
    for (const std::string& content : {std::string("short"), large}) {
        write_bytes(folder / "a", "before, and not the shortest");
        fs::permissions(folder / "a", fs::perms::all);
        const struct stat before = status_of(folder / "a");
        {
            const AsNobody nobody(folder);
            fs::permissions(folder / ".", fs::perms::owner_read | fs::perms::owner_exec);
            AtomicFile file(folder / "a");
            file.stream() << content;
            CHECK(bytes_of(folder / "a") == "before, and not the shortest");  // until the new content is complete
            file.commit();
            fs::permissions(folder / ".", fs::perms::owner_all);
        }
        CHECK(bytes_of(folder / "a") == content);
        CHECK(status_of(folder / "a").st_ino == before.st_ino);
        CHECK(folder.entries() == 1);
    }
}

TEST_CASE("atomic file: what is copied for want of a temporary beside it is copied whole or not at all") {
    const Folder folder;
    write_bytes(folder / "a", "before");
    fs::permissions(folder / "a", fs::perms::all);
    const AsNobody nobody(folder);
    fs::permissions(folder / ".", fs::perms::owner_read | fs::perms::owner_exec);
    AtomicFile file(folder / "a");
    file.stream() << large << std::flush;
    const std::string message = message_of<RunError>([&] {
        const SmallFiles small(100'000);
        file.commit();
    });
    fs::permissions(folder / ".", fs::perms::owner_all);
    CHECK(contains(message, "File too large"));
    CHECK(bytes_of(folder / "a") == "before");
}

TEST_CASE("atomic file: a file in a folder where only its owner may replace it") {
    if (::geteuid() != 0) return;  // needs two users
    const Folder folder;
    write_bytes(folder / "a", "before");
    REQUIRE(::chmod((folder / "a").c_str(), 0666) == 0);
    REQUIRE(::chmod((folder / ".").c_str(), 01777) == 0);
    REQUIRE(::seteuid(65534) == 0);
    write_atomically(folder / "a", "after");
    REQUIRE(::seteuid(0) == 0);
    CHECK(bytes_of(folder / "a") == "after");
    CHECK(folder.entries() == 1);
}

TEST_CASE("atomic file: a process that ends without unwinding can remove its temporaries") {
    const Folder folder;
    write_bytes(folder / "a", "before");
    AtomicFile a(folder / "a"), b(folder / "b");
    a.stream() << large;
    CHECK(folder.entries() == 3);
    remove_temporaries();
    CHECK(folder.entries() == 1);
    CHECK(bytes_of(folder / "a") == "before");
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
    const std::string message = message_of<RunError>([&] {
        const SmallFiles small(100'000);
        write_atomically(folder / "a", large);
    });
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
    ::setitimer(ITIMER_REAL, &soon, nullptr);  // repeated, because the first signal may come before the wait
    CHECK_THROWS_AS(AtomicFile(folder / "fifo"), Interrupted);
    ::setitimer(ITIMER_REAL, &never, nullptr);
    ::sigaction(SIGALRM, &before, nullptr);
}
