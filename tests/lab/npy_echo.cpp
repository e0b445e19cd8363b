// Reads one .npy file and writes it as another: npy_echo FROM TO f32|f16|bf16
#include <iostream>
#include <vector>

#include "core/machine/error.hpp"
#include "lab/npy.hpp"

int main(int argc, char** argv) {
    using namespace tilescope;
    using namespace tilescope::lab;
    const std::vector<std::string> arguments(argv, argv + argc);
    const auto dtype = argc == 4 ? dtype_from(arguments[3]) : std::nullopt;
    if (!dtype) {
        std::cerr << "usage: npy_echo FROM TO f32|f16|bf16\n";
        return 2;
    }
    try {
        const NpyArray array = read_npy(arguments[1]);
        write_npy(arguments[2], array.shape, *dtype, array.values);
    } catch (const UsageError& error) {
        std::cerr << error.what() << '\n';
        return 2;
    } catch (const RunError& error) {
        std::cerr << error.what() << '\n';
        return 1;
    }
    return 0;
}
