// NumPy files: there are no more values than bytes, and what is written reads back.
#include "lab/workload/npy.hpp"

#include <cmath>
#include <numeric>

#include "tests/fuzz/fuzz.hpp"

using namespace tilescope;
using namespace tilescope::lab;

namespace {

bool same(const std::vector<float>& a, const std::vector<float>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](float x, float y) { return x == y || (std::isnan(x) && std::isnan(y)); });
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string path = fuzz::file_of("a.npy", fuzz::text_of(data, size));
    fuzz::accepted([&] {
        const FileArray a = read_npy(path);
        const Index elements = std::accumulate(a.shape.begin(), a.shape.end(), Index{1}, std::multiplies<>());
        fuzz::require(elements == static_cast<Index>(a.values.size()), "as many values as the shape says");
        fuzz::require(a.values.size() <= size, "no more values than bytes");
        const std::string copy = fuzz::file_of("b.npy", "");
        write_npy(copy, a.shape, Dtype::f32, a.values);
        const FileArray b = read_npy(copy);
        fuzz::require(a.shape == b.shape && same(a.values, b.values), "what is written reads back");
    });
    fuzz::accepted([&] {
        const FileArray a = read_npy(path, nullptr, Dtype::e4m3);
        fuzz::require(a.values.size() <= size, "no more values than bytes of e4m3");
    });
    return 0;
}
