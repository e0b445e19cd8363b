// Tables for terminals of 120 columns, and for documents.
#include "core/text/table.hpp"

#include <sstream>

#include "core/text/page.hpp"
#include "core/text/words.hpp"
#include "tests/support/catch.hpp"

using namespace tilescope;

namespace {

template <class... How>
std::string printed(const text::Table& table, How... how) {
    std::ostringstream out;
    table.print(out, how...);
    return out.str();
}

std::size_t widest_line(const std::string& printed) {
    std::istringstream in(printed);
    std::size_t widest = 0;
    for (std::string line; std::getline(in, line);) widest = std::max(widest, text::width(line));
    return widest;
}

}  // namespace

TEST_CASE("columns line up where characters take several bytes", "[text]") {
    text::Table table({"a", "b"});
    table.add({"−∞", "×"});
    table.add({"1", "23"});
    CHECK(printed(table) == "a    b\n------\n−∞   ×\n1   23\n");
}

TEST_CASE("a table that is too wide cuts headers first", "[text]") {
    text::Table table({"name", "a header of words", "b"});
    table.add({std::string(100, 'x'), "1234567", "2"});
    const std::string before(102, ' '), name(100, 'x');
    CHECK(printed(table) == before + "      a\n" + before + " header\n" + before + "     of\n" + "name" +
                                std::string(98, ' ') + "  words  b\n" + std::string(112, '-') + '\n' + name +
                                "  1234567  2\n");
}

TEST_CASE("a text that is too wide is cut between words, and continued further in", "[text]") {
    text::Table table({"code", "n"});
    std::string words;
    for (int k = 0; k < 30; ++k) words += " word" + std::to_string(k);
    table.add({"  " + words, "1"});
    table.add({"short", "2"});
    const std::string out = printed(table, std::string("  "));
    CHECK(widest_line(out) <= text::line_width);
    CHECK(out.find("\n     word0 word1 ") != std::string::npos);  // indent 2, and the cell's own 3
    CHECK(out.find("\n       word") != std::string::npos);        // the rest of the cell
    CHECK(out.find("\n  short ") != std::string::npos);
}

TEST_CASE("columns without room continue below, with the first column again", "[text]") {
    std::vector<std::string> header = {"name"}, row = {"first"};
    for (int c = 0; c < 12; ++c) {
        header.push_back("column" + std::to_string(c));
        row.push_back(std::string(18, static_cast<char>('a' + c)));
    }
    text::Table table(header);
    table.add(row);
    const std::string out = printed(table);
    CHECK(widest_line(out) <= text::line_width);
    for (int c = 0; c < 12; ++c) CHECK(out.find(row[static_cast<std::size_t>(c) + 1]) != std::string::npos);
    std::size_t parts = 0;
    for (std::size_t at = out.find("\nfirst"); at != std::string::npos; at = out.find("\nfirst", at + 1)) ++parts;
    CHECK(parts == 3);
    CHECK(out.find("\n\nname ") != std::string::npos);
}

TEST_CASE("columns that belong together continue below together", "[text]") {
    std::vector<std::string> header = {"name"}, row = {"first"};
    for (int c = 0; c < 12; ++c) {
        header.push_back("c" + std::to_string(c));
        row.push_back("value" + std::to_string(c) + std::string(12, '.'));
    }
    text::Table apart(header), beside(header);
    for (std::size_t c = 1; c < header.size(); c += 3) beside.keep_together(c, 3);
    apart.add(row), beside.add(row);
    const auto in_lines = [&](const std::string& out) {  // whether every three columns stand in one line
        bool all = true;
        for (std::size_t c = 1; c < header.size(); c += 3)
            all &= out.substr(0, out.find(row[c + 2])).rfind('\n') == out.substr(0, out.find(row[c])).rfind('\n');
        return all;
    };
    CHECK_FALSE(in_lines(printed(apart)));
    CHECK(in_lines(printed(beside)));
    CHECK(widest_line(printed(beside)) <= text::line_width);
    beside.keep_together(1, 12);  // 12 columns have no room in a line: they are cut where the line is full
    CHECK(widest_line(printed(beside)) <= text::line_width);
}

TEST_CASE("text keeps to a line, too", "[text]") {
    const std::string word(30, 'w');
    std::ostringstream out;
    text::print_wrapped(out, "short\n\n" + word + ' ' + word + ' ' + word + ' ' + word, "  ", "....");
    CHECK(out.str() == "  short\n\n  " + word + ' ' + word + ' ' + word + "\n  ...." + word + '\n');
}

TEST_CASE("tables for documents are whole, and their letters stand for themselves", "[text]") {
    text::Table table({"name", "share"});
    table.add({"flash_v2", "54%"});
    table.add({"", "a|b & ^~\\"});
    CHECK(printed(table, text::Format::markdown) ==
          "| name | share |\n|:--|--:|\n| flash\\_v2 | 54% |\n|  | a\\|b \\& ^\\~\\\\ |\n");
    CHECK(printed(table, text::Format::latex) ==
          "\\begin{tabular}{lr}\n\\hline\nname & share \\\\\n\\hline\nflash\\_v2 & 54\\% \\\\\n"
          " & a\\textbar{}b \\& \\^{}\\~{}\\textbackslash{} \\\\\n\\hline\n\\end{tabular}\n");
    CHECK(printed(table, text::Format::text) == printed(table));
}

TEST_CASE("cells of CSV are quoted where they have to be", "[text]") {
    CHECK(text::csv_line({"a", "", "b c"}) == "a,,b c\n");
    CHECK(text::csv_line({"", "a,b", "say \"x\"", "two\nlines"}) == ",\"a,b\",\"say \"\"x\"\"\",\"two\nlines\"\n");
}
