#include "device/driver.hpp"

#include <unistd.h>

#include <fstream>

#include "core/machine/counters.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/folder.hpp"

using namespace tilescope::device;

namespace {

namespace fs = std::filesystem;

/// A folder like the driver's, removed at the end.
struct DriverFiles {
    const tilescope::Folder folder;
    const fs::path root = folder / "driver";
    DriverFiles() {
        fs::create_directories(root / "self");
        fs::create_directories(root / "sys" / "kernel");
        fs::create_directories(root / "gpus" / "0000:19:00.0");
        fs::create_directories(root / "gpus" / "0000:3b:00.0");
    }
    void write(const char* name, const char* text) const { std::ofstream(root / name) << text; }
};

}  // namespace

TEST_CASE("driver: its files name the GPUs", "[driver][posix]") {
    const DriverFiles files;
    CHECK(gpus_of_driver(files.root / "nowhere").empty());
    CHECK(gpus_of_driver(files.root / "gpus").empty());
    files.write("gpus/0000:19:00.0/information", "Model: \t\t NVIDIA H200\nIRQ:   \t\t 1\nGPU UUID: \t GPU-0\n");
    CHECK(gpus_of_driver(files.root / "gpus") == std::vector<std::string>{"NVIDIA H200"});
    files.write("gpus/0000:3b:00.0/information", "Model: \t\t a\x1b[31mb\n");
    CHECK(gpus_of_driver(files.root / "gpus").size() == 2);
    for (const std::string& name : gpus_of_driver(files.root / "gpus")) CHECK(name.find('\x1b') == name.npos);
}

TEST_CASE("driver: its parameters say who may read counters", "[driver][posix]") {
    const DriverFiles files;
    CHECK(counters_open(files.root / "params") == CountersOpen::unknown);
    files.write("params", "EnableMSI: 1\nRmProfilingAdminOnly: 1\nTemporaryFilePath: \"\"\n");
    CHECK(counters_open(files.root / "params") == CountersOpen::to_root);
    files.write("params", "NotRmProfilingAdminOnly: 1\nRmProfilingAdminOnly: 0\n");
    CHECK(counters_open(files.root / "params") == CountersOpen::to_everyone);
    files.write("params", "EnableMSI: 1\n");
    CHECK(counters_open(files.root / "params") == CountersOpen::unknown);
}

TEST_CASE("driver: the capability lets root read counters, and Windows decides for WSL", "[driver][posix]") {
    const DriverFiles files;
    CHECK_FALSE(rights(files.root / "nowhere").admin);
    CHECK(rights(files.root / "nowhere").root == (geteuid() == 0));
    files.write("self/status", "Name:\ttilescope\nCapPrm:\t000001ffffffffff\nCapEff:\t00000000a80425fb\n");  // Docker's
    CHECK_FALSE(rights(files.root).admin);
    files.write("self/status", "Name:\ttilescope\nCapEff:\t0000000000200000\n");
    CHECK(rights(files.root).admin);
    files.write("sys/kernel/osrelease", "6.1.0-18-amd64\n");
    CHECK_FALSE(rights(files.root).in_windows);
    files.write("sys/kernel/osrelease", "5.15.153.1-microsoft-standard-WSL2\n");
    CHECK(rights(files.root).in_windows);
}

TEST_CASE("driver: how to read counters is said for where one is", "[driver]") {
    using Catch::Matchers::ContainsSubstring;
    for (const bool root : {false, true}) {
        const std::string on_linux = how_to_read_counters({.root = root}),
                          in_windows = how_to_read_counters({.root = root, .in_windows = true});
        CHECK_THAT(on_linux, ContainsSubstring("--cap-add=SYS_ADMIN") &&
                                 ContainsSubstring("NVreg_RestrictProfilingToAdminUsers=0"));
        CHECK((on_linux.find("run as root") == on_linux.npos) == root);
        CHECK_THAT(in_windows, ContainsSubstring("Manage GPU Performance Counters"));
        CHECK_THAT(in_windows, !ContainsSubstring("root") && !ContainsSubstring("NVreg"));
    }
}
