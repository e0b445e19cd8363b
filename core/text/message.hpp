// Sentences for people. A program names a message and what it is about; the words, their order and plurals are in
// texts/.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/text/embedded.hpp"
#include "core/text/numbers.hpp"

namespace tilescope::text {

/// What a message is about: a text, or a whole number, which is written in groups of three digits. It refers to its
/// caller's text.
class Argument {
  public:
    Argument(const std::string& text) : text_(text) {}
    Argument(std::string_view text) : text_(text) {}
    Argument(const char* text) : text_(text) {}
    template <std::integral T>
    requires(!std::same_as<T, bool> && !std::same_as<T, char>) Argument(T number)
        : number_(static_cast<std::int64_t>(number)) {}

    std::string text() const { return number_ ? grouped(*number_) : std::string(text_); }
    /// Whether the singular stands with this argument.
    bool is_one() const { return number_ ? *number_ == 1 : text_ == "1"; }

  private:
    std::string_view text_;
    std::optional<std::int64_t> number_;
};

/// The words of all messages in one language. A file has a message a line, "id = words", and comments after #. In the
/// words {1} is the first argument, and {1|row|rows} is "row" where the first argument reads 1, else "rows".
/// `otherwise`: the language that stands in where this one has no words; nullptr: none.
class Language {
  public:
    explicit Language(std::span<const EmbeddedFile> files, const Language* otherwise = nullptr);
    /// nullptr where there is no such message.
    const std::string_view* words(std::string_view id) const;
    const std::vector<std::pair<std::string_view, std::string_view>>& messages() const { return messages_; }

  private:
    std::vector<std::pair<std::string_view, std::string_view>> messages_;  // by id
    const Language* otherwise_;
};

/// English, unless use() chose another language.
const Language& language();
/// Chooses the language. Call this before the first message; `language` must outlive the last one.
void use(const Language& language);

/// The words with the arguments in them.
std::string filled(std::string_view words, std::span<const Argument> arguments);

/// The message in the language in use; its id in angle brackets where the language lacks it.
std::string message(std::string_view id, std::span<const Argument> arguments);

template <class... A>
std::string message(std::string_view id, const A&... arguments) {
    const std::array<Argument, sizeof...(A)> all = {Argument(arguments)...};
    return message(id, std::span<const Argument>(all));
}

/// Sentences one after the other, without the empty ones.
std::string sentences(const std::vector<std::string>& all);

}  // namespace tilescope::text
