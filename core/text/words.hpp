// Names and sentences: lists, quotes, and the word that was probably meant.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tilescope::text {

std::string join(const std::vector<std::string>& parts, const std::string& separator);
/// "K, V and O".
std::string listed(const std::vector<std::string>& names);
/// "f32, f16 or bf16".
std::string alternatives(const std::vector<std::string>& names);
/// `text` with its first letter in upper case.
std::string capitalised(std::string text);
/// "update the driver" as "Update the driver."
std::string as_sentence(std::string clause);
/// The width in a terminal, in columns: columns() of its characters, added up.
std::size_t width(std::string_view text);
/// `text` cut between words, and in words as may_break() says, into lines of at most `most` columns. A piece that is
/// longer and cannot be cut has a line of its own.
std::vector<std::string> wrapped(std::string_view text, std::size_t most);
/// Sentences without the last one: "A. B is 1.5." becomes "A."; one alone becomes nothing.
std::string_view without_last_sentence(std::string_view text);
bool is_utf8(std::string_view text);
/// Whether a terminal draws every character of `text`: UTF-8 without control characters and invisible formatting.
bool printable(std::string_view text);
/// Makes text from a user or a file safe to print. Short printable text stays as it is. Other text is quoted, with \n,
/// \x1b or \u{202e} for what is not printable, and with "..." for its middle if it has over `most` characters.
std::string shown(std::string_view text, std::size_t most = 100);
/// The form in which words are compared: lower case, without spaces, dashes and underscores.
std::string plain(std::string_view word);
/// The names that `wanted` may stand for: the name that equals it (as plain()), or else all names that begin with it.
std::vector<std::string> meant(std::string_view wanted, const std::vector<std::string>& names);
/// The name that was probably meant: few edits away for its length, or half of it typed. Among several, those that
/// begin or end like `wanted` come first. nullopt where no name is close.
std::optional<std::string> nearest(std::string_view wanted, const std::vector<std::string>& names);
/// "did you mean NAME?" with `before` in front; `otherwise` where no name is close.
std::string did_you_mean(std::string_view before, std::string_view wanted, const std::vector<std::string>& names,
                         std::string_view otherwise = "");

}  // namespace tilescope::text
