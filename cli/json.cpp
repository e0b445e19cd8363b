#include "cli/json.hpp"

namespace tilescope::cli {
using namespace lab;
namespace {

Json to_json(const Prediction& p) {
    return {{"hbm_read_bytes", p.hbm_read},
            {"hbm_write_bytes", p.hbm_write},
            {"matmul_flops", p.matmul_flops},
            {"exps", p.exps},
            {"other_flops", p.other_flops}};
}

Json traffic_of(const Traffic& t) { return {{"read_bytes", t.read}, {"write_bytes", t.write}}; }

}  // namespace

Json to_json(const Counters& c) {
    Json j;
    for (const auto& [name, member] : Counters::fields) j[name] = c.*member;
    return j;
}

Json to_json(const Report& r) {
    Json j = {{"schema", "tilescope.run/1"}};
    j.update(to_json(r.experiment));
    j["mode"] = r.numeric ? "numeric" : "count";
    j["counters"] = to_json(r.counters);
    for (const TensorReport& t : r.tensors) j["traffic"][t.name] = traffic_of(t.traffic);
    for (const TensorReport& t : r.tensors) j["tensors"][t.name] = {{"role", name_of(t.role)}, {"bytes", t.bytes}};
    j["sram_peak_bytes"] = r.sram_peak;
    j["register_peak_bytes"] = r.register_peak;
    j["hbm_footprint_bytes"] = r.hbm_footprint;
    j["hbm_extra_bytes"] = r.hbm_extra;
    j["arithmetic_intensity"] = r.arithmetic_intensity();
    for (const LaunchInfo& l : r.launches) {
        const Occupancy o = occupancy(l, r.experiment.gpu);
        j["launches"].push_back({{"kernel", l.kernel},
                                 {"thread_blocks", l.thread_blocks},
                                 {"sram_peak_bytes", l.sram_peak},
                                 {"register_peak_bytes", l.register_peak},
                                 {"modelled_blocks_per_sm", o.blocks_per_sm},
                                 {"modelled_waves", o.waves}});
    }
    if (r.experiment.algorithm->idealised)
        if (const auto ideal = r.experiment.algorithm->idealised(r.experiment.problem))
            j["idealised"] = {{"name", ideal->name}, {"counters", to_json(ideal->count)}, {"why", ideal->why}};
    j["notes"] = r.notes;
    const auto number = [](const OutputError& e, double x) { return e.not_finite > 0 ? Json(nullptr) : Json(x); };
    if (const OutputError* e = r.error()) {
        j["max_abs_error"] = number(*e, e->max_abs);
        j["rms_error"] = number(*e, e->rms);
        j["not_finite_outputs"] = e->not_finite;
        for (const auto& [name, each] : r.errors)
            j["errors"][name] = {{"max_abs", number(each, each.max_abs)},
                                 {"rms", number(each, each.rms)},
                                 {"not_finite", each.not_finite},
                                 {"finite_instead", each.finite_instead}};
    }
    return j;
}

Json to_json(const Experiment& e, const Profile& profile) {
    Json lines = Json::array();
    const auto tensors = e.algorithm->tensors(e.problem, e.tiling);
    for (const CodeLine& c : e.algorithm->code) {
        const auto found = profile.lines().find(c.number);
        const LineProfile line = found != profile.lines().end() ? found->second : LineProfile{};
        Json j = {{"line", c.number},
                  {"code", c.code},
                  {"why", c.why},
                  {"visits", line.visits},
                  {"counters", to_json(line.cost)},
                  {"traffic", Json::object()},
                  {"tiles", Json::array()}};
        for (const auto& [id, t] : line.traffic) j["traffic"][tensors[id].name] = traffic_of(t);
        for (const TileUse& u : line.tiles)
            j["tiles"].push_back({{"name", u.name},
                                  {"space", u.space == Space::sram ? "sram" : "registers"},
                                  {"rows", u.rows},
                                  {"cols", u.cols},
                                  {"dtype", name_of(u.dtype)},
                                  {"bytes", u.rows * u.cols * size_of(u.dtype)}});
        lines.push_back(std::move(j));
    }
    Json j = {{"schema", "tilescope.explain/1"}};
    j.update(to_json(e));
    j["lines"] = std::move(lines);
    return j;
}

}  // namespace tilescope::cli
