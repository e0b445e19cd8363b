// Saved states: what was read can be saved, and reads back as the same.
#include "show/state/state.hpp"

#include "tests/fuzz/fuzz.hpp"

using namespace tilescope;
using namespace tilescope::show;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string path = fuzz::file_of("a.json", fuzz::text_of(data, size));
    fuzz::accepted([&] {
        const State state = read_state(path);
        if (!state.setup.recording.empty()) return;
        const std::string copy = fuzz::file_of("b.json", "");
        save_state(state, copy);
        fuzz::require(command_line(read_state(copy)) == command_line(state), "what is saved reads back");
    });
    return 0;
}
