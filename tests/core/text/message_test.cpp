// Messages: words come from a table, arguments go into their places, and numbers choose between singular and plural.
#include "core/text/message.hpp"

#include <cstdint>

#include "tests/support/catch.hpp"

using namespace tilescope;
using text::Argument;

TEST_CASE("arguments go into their places", "[text]") {
    const auto filled = [](const char* words, std::vector<Argument> arguments) {
        return text::filled(words, arguments);
    };
    CHECK(filled("", {}).empty());
    CHECK(filled("nothing to say", {}) == "nothing to say");
    CHECK(filled("{2} before {1}, and {2}", {"a", std::string("b")}) == "b before a, and b");
    CHECK(filled("{1} {1|tile|tiles}", {1}) == "1 tile");
    CHECK(filled("{1} {1|tile|tiles}", {std::int64_t{12345}}) == "12,345 tiles");
    CHECK(filled("{1} {1|tile|tiles}", {0}) == "0 tiles");
    CHECK(filled("{1|tile|tiles}", {"1"}) == "tile");  // what reads 1 is one
    CHECK(filled("{1|tile|tiles}", {"1.0"}) == "tiles");
    CHECK(filled("{1|tile|tiles}", {"SM 1"}) == "tiles");
    CHECK(filled("{2}", {"a"}).empty());
    CHECK(filled("a {1", {"b"}) == "a ");
}

TEST_CASE("a language is a table of words by id", "[text]") {
    const EmbeddedFile files[] = {
        {"b.txt", "# comment = none\nb.second = {1} \u4e2a\u5757\n\nb.first =  words = more  \n"},
        {"a.txt", "a.only = a"}};
    const text::Language language(files);
    REQUIRE(language.messages().size() == 3);
    CHECK(language.messages()[0].first == "a.only");
    REQUIRE(language.words("b.first"));
    CHECK(*language.words("b.first") == "words = more");
    CHECK(*language.words("b.second") == "{1} \u4e2a\u5757");
    CHECK_FALSE(language.words("b"));
    CHECK_FALSE(language.words(""));
}

TEST_CASE("the language in use is English, unless another is chosen", "[text]") {
    CHECK(text::message("list.two_sentences", "A.", "B.") == "A. B.");
    CHECK(text::sentences({"A.", "B.", "C."}) == "A. B. C.");
    CHECK(text::sentences({}).empty());
    CHECK(text::message("no.such") == "<no.such>");
    const EmbeddedFile file{"made-up.txt", "list.two_sentences = {2}{1}"};
    const text::Language made_up({&file, 1});
    const text::Language& english = text::language();
    text::use(made_up);
    CHECK(text::sentences({"A.", "B."}) == "B.A.");
    CHECK(text::message("list.and", "a", "b") == "<list.and>");
    const text::Language with_english({&file, 1}, &english);
    text::use(with_english);
    CHECK(text::sentences({"A.", "B."}) == "B.A.");
    CHECK(text::message("list.and", "a", "b") == "a and b");
    text::use(english);
    CHECK(text::sentences({"A.", "B."}) == "A. B.");
}
