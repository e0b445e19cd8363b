// Text for other programs: characters that are special to a program are quoted, and stand for themselves.
#include "core/text/quoting.hpp"

#include "core/text/table.hpp"
#include "tests/support/catch.hpp"

using namespace tilescope::text;

TEST_CASE("text for another program has no meaning there", "[text]") {
    CHECK(in_gnuplot("a `b` $(c) \\n it's \"d\"") == "'a `b` $(c) \\n it'.\"'\".'s \"d\"'");
    CHECK(in_gnuplot("'a'") == "''.\"'\".'a'.\"'\".''");
    CHECK(in_gnuplot("'a@B'") == "''.\"'\".'a'.\"\\100\".'B'.\"'\".''");
    CHECK(in_gnuplot("two\nlines") == "'two'.\"\\n\".'lines'");
    CHECK(in_gnuplot_tick("50% `b`") == "'50%% `b`'");
    CHECK(in_gnuplot_data("a `b` \"c\" d\\\ne") == "\"a \\140b\\140 \\042c\\042 d\\134\\ne\"");
    CHECK(in_gnuplot_comment("a\nplot `b` \\") == "# a plot `b` \\ ");
    CHECK(in_gnuplot_output("| b") == "'./| b'");
    CHECK(in_gnuplot_output("/a/b.svg") == "'/a/b.svg'");

    CHECK(in_tex("\\write18{a_b} 5% <x> ~^|") ==
          "\\textbackslash{}write18\\{a\\_b\\} 5\\% \\textless{}x\\textgreater{} \\~{}\\^{}\\textbar{}");
    CHECK(in_tex("[2cm] a") == "{}[2cm] a");  // not read as the optional distance of the \\ that ends the row before
    CHECK(in_tex("*a") == "{}*a");

    CHECK(in_markdown("a|b [c](d) <e> &lt; `f` *g* $h$") == "a\\|b \\[c\\](d) \\<e> \\&lt; \\`f\\` \\*g\\* \\$h\\$");
    CHECK(in_csv("a, \"b\"") == "\"a, \"\"b\"\"\"");
    CHECK(in_csv("a `b`") == "a `b`");
    CHECK(csv_line({"", "a,b", ""}) == ",\"a,b\",\n");
    CHECK(in_xml("<a b=\"c\">&\x01") == "&lt;a b=&quot;c&quot;&gt;&amp;");

    CHECK(in_shell("plain/word.cpp") == "plain/word.cpp");
    CHECK(in_shell("a `b` it's") == "'a `b` it'\\''s'");
    CHECK(in_shell("") == "''");
    CHECK(in_shell("a\nb%") == "\"$(printf 'a\\012b%%')\"");
}
