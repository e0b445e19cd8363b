#include "core/text/page.hpp"

#include <sstream>

#include "core/text/words.hpp"

namespace tilescope::text {

void print_wrapped(std::ostream& out, const std::string& text, const std::string& indent, const std::string& further) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        const std::size_t room = line_width - indent.size();
        const bool cut = width(line) > room;
        std::string begin = indent;
        for (const std::string& part : wrapped(line, cut ? room - further.size() : room)) {
            out << begin << part << '\n';
            begin = indent + further;
        }
        if (line.empty()) out << '\n';
    }
}

}  // namespace tilescope::text
