// How a result is written: --format, and --json for short.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "core/text/table.hpp"

namespace tilescope::cli {

enum class WrittenAs { text, markdown, latex, csv, json };

/// What the flags say; UsageError where there is no such format, or where they differ.
WrittenAs written_as(const std::string& format, bool json);

/// The format of the tables within. Not for csv and json, which have none.
text::Format table_format(WrittenAs as);

/// Adds --format; `csv` says what its columns are.
void add_format_option(CLI::App& app, std::string& format, const std::string& csv);

}  // namespace tilescope::cli
