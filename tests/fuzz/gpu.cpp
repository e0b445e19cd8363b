// Files that describe a GPU: what is understood can be written, and reads back.
#include "lab/gpu/gpu_json.hpp"
#include "lab/gpu/gpu_presets.hpp"
#include "tests/fuzz/fuzz.hpp"

using namespace tilescope;
using namespace tilescope::lab;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::accepted([&] {
        const std::string text = gpu_json(parse_gpu(fuzz::text_of(data, size), "fuzz.json"));
        fuzz::require(gpu_json(parse_gpu(text, "fuzz.json")) == text, "what is written reads back: " + text);
    });
    return 0;
}
