// A figure as a file: a picture that gnuplot draws, or its numbers.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/machine/mode.hpp"
#include "lab/figure/figure.hpp"

namespace tilescope::lab {

struct PictureFile {
    const char* ending;
    Terminal terminal;
    std::string_view last;  ///< words of a whole picture: gnuplot does not say when a disk is full
};
inline constexpr PictureFile picture_files[] = {{".svg", Terminal::svg, "</svg>"},
                                                {".pdf", Terminal::pdf, "%%EOF"},
                                                {".png", Terminal::png, "IEND"},
                                                {".tex", Terminal::tex, "\\end{tikzpicture}"}};

/// By the ending of the path, an SVG where it has none, as a pipe; UsageError, which names the flag, for others.
const PictureFile& picture_file(const std::string& flag, const std::string& path);

/// Throws RunError where there is no gnuplot; `instead` says how to get the numbers alone.
void require_gnuplot(const std::string& instead);

/// What the file is to hold. Throws RunError, and Interrupted.
std::string drawn(const Figure& figure, Theme theme, const PictureFile& file, const Page& page, const Control* control);

/// Letters of a text that no font of this machine has, in UTF-8, once each: boxes stand for them where gnuplot draws
/// letters itself (PNG, PDF). Empty where all are there, or where nobody can be asked (fc-list).
std::vector<std::string> letters_without_font(std::string_view text, const Control* control);

/// All of it, or nothing. Throws RunError.
void write_file(const std::string& path, const std::string& content);

}  // namespace tilescope::lab
