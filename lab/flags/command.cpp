#include "lab/flags/command.hpp"

#include "core/text/quoting.hpp"
#include "core/text/words.hpp"
#include "lab/own/own.hpp"

namespace tilescope::lab {

std::string shell_line(const std::vector<std::string>& words) {
    std::vector<std::string> typed;
    for (const std::string& word : words) typed.push_back(text::in_shell(word));
    return text::join(typed, " ");
}

std::vector<std::string> command_of(std::vector<std::string> words, const std::string& algorithm,
                                    const Options& options) {
    words.push_back(typed_name(algorithm));
    for (std::string& flag : flags_of(options)) words.push_back(std::move(flag));
    return words;
}

std::string step_command(const std::string& algorithm, const Options& options, const Place& place) {
    std::vector<std::string> words = command_of({"tilescope", "step"}, algorithm, options);
    const auto add = [&](const char* flag, Index value) { words.insert(words.end(), {flag, std::to_string(value)}); };
    if (place.launch >= 0) add("--launch", place.launch + 1);
    if (place.block >= 0) add("--block", place.block);
    if (place.line > 0) add("--line", place.line);
    return shell_line(words);
}

}  // namespace tilescope::lab
