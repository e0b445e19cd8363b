// Sentences whose pieces have hues.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/machine/tensor.hpp"
#include "core/text/message.hpp"

namespace tilescope::show {

/// A piece of a sentence. `hue`: where the piece is a tensor's name, the meaning that decides its colour.
struct Phrase {
    std::string text;
    std::optional<Meaning> hue = std::nullopt;

    friend bool operator==(const Phrase&, const Phrase&) = default;
};
using Sentence = std::vector<Phrase>;

/// Makes arguments of a message out of phrases: a single character stands for each argument, nine at most, and in()
/// puts the phrases, with their hues, in its place.
class Marks {
  public:
    text::Argument of(const Sentence& s) {
        constexpr std::string_view marks = "\1\2\3\4\5\6\7\10\11";
        marked_.push_back(s);
        return marks.substr(marked_.size() - 1, 1);
    }
    text::Argument of(const Phrase& p) { return of(Sentence{p}); }
    template <class T>
    text::Argument of(const T& plain) {
        return plain;
    }
    /// The words with the phrases in them. Neighbours without a hue become one phrase.
    Sentence in(std::string_view words) const;

  private:
    std::vector<Sentence> marked_;  // the first one's mark is the character of code 1
};

/// text::message(), where arguments may also be phrases and sentences.
template <class... A>
Sentence sentence(std::string_view id, const A&... arguments) {
    Marks marks;
    const std::string words = text::message(id, marks.of(arguments)...);
    return marks.in(words);
}

/// text::listed() of names in their hues: "K, V and O".
Sentence listed(const std::vector<Phrase>& names);

}  // namespace tilescope::show
