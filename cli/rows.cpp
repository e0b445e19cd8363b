#include "cli/rows.hpp"

#include "algorithms/contract/packed.hpp"
#include "cli/json.hpp"
#include "core/text/table.hpp"

namespace tilescope::cli {
using namespace lab;
namespace {

Json or_null(const std::string& text) { return text.empty() ? Json() : Json(text); }

/// Every column in order; null where a run has no value.
Json columns_of(const RunRow& row) {
    const Outcome& o = row.outcome;
    const Experiment& e = o.experiment;
    const Problem w = unpacked(e.problem);
    const std::string with = o.report && o.report->forward ? std::string(" + ") + o.report->forward->name : "";
    Json c = {{"variant", row.variant + with},
              {"algorithm", e.algorithm->name},
              {"model", or_null(row.model)},
              {"phase", or_null(row.phase)}};
    for (const auto& [key, size] : problem_sizes()) c[key] = w.*size;
    c.update({{"dtype", name_of(w.dtype)},
              {"causal", w.mask.is_causal()},
              {"mask", w.mask.name()},
              {"scale", static_cast<double>(w.logit_scale())},
              {"softmax", name_of(w.softmax)},
              {"gpu", e.gpu.name},
              {"sms", e.gpu.sms},
              {"sram_per_block", e.gpu.sram_per_block},
              {"hbm_gbs", e.gpu.hbm_gbs},
              {"br", e.tiling.br},
              {"bc", e.tiling.bc},
              {"splits", has_splits(e.algorithm->knobs) ? Json(e.tiling.splits) : Json()},
              {"packed", e.problem.packed},
              {"page_size", w.pages ? Json(w.pages.size) : Json()},
              {"shared_prefix", w.pages ? Json(w.pages.shared) : Json()},
              {"bias", w.bias ? Json(w.bias.name()) : Json()},
              {"bias_group", w.bias.has_groups() ? Json(w.bias.group) : Json()},
              {"alibi", w.alibi > 0},
              {"soft_cap", w.soft_cap ? Json(*w.soft_cap) : Json()},
              {"dropout", w.dropout.p},
              {"dropout_mask", w.dropout ? Json(w.dropout.stored ? "stored" : "regenerated") : Json()},
              {"order", name_of(e.placing.order)},
              {"l2_bytes", e.gpu.l2_bytes},
              {"mode", o.report ? Json(o.report->numeric ? "numeric" : "count") : Json()},
              {"fits", o.report.has_value()}});
    for (const Metric& m : metrics()) c[m.key] = o.report ? to_json(m.of(*o.report)) : Json();
    c["remark"] = o.remark;
    return c;
}

std::string csv_cell(const Json& v) { return v.is_null() ? "" : v.is_string() ? v.get<std::string>() : v.dump(); }

}  // namespace

RowWriter::RowWriter(std::ostream& out, bool json) : out_(out), json_(json) {
    if (json_) out_ << '[';
}

void RowWriter::add(const RunRow& row) {
    const Json columns = columns_of(row);
    std::vector<std::string> names, cells;
    for (const auto& [name, value] : columns.items()) names.push_back(name), cells.push_back(csv_cell(value));
    if (json_)
        out_ << (first_ ? "\n  " : ",\n  ") << columns.dump();
    else
        out_ << (first_ ? text::csv_line(names) : "") << text::csv_line(cells);
    out_.flush();
    first_ = false;
}

void RowWriter::finish() { out_ << (json_ ? "\n]\n" : ""); }

}  // namespace tilescope::cli
