#include "cli/written_as.hpp"

#include "core/machine/error.hpp"
#include "core/text/message.hpp"
#include "core/text/words.hpp"

namespace tilescope::cli {
using text::message;

WrittenAs written_as(const std::string& format, bool json) {
    const std::pair<const char*, WrittenAs> all[] = {{"text", WrittenAs::text},
                                                     {"markdown", WrittenAs::markdown},
                                                     {"latex", WrittenAs::latex},
                                                     {"csv", WrittenAs::csv},
                                                     {"json", WrittenAs::json}};
    if (json && !format.empty() && format != "json") throw UsageError(message("format.json_is_short"));
    if (json || format.empty()) return json ? WrittenAs::json : WrittenAs::text;
    for (const auto& [known, as] : all)
        if (format == known) return as;
    throw UsageError(message("format.must_be", text::shown(format)));
}

text::Format table_format(WrittenAs as) {
    return as == WrittenAs::markdown ? text::Format::markdown
           : as == WrittenAs::latex  ? text::Format::latex
                                     : text::Format::text;
}

void add_format_option(CLI::App& app, std::string& format, const std::string& csv) {
    app.add_option("--format", format, message("format.flag", csv))->type_name("FORMAT")->default_str("text");
}

}  // namespace tilescope::cli
