#include <algorithm>
#include <cstdio>

#include "algorithms/contract/registry.hpp"
#include "core/text/message.hpp"
#include "core/text/numbers.hpp"
#include "device/case_tables.hpp"
#include "device/measured_cases.hpp"
#include "device/reading.hpp"
#include "lab/report/problem_fields.hpp"

namespace tilescope::device {
using namespace lab;
using text::message;
namespace {

constexpr double least_dram = 20e6;  // bytes, as in docs/validation.md: fewer bytes are mostly other reads of the GPU

Json or_null(const std::optional<double>& x) { return x ? Json(*x) : Json(nullptr); }
/// Bytes are whole numbers.
Json bytes_or_null(const std::optional<double>& x) { return x ? Json(static_cast<Bytes>(*x)) : Json(nullptr); }

/// A case with the columns of docs/outputs.md.
Json to_json(const MeasuredCase& c) {
    const Problem p = c.problem();
    Json j = {{"gpu", c.gpu},
              {"device", c.device},
              {"date", c.date},
              {"kernel", c.kernel()},
              {"algorithm", c.experiment.algorithm->name},
              {"dtype", name_of(p.dtype)}};
    for (const ProblemField& size : problem_sizes()) j[size.key] = size.get(p);
    j.update({{"causal", p.mask.is_causal()},
              {"br", c.experiment.tiling.br},
              {"bc", c.experiment.tiling.bc},
              {"splits", has_splits(c.experiment.algorithm->knobs) ? Json(c.experiment.tiling.splits) : Json()},
              {"packed", c.experiment.problem.packed}});
    for (const Knob* k : chosen_roles())
        j[k->name] = value_of(role_in_words(*c.experiment.algorithm, c.experiment.tiling, k->value));
    j.update({{"measured_time_us", or_null(c.us)},
              {"call_us", c.call_us},
              {"modelled_time_us", or_null(c.modelled_us)},
              {"time_ratio", or_null(c.time_ratio())},
              {"measured_read_bytes", bytes_or_null(c.read)},
              {"simulated_read_bytes", bytes_or_null(c.counted_read)},
              {"measured_write_bytes", bytes_or_null(c.write)},
              {"simulated_write_bytes", bytes_or_null(c.counted_write)},
              {"sm_traffic_ratio", or_null(c.sm_ratio())},
              {"measured_dram_read_bytes", bytes_or_null(c.dram_read)},
              {"modelled_dram_read_bytes", bytes_or_null(c.modelled_dram_read)},
              {"dram_read_ratio", or_null(c.dram_ratio())}});
    return j;
}

/// Cases of one kernel and type on one machine, and the ratios that they have.
struct Group {
    std::string algorithm, dtype, gpu, kernel;
    Index cases = 0;
    std::vector<double> time = {}, sm = {}, dram = {};

