#include "lab/run/explained.hpp"

#include "algorithms/contract/pseudo_code.hpp"

namespace tilescope::lab {

std::vector<std::pair<CodeLine, LineProfile>> explained_lines(const Experiment& e, const Profile& profile) {
    std::vector<std::pair<CodeLine, LineProfile>> all;
    std::map<std::uint16_t, LineProfile> rest = profile.lines();
    for (const CodeLine& c : code_for(*e.algorithm, e.problem)) {
        all.emplace_back(c, rest[c.number]);
        rest.erase(c.number);
    }
    for (const auto& [number, line] : rest)
        all.emplace_back(CodeLine{number, number == 0 ? "(before any line)" : "(no line of the code)", ""}, line);
    return all;
}

}  // namespace tilescope::lab
