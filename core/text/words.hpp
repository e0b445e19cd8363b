// Names and sentences: lists, quotes, and the word that was probably meant.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tilescope::text {

std::string join(const std::vector<std::string>& parts, const std::string& separator);
/// How many places it takes in a terminal: characters, not bytes.
std::size_t width(std::string_view text);
/// `text` cut between words into lines of at most `most` places; a longer word has a line of its own.
std::vector<std::string> wrapped(std::string_view text, std::size_t most);
/// At most 400 characters of `text` on one line: control characters become spaces.
std::string one_line(std::string text);
/// `text` between quotes, cut to a readable length and stripped of control characters: safe to print whatever it was.
std::string quoted(const std::string& text);
/// A word as it is compared: lower case, without spaces, dashes and underscores.
std::string plain(std::string_view word);
/// The name that was probably meant: few edits away, and better one that begins or ends alike.
std::string nearest(std::string_view wanted, const std::vector<std::string>& names);

}  // namespace tilescope::text
