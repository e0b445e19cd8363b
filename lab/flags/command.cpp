#include "lab/flags/command.hpp"

#include <cstdio>

#include "core/text/words.hpp"
#include "lab/own/own.hpp"

namespace tilescope::lab {
namespace {

constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./+,:";

/// In single quotes, of which there can be none between them.
std::string quoted(const std::string& word) {
    std::string typed = "'";
    for (const char c : word) typed += c == '\'' ? R"('\'')" : std::string(1, c);
    return typed + '\'';
}

/// By a command of the shell's, which makes the bytes that a line cannot have: `"$(printf 'a\012b')"`.
std::string printed(const std::string& word) {
    std::string typed = "\"$(printf '";
    for (const char c : word) {
        char octal[5];
        std::snprintf(octal, sizeof octal, "\\%03o", static_cast<unsigned char>(c));
        const bool clear = plain.find(c) != plain.npos && c != '-';  // which would begin an option of printf
        typed += c == '%' ? "%%" : clear ? std::string(1, c) : octal;
    }
    return typed + "')\"";
}

std::string shell_word(const std::string& word) {
    if (!text::printable(word)) return printed(word);
    return !word.empty() && word.find_first_not_of(plain) == plain.npos ? word : quoted(word);
}

}  // namespace

std::string shell_line(const std::vector<std::string>& words) {
    std::vector<std::string> typed;
    for (const std::string& word : words) typed.push_back(shell_word(word));
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
