// Reads .npy files and writes each to another file: npy_echo f32|f16|bf16, with lines "FROM<tab>TO" on standard input.
// For each, prints an empty line or an error. (One process for all, because sanitized programs take long to start.)
#include <exception>
#include <iostream>
#include <string>

#include "core/machine/dtypes.hpp"
#include "lab/workload/npy.hpp"

int main(int argc, char** argv) {
    using namespace tilescope;
    using namespace tilescope::lab;
    const auto dtype = argc == 2 ? dtype_from(argv[1]) : std::nullopt;
    if (!dtype) {
        std::cerr << "usage: npy_echo f32|f16|bf16\n";
        return 2;
    }
    for (std::string from, to; std::getline(std::getline(std::cin, from, '\t'), to);) {
        try {
            const FileArray array = read_npy(from);
            write_npy(to, array.shape, *dtype, array.values);
        } catch (const std::exception& error) {
            std::cout << error.what();
        }
        std::cout << std::endl;
    }
    return 0;
}
