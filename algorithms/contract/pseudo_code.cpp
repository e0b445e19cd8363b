#include "algorithms/contract/pseudo_code.hpp"

#include <string_view>

#include "core/text/message.hpp"

namespace tilescope {
namespace {

/// The message NAME.`what` of the algorithm's en.txt; empty where there is none.
std::string in_its_words(const Algorithm& algorithm, const std::string& what) {
    const std::string_view* words = text::language().words(algorithm.name + ('.' + what));
    return words ? std::string(*words) : std::string();
}

}  // namespace

std::vector<CodeLine> code_for(const Algorithm& algorithm, const Problem& problem) {
    std::vector<CodeLine> code(algorithm.code.begin(), algorithm.code.end());
    std::erase_if(code, [&](const CodeLine& c) { return c.of && !problem.uses(*c.of); });
    return code;
}

std::string code_of(const Algorithm& algorithm, std::uint16_t line) {
    for (const CodeLine& c : algorithm.code) {
        const std::string_view code = c.code;
        if (c.number == line) return std::string(code.substr(code.find_first_not_of(' ')));
    }
    return {};
}

std::string idea_of(const Algorithm& algorithm) {
    return *algorithm.idea ? algorithm.idea : in_its_words(algorithm, "idea");
}

std::string why_of(const Algorithm& algorithm, const CodeLine& line) {
    return line.why ? line.why : in_its_words(algorithm, std::to_string(line.number));
}

}  // namespace tilescope
