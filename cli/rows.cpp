#include "cli/rows.hpp"

#include "cli/json.hpp"
#include "core/text/table.hpp"

namespace tilescope::cli {
using namespace lab;
namespace {

std::string csv_cell(const Json& v) { return v.is_null() ? "" : v.is_string() ? v.get<std::string>() : v.dump(); }

}  // namespace

RowWriter::RowWriter(std::ostream& out, bool json) : out_(out), json_(json) {
    if (json_) out_ << R"({"schema": "tilescope.sweep/1", "rows": [)";
}

void RowWriter::add(const RunRow& row) {
    Json columns;
    std::vector<std::string> names, cells;
    for (const auto& [name, value] : columns_of(row)) {
        const Json json = to_json(value);
        names.emplace_back(name), cells.push_back(csv_cell(json));
        if (json_) columns[name] = json;
    }
    if (json_)
        out_ << (first_ ? "\n  " : ",\n  ") << columns.dump();
    else
        out_ << (first_ ? text::csv_line(names) : "") << text::csv_line(cells);
    out_.flush();
    first_ = false;
}

void RowWriter::finish() { out_ << (json_ ? "\n]}\n" : ""); }

}  // namespace tilescope::cli
