// Gives a fuzzer every file of the named folders, where there is no libFuzzer to do so.
#include <algorithm>
#include <filesystem>
#include <vector>

#include "tests/fuzz/fuzz.hpp"

int main(int argc, char** argv) {
    std::vector<std::filesystem::path> files;
    for (int i = 1; i < argc; ++i) {
        if (std::filesystem::is_regular_file(argv[i])) files.emplace_back(argv[i]);
        if (!std::filesystem::is_directory(argv[i])) continue;
        for (const auto& entry : std::filesystem::directory_iterator(argv[i])) files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end());
    for (const auto& file : files) {
        std::fprintf(stderr, "%s\n", file.c_str());  // if the program ends here, the last line names the input
        const std::string bytes = tilescope::bytes_of(file);
        LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
    }
    std::printf("%zu inputs\n", files.size());
    return files.empty();
}
