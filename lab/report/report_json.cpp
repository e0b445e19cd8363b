#include "lab/report/report_json.hpp"

#include "algorithms/contract/pseudo_code.hpp"
#include "lab/model/warm.hpp"
#include "lab/model/warps.hpp"
#include "lab/run/explained.hpp"
#include "lab/run/judgement.hpp"
#include "lab/workload/paging.hpp"

namespace tilescope::lab {
namespace {

/// The name that a counter has everywhere.
const char* key_of(Count Counters::*member) {
    for (const auto& [name, m] : Counters::fields)
        if (m == member) return name;
    return nullptr;
}

Json to_json(const Prediction& p) {
    return {{key_of(&Counters::hbm_read), p.hbm_read},
            {key_of(&Counters::hbm_write), p.hbm_write},
            {key_of(&Counters::hbm_reduce), p.hbm_reduce},
            {key_of(&Counters::matmul_flops), p.matmul_flops},
            {key_of(&Counters::exps), p.exps},
            {key_of(&Counters::other_flops), p.other_flops}};
}

Json to_json(const StepTime& s, Index slots) {
    Json j = {{"alone_cycles", s.alone}, {"busiest_cycles", s.busiest}, {"waiting_cycles", s.waiting}};
    for (std::size_t u = 0; u < unit_count; ++u) j["unit_cycles"][name_of(static_cast<Unit>(u))] = s.busy[u];
    for (Index r = 1; r <= slots; ++r) j["together_cycles"].push_back(s.together(r));
    return j;
}

/// The metrics of a run that are among the counters, or those that are not.
Json metrics_of(const Report& r, bool among_counters) {
    Json j;
    for (const Metric& m : metrics())
        if (m.among_counters == among_counters) j[m.key] = lab::to_json(m.of(r));
    return j;
}

/// What is wrong with an output. Where max_abs and rms mean nothing, they are null.
Json to_json(const OutputError& e) {
    const auto number = [&](double x) { return e.tells() ? Json(x) : Json(nullptr); };
    return {{"max_abs", number(e.max_abs)},
            {"rms", number(e.rms)},
            {"compared", e.compared},
            {"not_finite", e.not_finite},
            {"not_finite_in_both", e.all_not_finite() - e.not_finite},
            {"finite_instead", e.finite_instead}};
}

const char* key_of(WarpSplit split) { return split == WarpSplit::keys ? "split_k" : "split_q"; }

/// One way in which warps share a tile; null where it is not possible().
Json to_json(const Warps& w, const Experiment& e) {
    if (!possible(w, e.tiling)) return nullptr;
    const auto parts = [](const WarpBytes& b) {
        return Json{{"q_bytes", b.q},
                    {"kv_bytes", b.kv},
                    {"statistics_bytes", b.statistics},
                    {"output_bytes", b.outputs},
                    {"bytes", b.total()}};
    };
    const WarpBytes tile = of_tile(w, e.problem, e.tiling.br, e.tiling.bc);
    const double per_score = static_cast<double>(tile.total()) / static_cast<double>(e.tiling.br * e.tiling.bc);
    return {{"keys_in_registers", w.keeps_keys},
            {"tile", parts(tile)},
            {"bytes_per_score", per_score},
            {"run", parts(of_run(w, e))}};
}

/// What is known of the released kernel's warps; null where nothing is known.
Json warps_of(const Experiment& e, Index number) {
    if (const auto x = released_exchange(e, number))
        return {{"number", x->warps},
                {"kernel", x->kernel},
                {"kernel_split", x->partial_sums ? Json(key_of(WarpSplit::keys)) : Json()},
                {"exchanged", x->partial_sums ? "partial dQ" : "P and dS"},
                {"exchanged_bytes", x->bytes}};
    const auto released = released_warps(e, number);
    if (!released) return nullptr;
    const Warps& has = released->warps;
    const Warps by_keys = {has.number, WarpSplit::keys, has.keeps_keys}, by_rows = {has.number, WarpSplit::rows};
    const auto even = even_width(by_keys, e.problem);
    return {{"number", has.number},
            {"kernel", released->kernel},
            {"kernel_split", key_of(has.split)},
            {"even_bc_over_br", even ? Json(*even) : Json()},
            {key_of(WarpSplit::keys), to_json(by_keys, e)},
            {key_of(WarpSplit::rows), to_json(by_rows, e)}};
}

}  // namespace

Json to_json(const MetricValue& value) {
    return std::visit(
        [](const auto& v) {
            if constexpr (std::is_same_v<decltype(v), const std::monostate&>)
                return Json();
            else
                return Json(v);
        },
        value);
}

Json to_json(const Counters& c) {
    Json j;
    for (const Metric& m : metrics())
        if (m.of_counters && m.among_counters) j[m.key] = to_json(m.of_counters(c));
    return j;
}

Json to_json(const Traffic& t) {
    return {{"read_bytes", t.read}, {"write_bytes", t.write}, {"reduce_bytes", t.reduce}};
}

Json to_json(const Launch& l) {
    Json j = {{"kernel", l.counted.kernel}};
    for (const Metric& m : metrics())
        if (m.of_launch) j[m.key] = to_json(m.of_launch(l));
    if (!l.time) return j;
    j["step"] = to_json(l.time->step, l.time->residency.blocks);
    for (std::size_t u = 0; u < unit_count; ++u) j["busy"][name_of(static_cast<Unit>(u))] = l.time->busy[u];
    return j;
}

Json time_error(const Report& r) {
    if (!r.time || !r.time->error) return nullptr;
    return {{"mean", r.time->error->mean}, {"worst", r.time->error->worst}};
}

Json to_json(const Report& r) {
    Json j = {{"schema", "tilescope.run/1"}};
    j.update(to_json(r.experiment));
    j["mode"] = r.numeric ? "numeric" : "count";
    j.update(metrics_of(r, false));
    j["time_error"] = time_error(r);
    j["warm"] = is_warm(r);
    j["counters"] = metrics_of(r, true);
    if (r.time && !r.dram()) j["no_dram"] = r.time->no_dram;
    for (const TensorReport& t : r.tensors) j["traffic"][t.name] = to_json(t.traffic);
    for (const TensorReport& t : r.tensors) j["tensors"][t.name] = {{"role", name_of(t.role)}, {"bytes", t.bytes}};
    for (const Launch& l : launches_of(r)) j["launches"].push_back(to_json(l));
    if (r.forward) j["forward"] = r.forward->name;
    if (const auto ideal = r.idealised())
        j["idealised"] = {{"name", ideal->name}, {"counters", to_json(ideal->count)}, {"why", ideal->why}};
    j["notes"] = r.notes;
    for (const std::string& wrong : about_wrong_outputs(r)) j["notes"].push_back(wrong);
    if (const std::string untimed = untimed_pages(r.experiment.problem); r.time && !untimed.empty())
        j["notes"].push_back(untimed);
    if (const OutputError* e = r.error()) {
        j["not_finite_outputs"] = e->all_not_finite();
        j["wrong_outputs"] = wrong_outputs(r);
        for (const auto& [name, each] : r.errors) j["errors"][name] = to_json(each);
    }
    return j;
}

void add_small(Json& report, const Report& small, const Problem& problem) {
    const Experiment& e = small.experiment;
    const OutputError* error = small.error();
    const bool tells = error && error->tells();
    report["small_problem"] = {{"problem", to_json(Experiment{e.algorithm, problem, e.tiling, e.gpu}).at("problem")},
                               {"max_abs_error", tells ? Json(error->max_abs) : Json(nullptr)},
                               {"rms_error", tells ? Json(error->rms) : Json(nullptr)},
                               {"wrong_outputs", wrong_outputs(small)}};
    for (const std::string& wrong : about_wrong_outputs(small)) report["notes"].push_back(wrong);
}

Json to_json(const Experiment& e, const Profile& profile, Index warps) {
    Json lines = Json::array();
    const auto tensors = e.algorithm->tensors(e.problem, e.tiling);
    const bool has_lanes = !profile.lanes().empty();
    for (const auto& [c, line] : explained_lines(e, profile)) {
        Json j = {{"line", c.number},
                  {"code", c.code},
                  {"why", why_of(*e.algorithm, c)},
                  {"visits", line.visits},
                  {"counters", to_json(line.cost)},
                  {"traffic", Json::object()},
                  {"tiles", Json::array()}};
        for (const auto& [id, t] : line.traffic) j["traffic"][tensors[id].name] = to_json(t);
        for (const TileUse& u : line.tiles)
            j["tiles"].push_back({{"name", u.name},
                                  {"space", u.space == Space::sram ? "sram" : "registers"},
                                  {"rows", u.rows},
                                  {"cols", u.cols},
                                  {"dtype", name_of(u.dtype)},
                                  {"bytes", u.rows * u.cols * size_of(u.dtype)}});
        if (has_lanes) j["lanes"] = line.lanes, j["in_flight"] = line.in_flight;
        lines.push_back(std::move(j));
    }
    Json j = {{"schema", "tilescope.explain/1"}};
    j.update(to_json(e));
    j["lines"] = std::move(lines);
    for (const auto& [name, spec] : profile.lanes())
        j["lanes"].push_back({{"name", name},
                              {"warps", spec.warps},
                              {"registers_per_thread", spec.registers_per_thread},
                              {"turns", spec.turns}});
    j["warps"] = warps_of(e, warps);
    return j;
}

}  // namespace tilescope::lab
