// Recordings: what was read can be written, and reads back to the same text.
#include "lab/report/recording.hpp"

#include <sstream>

#include "tests/fuzz/fuzz.hpp"

using namespace tilescope;
using namespace tilescope::lab;

namespace {

Recording read(const std::string& text) {
    std::istringstream in(text);
    return read_recording(in, "fuzz.json");
}

std::string written(const Recording& r) {
    std::ostringstream out;
    write_recording(out, r.experiment, r.inputs, r.trace);
    return out.str();
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::accepted([&] {
        const std::string text = written(read(std::string(fuzz::text_of(data, size))));
        fuzz::require(written(read(text)) == text, "what is written reads back");
    });
    return 0;
}
