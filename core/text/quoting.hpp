// Text on its way into another program's language: one function for each language, and no other code writes such text.
// A GPU's name, say, may come from a stranger's file; the other program must always read the name as text.
#pragma once

#include <string>
#include <string_view>

namespace tilescope::text {

/// A string in a script of gnuplot: in single quotes, where neither backslash nor backtick has a meaning.
std::string in_gnuplot(std::string_view text);
/// The same for a tick's label, which gnuplot takes for a format.
std::string in_gnuplot_tick(std::string_view text);
/// A string in a data block of gnuplot, which knows double quotes only.
std::string in_gnuplot_data(std::string_view text);
/// A comment of gnuplot's, on one line.
std::string in_gnuplot_comment(std::string_view text);
/// The name of a file that gnuplot writes: one that begins with | would be a command.
std::string in_gnuplot_output(const std::string& path);
/// Text of TeX.
std::string in_tex(std::string_view text);
/// A cell of a table in markdown.
std::string in_markdown(std::string_view text);
/// A cell of a line of CSV.
std::string in_csv(std::string_view text);
/// Text or an attribute of XML, such as SVG.
std::string in_xml(std::string_view text);
/// A word of a shell's command.
std::string in_shell(const std::string& word);

}  // namespace tilescope::text
