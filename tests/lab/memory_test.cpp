#include "lab/system/memory.hpp"

#include <sys/resource.h>

#include "core/machine/error.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/folder.hpp"

using namespace tilescope;
using namespace tilescope::lab;

namespace {

/// A folder with files as in /proc and /sys/fs/cgroup. left(): the memory that these files leave.
struct System : Folder {
    void write(const std::string& path, const std::string& content) {
        const std::filesystem::path file(*this / path);
        std::filesystem::create_directories(file.parent_path());
        write_bytes(file, content);
    }
    Bytes left() { return memory_left(*this / ""); }
};

constexpr Bytes gb = 1'000'000'000;

}  // namespace

TEST_CASE("the machine says what memory is left", "[memory]") {
    System s;
    CHECK(s.left() > 1'000'000 * gb);  // nothing is known, so nothing is limited
    s.write("proc/meminfo", "MemTotal:       24731708 kB\nMemFree: 1 kB\nMemAvailable:   1000 kB\n");
    CHECK(s.left() == 1024'000);
    s.write("proc/meminfo", "MemTotal:       24731708 kB\n");
    CHECK(s.left() > 1'000'000 * gb);
}

TEST_CASE("control groups of version 2 limit it, each for what is in it", "[memory]") {
    System s;
    s.write("proc/self/cgroup", "0::/user.slice/job\n");
    const auto group = [&](const std::string& path, const std::string& most, Bytes used) {
        s.write("sys/fs/cgroup" + path + "/memory.max", most + "\n");
        s.write("sys/fs/cgroup" + path + "/memory.current", std::to_string(used) + "\n");
    };
    group("/user.slice/job", "max", 300);
    CHECK(s.left() > gb);
    group("/user.slice/job", "1000", 300);
    CHECK(s.left() == 700);
    s.write("sys/fs/cgroup/user.slice/job/memory.stat", "anon 100\nfile 200\ninactive_file 150\nactive_file 50\n");
    CHECK(s.left() == 850);  // cached files can be dropped
    group("/user.slice", "1500", 1400);
    CHECK(s.left() == 100);
    group("", "50", 60);  // a container shows its own group as the outermost one
    CHECK(s.left() == 0);
}

TEST_CASE("control groups of version 1 limit it", "[memory]") {
    System s;
    s.write("proc/self/cgroup", "12:cpu,cpuacct:/a\n4:hugetlb,memory:/docker/0123\n1:name=systemd:/\n0::/\n");
    s.write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
    s.write("sys/fs/cgroup/memory/memory.usage_in_bytes", "5000\n");
    CHECK(s.left() > 1'000'000 * gb);
    s.write("sys/fs/cgroup/memory/memory.limit_in_bytes", "8000\n");
    CHECK(s.left() == 3000);
    s.write("sys/fs/cgroup/memory/memory.stat", "inactive_file 1\ntotal_inactive_file 500\n");
    CHECK(s.left() == 3500);
}

TEST_CASE("files of another form limit nothing", "[memory]") {
    System s;
    for (const char* content : {"", "\n", "x", "::", "0:", "4:memory", "0::", ":::::", "0::/../../x\n"}) {
        s.write("proc/self/cgroup", content);
        s.write("proc/meminfo", content);
        for (const char* file : {"memory.max", "memory.current", "memory.stat"})
            s.write(std::string("sys/fs/cgroup/") + file, "max\n");
        CHECK(s.left() > gb);
    }
}

#if !defined(TILESCOPE_SANITIZED)
TEST_CASE("limits of the process count, too", "[memory]") {
    for (const auto resource : {RLIMIT_AS, RLIMIT_DATA}) {
        rlimit before{};
        REQUIRE(getrlimit(resource, &before) == 0);
        rlimit narrow = before;
        narrow.rlim_cur = 2 * gb;
        REQUIRE(setrlimit(resource, &narrow) == 0);
        const Bytes left = memory_left();
        const bool fits = fits_in_memory(2 * gb);
        setrlimit(resource, &before);
        CHECK(left > 0);
        CHECK(left < 2 * gb);
        CHECK_FALSE(fits);
    }
    CHECK(message_of<RunError>([] {
              check_memory(1'000'000 * gb, "inputs.too_large", "1", "2", "3");
          }).starts_with("an array of 1 x 2 x 3 needs 1.00 PB of memory, and "));
}
#endif
