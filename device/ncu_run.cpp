#include "device/ncu_run.hpp"

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "core/text/message.hpp"
#include "core/text/words.hpp"
#include "lab/system/child.hpp"

namespace tilescope::device {
using text::message;
namespace {

std::vector<std::string> command(const std::vector<std::string>& asked, const std::vector<std::string>& arguments) {
    std::vector<std::string> all = ncu_words(asked);
    all.push_back(std::filesystem::read_symlink("/proc/self/exe").string());
    all.insert(all.end(), arguments.begin(), arguments.end());
    return all;
}

Index count_of(std::string_view text, std::string_view part) {
    Index n = 0;
    for (std::size_t at = 0; (at = text.find(part, at)) != std::string_view::npos; at += part.size()) ++n;
    return n;
}

/// The last line that is not ncu's own: what the profiled program said.
std::string last_words(const std::string& text) {
    std::istringstream lines(text);
    std::string last;
    for (std::string line; std::getline(lines, line);)
        if (!line.empty() && !line.starts_with("==")) last = line;
    return text::shown(last, 400);
}

std::string run_once(const std::vector<std::string>& all, Control* control, std::atomic<Index>* launches) {
    lab::Child ncu(all);
    std::string text;
    while (ncu.read_more(text, control))
        if (launches) *launches = count_of(text, "==PROF== Profiling");
    const int status = ncu.wait();
    if (status != 0 && parse_ncu(text).empty() && ncu_problem(text).empty())
        throw RunError(message("ncu.failed", last_words(text)));
    return text;
}

}  // namespace

void require_ncu() {
    if (lab::on_path("ncu")) return;
    throw RunError(message("ncu.not_on_path", message(how_to_get_ncu)));
}

std::vector<NcuLaunch> run_ncu(const std::vector<std::string>& arguments, Control* control,
                               std::atomic<Index>* launches) {
    require_ncu();
    std::vector<std::string> asked(ncu_metrics().begin(), ncu_metrics().end());
    for (;;) {
        const std::string text = run_once(command(asked, arguments), control, launches);
        auto found = parse_ncu(text);
        if (!found.empty()) return found;
        // An unknown metric stops ncu: runs it once more without this metric.
        const auto unknown = unknown_metrics(text);
        const auto dropped =
            std::erase_if(asked, [&](const std::string& m) { return std::ranges::find(unknown, m) != unknown.end(); });
        if (dropped > 0 && !asked.empty()) continue;
        const std::string problem = ncu_problem(text);
        throw RunError(problem.empty() ? message("ncu.profiled_nothing", last_words(text))
                                       : message("ncu.problem", problem));
    }
}

}  // namespace tilescope::device
