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
    std::string_view last;  ///< words at the end of a complete picture: gnuplot does not report a full disk
};
inline constexpr PictureFile picture_files[] = {{".svg", Terminal::svg, "</svg>"},
                                                {".pdf", Terminal::pdf, "%%EOF"},
                                                {".png", Terminal::png, "IEND"},
                                                {".tex", Terminal::tex, "\\end{tikzpicture}"}};

/// By the path's ending; SVG where it has none, as a pipe. UsageError, which names the flag, for other endings.
const PictureFile& picture_file(const std::string& flag, const std::string& path);

/// Throws RunError where there is no gnuplot; `instead` says how to get the numbers alone.
void require_gnuplot(const std::string& instead);

/// The content of the file. Throws RunError, and Interrupted.
std::string drawn(const Figure& figure, Theme theme, const PictureFile& file, const Page& page, const Control* control);

/// Writes the whole content, or nothing. Throws RunError.
void write_file(const std::string& path, const std::string& content);

}  // namespace tilescope::lab
