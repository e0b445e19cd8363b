#include "cli/said.hpp"

#include "core/text/message.hpp"
#include "core/text/words.hpp"

namespace tilescope::cli {

std::string paragraph(const std::string& words, std::size_t width) {
    return text::join(text::wrapped(words, width), "\n");
}

std::string examples(const std::vector<std::string_view>& ids) {
    std::string all = text::message("help.examples");
    for (const std::string_view id : ids) all += "\n  " + text::message(id);
    return all;
}

}  // namespace tilescope::cli
