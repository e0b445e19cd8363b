// Frames without a display, with any actions between them.
#include "tests/fuzz/fuzz.hpp"
#include "tests/gui/visitor.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    tilescope::Choices choices(std::span(data, size));
    tilescope::gui::Visitor visitor(choices);
    for (int k = 0; k < 200 && !choices.over(); ++k) {
        const std::string wrong = visitor.act();
        tilescope::fuzz::require(wrong.empty(), wrong);
    }
    return 0;
}