    bool holds(const MeasuredCase& c) const {
        return algorithm == c.experiment.algorithm->name && dtype == name_of(c.experiment.problem.dtype) &&
               gpu == c.gpu && kernel == c.kernel();
    }
    void add(const MeasuredCase& c) {
        ++cases;
        if (const auto x = c.time_ratio()) time.push_back(*x);
        if (const auto x = c.sm_ratio()) sm.push_back(*x);
        if (const auto x = c.dram_ratio(); x && *c.dram_read > least_dram) dram.push_back(*x);
    }
};

/// Groups by algorithm in the order of the registry, then by type and machine in the order of the cases.
std::vector<Group> groups_of(const MeasuredCases& cases) {
    std::vector<Group> groups;
    for (const Algorithm& a : algorithms())
        for (const MeasuredCase& c : cases) {
            if (c.experiment.algorithm != &a) continue;
            auto found = std::ranges::find_if(groups, [&](const Group& g) { return g.holds(c); });
            if (found == groups.end())
                found = groups.insert(found, {a.name, name_of(c.experiment.problem.dtype), c.gpu, c.kernel()});
            found->add(c);
        }
    return groups;
}

Json to_json(const Group& g) {
    Json j = {{"algorithm", g.algorithm}, {"dtype", g.dtype}, {"gpu", g.gpu}, {"kernel", g.kernel}, {"cases", g.cases}};
    const auto add = [&](const char* name, const std::vector<double>& values) {
        const Reading r = values.empty() ? Reading() : reading_of(values);
        const auto of = [&](double x) { return values.empty() ? Json(nullptr) : Json(x); };
        j[name] = {{"cases", values.size()}, {"median", of(r.median)}, {"least", of(r.least)}, {"most", of(r.most)}};
    };
    add("time_ratio", g.time), add("sm_traffic_ratio", g.sm), add("dram_read_ratio", g.dram);
    return j;
}

std::string ratio(const std::optional<double>& x) {
    char text[32] = "-";
    if (x) std::snprintf(text, sizeof text, "%.3f", *x);
    return text;
}

std::string median_of(const std::vector<double>& values) {
    return values.empty() ? "-" : ratio(reading_of(values).median);
}

std::string bytes(const std::optional<double>& x) { return x ? text::bytes(*x) : "-"; }
std::string microseconds(const std::optional<double>& x) { return x ? text::microseconds(*x) : "-"; }

/// The cells that distinguish a case from the others.
std::vector<std::string> key_cells(const MeasuredCase& c) {
    const Problem p = c.problem();
    const auto pair = [](Index a, const char* by, Index b) { return std::to_string(a) + by + std::to_string(b); };
    std::string heads = pair(p.batch, " x ", p.heads);
    if (p.kv_heads != p.heads) heads += " (" + std::to_string(p.kv_heads) + ')';
    return {message("measured_table.own", c.experiment.algorithm->name, name_of(p.dtype)),
            heads,
            pair(p.seq_q, " x ", p.seq_k),
            !has_head_dims(c)  ? "-"
            : p.dim == p.dim_v ? std::to_string(p.dim)
                               : pair(p.dim, ", ", p.dim_v),
            message(p.mask.is_causal() ? "measured_table.yes" : "measured_table.no"),
            with_roles(tiles_of(c.experiment.tiling, c.experiment.problem.packed), c.roles)};
}

/// What was measured where, once for each machine and kernel.
std::string place_of(const MeasuredCase& c) {
    return c.library ? message("measured_table.of_pytorch", c.device, c.date, c.gpu, text::microseconds(c.call_us))
                     : message("measured_table.of_own_kernels", c.device, c.date, c.gpu);
}

}  // namespace

text::Table summary_table(const MeasuredCases& cases) {
    text::Table table(text::titles({"measured_table.kernel", "measured_table.on", "measured_table.cases",
                                    "measured_table.time", "measured_table.from", "measured_table.to",
                                    "measured_table.sm_traffic", "measured_table.dram_reads", "measured_table.of"}),
                      2);
    for (const Group& g : groups_of(cases)) {
        const Reading time = g.time.empty() ? Reading() : reading_of(g.time);
        const char* const whose = g.kernel == "pytorch" ? "measured_table.pytorchs" : "measured_table.own";
        table.add({message(whose, g.algorithm, g.dtype), g.gpu, std::to_string(g.cases), median_of(g.time),
                   ratio(time.least), ratio(time.most), median_of(g.sm), median_of(g.dram),
                   g.dram.empty() ? "-" : std::to_string(g.dram.size())});
    }
    return table;
}

text::Table cases_table(const MeasuredCases& cases) {
    const bool counters = std::ranges::any_of(cases, [](const MeasuredCase& c) { return c.read || c.dram_read; });
    const std::string modelled = message("measured_table.modelled"), ratio_of_both = message("measured_table.ratio");
    std::vector<std::string> header = {message("measured_table.kernel"), message("measured_table.heads"),
                                       message("measured_table.nq_nk"),  message("measured_table.d"),
                                       message("measured_table.causal"), message("measured_table.br_bc")};
    const std::size_t keys = header.size();
    header.insert(header.end(), {message("measured_table.measured_time"), modelled, ratio_of_both});
    if (counters)
        header.insert(header.end(),
                      {message("measured_table.measured_traffic"), message("measured_table.counted"), ratio_of_both,
                       message("measured_table.measured_dram_reads"), modelled, ratio_of_both});
    text::Table table(header, keys);
    for (std::size_t c = keys; c < header.size(); c += 3) table.keep_together(c, 3);
    for (const MeasuredCase& c : cases) {
        std::vector<std::string> cells = key_cells(c);
        cells.insert(cells.end(), {microseconds(c.us), microseconds(c.modelled_us), ratio(c.time_ratio())});
        const auto sm = c.read && c.write ? std::optional(*c.read + *c.write) : std::nullopt;
        if (counters)
            cells.insert(cells.end(),
                         {bytes(sm), bytes(std::optional(*c.counted_read + *c.counted_write)), ratio(c.sm_ratio()),
                          bytes(c.dram_read), bytes(c.modelled_dram_read), ratio(c.dram_ratio())});
        table.add(std::move(cells));
    }
    return table;
}

std::vector<std::pair<std::string, MeasuredCases>> by_place(MeasuredCases cases) {
    std::vector<std::pair<std::string, MeasuredCases>> places;
    while (!cases.empty()) {
        const MeasuredCase first = cases[0];
        const auto alike = [&](const MeasuredCase& c) {
            return c.gpu == first.gpu && c.library == first.library && c.date == first.date;
        };
        auto& [place, together] = places.emplace_back(place_of(first), MeasuredCases());
        std::ranges::copy_if(cases, std::back_inserter(together), alike);
        std::erase_if(cases, alike);
    }
    return places;
}

Json to_json(const MeasuredCases& cases) {
    Json j = {{"schema", "tilescope.measured/1"}, {"summary", Json::array()}, {"cases", Json::array()}};
    for (const Group& g : groups_of(cases)) j["summary"].push_back(to_json(g));
    for (const MeasuredCase& c : cases) j["cases"].push_back(to_json(c));
    return j;
}

std::string as_csv(const MeasuredCases& cases) {
    std::string csv;
    const auto line = [&](const MeasuredCase& c, bool names) {
        std::vector<std::string> cells;
        const Json row = to_json(c);
        for (const auto& [name, value] : row.items())
            cells.push_back(names               ? name
                            : value.is_string() ? value.get<std::string>()
                            : value.is_null()   ? ""
                                                : value.dump());
        csv += text::csv_line(cells);
    };
    line(cases[0], true);
    for (const MeasuredCase& c : cases) line(c, false);
    return csv;
}

}  // namespace tilescope::device
