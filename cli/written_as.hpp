// How a result is written: --format, and --json for short.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "core/text/table.hpp"

namespace tilescope::cli {

enum class WrittenAs { text, markdown, latex, csv, json };

/// The format that --format and --json ask for. UsageError where it is unknown, or where the two flags disagree.
WrittenAs written_as(const std::string& format, bool json);

/// The format of tables in the result. Not to be called for csv and json, which have no tables.
text::Format table_format(WrittenAs as);

/// Adds --format. `csv`: what the help says about the columns of CSV.
void add_format_option(CLI::App& app, std::string& format, const std::string& csv);

}  // namespace tilescope::cli
