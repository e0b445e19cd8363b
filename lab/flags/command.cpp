#include "lab/flags/command.hpp"

#include "core/text/words.hpp"

namespace tilescope::lab {

namespace {

/// In single quotes, of which there can be none between them.
std::string quoted(const std::string& word) {
    std::string typed = "'";
    for (const char c : word) typed += c == '\'' ? R"('\'')" : std::string(1, c);
    return typed + '\'';
}

}  // namespace

std::string shell_line(const std::vector<std::string>& words) {
    constexpr const char* plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=+,:";
    std::vector<std::string> typed;
    for (const std::string& word : words) {
        const bool is_plain = !word.empty() && word.find_first_not_of(plain) == std::string::npos;
        typed.push_back(is_plain ? word : quoted(word));
    }
    return text::join(typed, " ");
}

std::string step_command(const std::string& algorithm, const Options& options, const Place& place) {
    std::vector<std::string> words = {"tilescope", "step", algorithm};
    for (std::string& flag : flags_of(options)) words.push_back(std::move(flag));
    const auto add = [&](const char* flag, Index value) { words.insert(words.end(), {flag, std::to_string(value)}); };
    if (place.launch >= 0) add("--launch", place.launch);
    if (place.block >= 0) add("--block", place.block);
    if (place.line > 0) add("--line", place.line);
    return shell_line(words);
}

}  // namespace tilescope::lab
