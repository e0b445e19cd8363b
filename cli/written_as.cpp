#include "cli/written_as.hpp"

#include "core/machine/error.hpp"
#include "core/text/words.hpp"

namespace tilescope::cli {

WrittenAs written_as(const std::string& format, bool json) {
    const std::pair<const char*, WrittenAs> all[] = {{"text", WrittenAs::text},
                                                     {"markdown", WrittenAs::markdown},
                                                     {"latex", WrittenAs::latex},
                                                     {"csv", WrittenAs::csv},
                                                     {"json", WrittenAs::json}};
    if (json && !format.empty() && format != "json")
        throw UsageError("--json: is short for --format json; leave --format out, or write --format json");
    if (json || format.empty()) return json ? WrittenAs::json : WrittenAs::text;
    for (const auto& [known, as] : all)
        if (format == known) return as;
    throw UsageError("--format " + text::shown(format) +
                     ": must be text, markdown, latex, csv or json; try --format markdown");
}

text::Format table_format(WrittenAs as) {
    return as == WrittenAs::markdown ? text::Format::markdown
           : as == WrittenAs::latex  ? text::Format::latex
                                     : text::Format::text;
}

void add_format_option(CLI::App& app, std::string& format, const std::string& csv) {
    app.add_option("--format", format, "text, markdown, latex, csv (" + csv + ") or json")
        ->type_name("FORMAT")
        ->default_str("text");
}

}  // namespace tilescope::cli
