#include "cli/said.hpp"

#include "core/text/message.hpp"
#include "core/text/words.hpp"

namespace tilescope::cli {

std::vector<std::string> said(const std::vector<std::string_view>& ids) {
    std::vector<std::string> all;
    for (const std::string_view id : ids) all.push_back(id.empty() ? "" : text::message(id));
    return all;
}

std::string paragraph(const std::string& words, std::size_t width) {
    return text::join(text::wrapped(words, width), "\n");
}

std::string examples(const std::vector<std::string_view>& ids) {
    return text::message("help.examples") + "\n  " + text::join(said(ids), "\n  ");
}

}  // namespace tilescope::cli
