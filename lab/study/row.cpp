#include "lab/study/row.hpp"

#include "algorithms/contract/packed.hpp"
#include "algorithms/contract/registry.hpp"
#include "lab/report/problem_fields.hpp"

namespace tilescope::lab {
namespace {

using Columns = std::vector<std::pair<const char*, MetricValue>>;

MetricValue word(std::string text) { return text.empty() ? MetricValue() : MetricValue(std::move(text)); }
/// `value`, or no value where it is not `meant`.
template <class T>
MetricValue where(bool meant, T value) {
    return meant ? MetricValue(std::move(value)) : MetricValue();
}

void add_problem(Columns& c, const Problem& p, bool behind) {
    for (const ProblemField& field : problem_fields())
        if (field.column && field.behind == behind) c.emplace_back(field.key, field.column(p));
}

/// Knobs that are no sizes. Where the program has none, or left it open: no value.
void add_roles(Columns& c, const Experiment& e) {
    for (const Knob* k : knobs_of_roles()) {
        const bool has = has_knob(e.algorithm->knobs, k->value) && e.tiling.*k->value > 0;
        if (k->names.empty())
            c.emplace_back(k->name, where(has, e.tiling.*k->value));
        else
            c.emplace_back(k->name, where(has, k->text(e.tiling)));
    }
}

void add_gpu(Columns& c, const GpuSpec& g) {
    c.emplace_back("gpu", g.name);
    c.emplace_back("sms", g.sms);
    c.emplace_back("sram_per_block", g.sram_per_block);
    c.emplace_back("hbm_gbs", g.hbm_gbs);
}

}  // namespace

std::vector<std::pair<const char*, MetricValue>> columns_of(const RunRow& row) {
    const Outcome& o = row.outcome;
    const Experiment& e = o.experiment;
    const Problem p = unpacked(e.problem);
    Columns c;
    c.reserve(48 + metrics().size());
    c.emplace_back(
        "variant",
        row.variant + (o.report && o.report->forward ? std::string(" + ") + o.report->forward->name : std::string()));
    c.emplace_back("algorithm", std::string(e.algorithm->name));
    c.emplace_back("model", word(row.model));
    c.emplace_back("phase", word(row.phase));
    add_problem(c, p, false);
    add_gpu(c, e.gpu);
    c.emplace_back("br", e.tiling.br);
    c.emplace_back("bc", e.tiling.bc);
    c.emplace_back("splits", where(has_splits(e.algorithm->knobs), e.tiling.splits));
    c.emplace_back("packed", e.problem.packed);
    add_roles(c, e);
    add_problem(c, p, true);
    c.emplace_back("order", std::string(name_of(e.placing.order)));
    c.emplace_back("l2_bytes", e.gpu.l2_bytes);
    c.emplace_back("mode",
                   where(o.report.has_value(), std::string(o.report && o.report->numeric ? "numeric" : "count")));
    c.emplace_back("fits", o.report && o.report->fits_sm());
    for (const Metric& m : metrics()) c.emplace_back(m.key, o.report ? m.of(*o.report) : MetricValue());
    c.emplace_back("remark", o.remark);
    return c;
}

}  // namespace tilescope::lab
