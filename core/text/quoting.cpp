#include "core/text/quoting.hpp"

#include <cstdio>

#include "core/text/words.hpp"

namespace tilescope::text {
namespace {

constexpr std::string_view plain_in_shell = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./+,:";

/// The text with letter(c) for every character c.
template <class F>
std::string each(std::string_view text, F&& letter) {
    std::string out;
    for (const char c : text) out += letter(c);
    return out;
}

bool is_one_of(char c, std::string_view some) { return some.find(c) != some.npos; }

/// A shell command that prints the word, for words with bytes that a line cannot hold: `"$(printf 'a\012b')"`.
std::string printed(const std::string& word) {
    return "\"$(printf '" +
           each(word,
                [](char c) -> std::string {
                    char octal[5];
                    std::snprintf(octal, sizeof octal, "\\%03o", static_cast<unsigned char>(c));
                    const bool clear = is_one_of(c, plain_in_shell) && c != '-';  // '-' would begin an option of printf
                    return c == '%' ? "%%" : clear ? std::string{c} : octal;
                }) +
           "')\"";
}

}  // namespace

std::string in_gnuplot(std::string_view text) {
    return "'" +
           each(text,
                [](char c) -> std::string {
                    if (c == '\n') return "'.\"\\n\".'";   // only double quotes know \n
                    if (c == '@') return "'.\"\\100\".'";  // after a quote, @ would begin a macro, even in a string
                    return c == '\'' ? "'.\"'\".'" : std::string{c};
                }) +
           "'";
}

std::string in_gnuplot_tick(std::string_view text) {
    return in_gnuplot(each(text, [](char c) { return c == '%' ? std::string("%%") : std::string{c}; }));
}

std::string in_gnuplot_data(std::string_view text) {
    return "\"" +
           each(text,
                [](char c) -> std::string {
                    if (c == '\n') return "\\n";
                    if (!is_one_of(c, "\"\\`")) return {c};
                    char octal[5];
                    std::snprintf(octal, sizeof octal, "\\%03o", static_cast<unsigned char>(c));
                    return octal;
                }) +
           "\"";
}

std::string in_gnuplot_comment(std::string_view text) {
    std::string line = each(text, [](char c) { return std::string{static_cast<unsigned char>(c) < 0x20 ? ' ' : c}; });
    return "# " + line + (line.ends_with('\\') ? " " : "");  // a backslash at the end would continue the comment
}

std::string in_gnuplot_output(const std::string& path) {
    return in_gnuplot((path.starts_with('|') ? "./" : "") + path);
}

std::string in_tex(std::string_view text) {
    // At the start of a table row, [ or * would be read as an argument of the command that ends the row before.
    return (text.starts_with('[') || text.starts_with('*') ? "{}" : "") + each(text, [](char c) -> std::string {
               switch (c) {
                   case '\\':
                       return "\\textbackslash{}";
                   case '<':
                       return "\\textless{}";
                   case '>':
                       return "\\textgreater{}";
                   case '|':
                       return "\\textbar{}";
                   case '~':
                   case '^':
                       return {'\\', c, '{', '}'};
                   default:
                       return is_one_of(c, "&%$#_{}") ? std::string{'\\', c} : std::string{c};
               }
           });
}

std::string in_markdown(std::string_view text) {
    return each(text, [](char c) { return is_one_of(c, "|_*<`\\[]&~$") ? std::string{'\\', c} : std::string{c}; });
}

std::string in_csv(std::string_view text) {
    if (text.find_first_of(",\"\r\n") == text.npos) return std::string(text);
    return '"' + each(text, [](char c) { return c == '"' ? std::string("\"\"") : std::string{c}; }) + '"';
}

std::string in_xml(std::string_view text) {
    return each(text, [](char c) -> std::string {
        switch (c) {
            case '&':
                return "&amp;";
            case '<':
                return "&lt;";
            case '>':
                return "&gt;";
            case '"':
                return "&quot;";
            default:  // XML does not allow most control characters
                return static_cast<unsigned char>(c) >= 0x20 || c == '\n' || c == '\t' ? std::string{c} : std::string();
        }
    });
}

std::string in_shell(const std::string& word) {
    if (!printable(word)) return printed(word);
    if (!word.empty() && word.find_first_not_of(plain_in_shell) == word.npos) return word;
    return "'" + each(word, [](char c) { return c == '\'' ? std::string(R"('\'')") : std::string{c}; }) + "'";
}

}  // namespace tilescope::text
