#include "device/driver.hpp"

#include <fstream>

#include "tests/support/catch.hpp"
#include "tests/support/folder.hpp"

using namespace tilescope::device;

namespace {

namespace fs = std::filesystem;

/// A folder like the driver's, gone with this.
struct DriverFiles {
    const tilescope::Folder folder;
    const fs::path root = folder / "driver";
    DriverFiles() {
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
