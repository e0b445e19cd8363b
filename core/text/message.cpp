#include "core/text/message.hpp"

#include <algorithm>
#include <cstddef>

namespace tilescope::text {

/// Generated from texts/en/.
std::span<const EmbeddedFile> embedded_texts();

namespace {

const Language* in_use = nullptr;

constexpr std::string_view blank = " \t\r";

std::string_view trimmed(std::string_view s) {
    s.remove_prefix(std::min(s.find_first_not_of(blank), s.size()));
    return s.substr(0, s.find_last_not_of(blank) + 1);
}

/// The text that replaces a pair of braces, in which `inside` stands: "1" or "1|row|rows".
std::string filler(std::string_view inside, std::span<const Argument> arguments) {
    if (inside.empty()) return "";
    const std::size_t bar = inside.find('|'), number = static_cast<std::size_t>(inside[0] - '1');
    if (number >= arguments.size()) return "";
    const Argument& a = arguments[number];
    if (bar == inside.npos) return a.text();
    const std::string_view forms = inside.substr(bar + 1);
    return std::string(a.is_one() ? forms.substr(0, forms.find('|')) : forms.substr(forms.find('|') + 1));
}

}  // namespace

Language::Language(std::span<const EmbeddedFile> files, const Language* otherwise) : otherwise_(otherwise) {
    for (const EmbeddedFile& file : files)
        for (std::string_view rest = file.text; !rest.empty();) {
            const std::string_view line = rest.substr(0, rest.find('\n'));
            rest.remove_prefix(std::min(line.size() + 1, rest.size()));
            if (const std::size_t equals = line.find(" = "); !line.starts_with('#') && equals != line.npos)
                messages_.emplace_back(trimmed(line.substr(0, equals)), trimmed(line.substr(equals + 3)));
        }
    std::sort(messages_.begin(), messages_.end());
}

const std::string_view* Language::words(std::string_view id) const {
    const auto at =
        std::lower_bound(messages_.begin(), messages_.end(), id,
                         [](const auto& message, std::string_view wanted) { return message.first < wanted; });
    if (at != messages_.end() && at->first == id) return &at->second;
    return otherwise_ ? otherwise_->words(id) : nullptr;
}

const Language& language() {
    if (in_use) return *in_use;
    static const Language english(embedded_texts());
    return english;
}

void use(const Language& language) { in_use = &language; }

std::string filled(std::string_view words, std::span<const Argument> arguments) {
    std::string text;
    while (!words.empty()) {
        const std::size_t open = std::min(words.find('{'), words.size()), close = words.find('}', open);
        text += words.substr(0, open);
        if (close == words.npos) break;
        text += filler(words.substr(open + 1, close - open - 1), arguments);
        words.remove_prefix(close + 1);
    }
    return text;
}

std::string message(std::string_view id, std::span<const Argument> arguments) {
    const std::string_view* words = language().words(id);
    return words ? filled(*words, arguments) : '<' + std::string(id) + '>';
}

std::string sentences(const std::vector<std::string>& all) {
    std::string text;
    for (const std::string& s : all)
        if (!s.empty()) text = text.empty() ? s : message("list.two_sentences", text, s);
    return text;
}

}  // namespace tilescope::text
