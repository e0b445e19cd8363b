#include "core/machine/mistakes.hpp"

#include "core/text/message.hpp"

namespace tilescope {
using text::message;

std::string source_of(Here here) {
    const char* ours = among_sources(here.file);
    return message("mistake.source_line", std::to_string(here.line), ours ? ours : here.file);
}

Misuse::Misuse(const std::string& what, Here here) : std::logic_error(message("mistake.at", what, source_of(here))) {}

}  // namespace tilescope
