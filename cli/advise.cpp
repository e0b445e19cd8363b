// `tilescope advise ALGO`: the tiles to take, the runners-up, and why neighbours lose.
#include <iostream>

#include "algorithms/contract/kernel_description.hpp"
#include "cli/commands.hpp"
#include "cli/json.hpp"
#include "cli/progress.hpp"
#include "cli/said.hpp"
#include "core/text/message.hpp"
#include "core/text/numbers.hpp"
#include "core/text/page.hpp"
#include "core/text/table.hpp"
#include "lab/flags/describe.hpp"
#include "lab/flags/model.hpp"
#include "lab/model/basis.hpp"
#include "lab/model/verdict.hpp"
#include "lab/model/warm.hpp"
#include "lab/report/metric.hpp"
#include "lab/study/advice.hpp"
#include "lab/study/vary.hpp"

namespace tilescope::cli {
using namespace lab;
using text::message;
namespace {

constexpr std::size_t most_shown = 6;
constexpr const char* advised_columns[] = {"time_us", "hbm_bytes", "dram_bytes", "blocks_per_sm",
                                           "waves",   "tail",      "bound"};

std::string size_of_tile(const Candidate& c) {
    return message("tile.size", text::number(static_cast<double>(c.tiling().br)),
                   text::number(static_cast<double>(c.tiling().bc)));
}

std::string ratio(double value, double best) {
    return value > 1e300 || best > 1e300 ? "–"
                                         : message("advise.times", text::number(std::round(value / best * 100) / 100));
}

/// Whether a kernel with these tiles exists here, so that its registers are the compiler's.
bool compiled(const Candidate& c) {
    return c.outcome.report && c.outcome.report->time && c.outcome.report->time->longest().compiled;
}

/// Whether registers would spill, so that no kernel would have these tiles.
bool spills(const Candidate& c) {
    return c.outcome.report && c.outcome.report->time && c.outcome.report->time->spills();
}

/// Whether the candidate is a row of dashes, because its tiles do not fit or have no time.
bool has_no_value(const Candidate& c) { return !c.outcome.report || !c.outcome.report->time; }

/// Why the first of the ranking is no advice: the user gave tiles that no kernel would have. Empty if it is advice.
std::string no_advice(const Advice& a) {
    const Outcome& o = a.ranking[0].outcome;
    if (!o.report->time) return why_incomplete(*o.report);
    return why_infeasible(*o.report->time);
}

std::string size_of_released(const Advice& a) {
    const std::string size = size_of_tile(a.released);
    return a.published.carried_on.empty() ? size : message("advise.carried_on", size);
}

void add_row(text::Table& table, const std::string& what, const Candidate& c, double best) {
    std::vector<std::string> cells{what, size_of_tile(c), ratio(c.value, best)};
    for (const char* key : advised_columns) {
        const Metric& m = *find_metric(key);
        cells.push_back(c.outcome.report ? shown(m, m.of(*c.outcome.report)) : "–");
    }
    cells.push_back(!c.outcome.report ? "–"
                    : spills(c)       ? message("advise.would_spill")
                                      : message(compiled(c) ? "advise.compiled" : "advise.estimated"));
    table.add(cells);
}

text::Table table_of(const Advice& a) {
    text::Table table(
        text::titles({"", "column.br_bc", "advise.of_best", "column.time", "column.sm_traffic", "column.dram",
                      "column.on_an_sm", "column.waves", "column.tail", "column.bound", "column.registers"}),
        1);
    const double best = a.ranking[0].value;
    const std::string first = message(no_advice(a).empty() ? "advise.best" : "advise.given");
    for (std::size_t k = 0; k < std::min(most_shown, a.ranking.size()); ++k)
        add_row(table, k > 0 ? std::to_string(k + 1) : first, a.ranking[k], best);
    add_row(table, a.published.name(), a.released, best);
    return table;
}

void print(const Advice& a, const Request& request, const Algorithm& algorithm) {
    const std::string problem = describe(request.problem, *algorithm.computes);
    const char* objective = name_of(request.wish.objective);
    const Index splits = a.ranking[0].tiling().splits;  // all tiles of the ranking have as many
    text::print_wrapped(
        std::cout, splits > 0
                       ? message("advise.title_of_parts", algorithm.name, objective, problem, splits, request.gpu.name)
                       : message("advise.title", algorithm.name, objective, problem, request.gpu.name));
    std::cout << '\n';
    table_of(a).print(std::cout);
    const bool lost = spills(a.released) || has_no_value(a.released), released = a.published.carried_on.empty();
    const std::string no_kernel = no_advice(a);
    std::vector<std::string> notes;
    if (!no_kernel.empty())
        notes.push_back(message("advise.no_advice", no_kernel));
    else if (!compiled(a.ranking[0]))
        notes.push_back(lost || !released || a.released.tiling() == a.ranking[0].tiling()
                            ? message("advise.no_kernel_here")
                            : message("advise.safer_choice", a.published.whose));
    if (!released) notes.push_back(message("advise.none_released", a.published.carried_on));
    if (lost)
        notes.push_back(released ? message("advise.released_lose", a.published.whose, a.released.why)
                                 : message("advise.these_lose", a.released.why));
    if (!notes.empty()) std::cout << '\n';
    for (const std::string& note : notes) text::print_wrapped(std::cout, note);
    std::cout << '\n' << message(no_kernel.empty() ? "advise.next_to_best" : "advise.next_to_given") << '\n';
    const double best = a.ranking[0].value;
    for (const Candidate& c : a.neighbours)
        text::print_wrapped(std::cout,
                            c.outcome.report
                                ? message("advise.neighbour_of", c.name, size_of_tile(c), ratio(c.value, best), c.why)
                                : message("advise.neighbour", c.name, size_of_tile(c), c.why),
                            "  ", "    ");
    std::cout << '\n';
    const Report& r = *a.ranking[0].outcome.report;
    if (r.time) {
        const RunTime& t = *r.time;
        const bool several = t.launches.size() > 1;
        const char* floor = no_kernel.empty() ? (several ? "advise.floor_of_launches" : "advise.floor")
                                              : (several ? "advise.floor_of_given_launches" : "advise.floor_of_given");
        text::print_wrapped(std::cout, text::sentences({message(floor, name_of(a.floor), text::microseconds(a.floor_us),
                                                                text::percent(a.floor_us / t.us())),
                                                        verdict(t, r.experiment), basis(t, r.experiment)}));
        text::print_wrapped(std::cout, about_warm(r));
    }
    const bool choice = request.wish.tiling.br == 0 || request.wish.tiling.bc == 0;
    std::vector<std::string> tried = {message(choice ? "advise.tried" : "advise.tried_given")};
    if (request.wish.objective != Objective::time) tried.push_back(message("advise.as_few_bytes"));
    tried.push_back(message(algorithm.kernel->laned ? "advise.roles_not_varied" : "advise.not_varied"));
    if (!algorithm.lineage.file) tried.push_back(message("advise.measured", algorithm.name));
    text::print_wrapped(std::cout, text::sentences(tried));
}

Json json_of(const Candidate& c) {
    const Report* r = c.outcome.report ? &*c.outcome.report : nullptr;
    Json j = {{"br", c.tiling().br}, {"bc", c.tiling().bc}, {"fits", r && r->fits_sm()}};
    if (c.tiling().splits > 0) j["splits"] = c.tiling().splits;
    for (const char* key : {"time_us", "hbm_bytes", "dram_bytes", "blocks_per_sm"})
        j[key] = r ? cli::to_json(find_metric(key)->of(*r)) : Json();
    j["registers_compiled"] = compiled(c);
    j["would_spill"] = spills(c);
    j["why"] = c.why;
    return j;
}

Json json_of(const Advice& a, const Request& request, const Algorithm& algorithm) {
    Json j = {{"schema", "tilescope.advise/1"},
              {"algorithm", algorithm.name},
              {"objective", name_of(request.wish.objective)}};
    for (const Candidate& c : a.ranking) j["ranking"].push_back(json_of(c));
    j["released"] = json_of(a.released);
    j["released"]["carried_on"] = a.published.carried_on.empty() ? Json() : Json(a.published.carried_on);
    const std::string no_kernel = no_advice(a);
    j["no_advice"] = no_kernel.empty() ? Json() : Json(no_kernel);
    j["neighbours"] = Json::object();
    for (const Candidate& c : a.neighbours) j["neighbours"][c.name] = json_of(c);
    j["floor"] = {{"unit", name_of(a.floor)}, {"time_us", a.floor_us}};
    return j;
}

struct AdviseRequest {
    Options options;
    std::string algorithm;
    std::vector<std::string> vary;
};

Advice advice_for(const Algorithm& algorithm, const Request& request, Index threads) {
    const Progress progress = Progress::blocks(message("progress.searching_tiles"));
    return lab::advise(algorithm, problem_of(algorithm, request), request.wish, request.gpu, static_cast<int>(threads),
                       &control());
}

/// The best tiles for every value of an axis.
void advise_along(const AdviseRequest& a, const Algorithm& algorithm) {
    if (a.vary.size() > 1) throw UsageError(message("advise.varies_one_key", a.vary[1]));
    if (a.options.json) throw UsageError(message("advise.json_of_one"));
    const SweepAxis axis = parse_axis(a.vary[0]);
    std::vector<std::string> header =
        text::titles({"", "advise.best", "column.time", "column.sm_traffic", "column.dram", "column.on_an_sm",
                      "column.bound", "advise.tiles_kernel", "advise.of_best"});
    header[0] = axis.key;
    text::Table table(header, 2);
    std::vector<std::string> lost;
    for (const std::string& value : axis.values) {
        const Options o = with(a.options, {{axis.key, value}});
        const Advice found = advice_for(algorithm, read_request(o, algorithm), o.threads);
        const Candidate& best = found.ranking[0];
        const std::string size = size_of_tile(best);
        std::vector<std::string> cells{value, no_advice(found).empty() ? size : message("advise.no_kernel", size)};
        for (const char* key : {"time_us", "hbm_bytes", "dram_bytes", "blocks_per_sm", "bound"})
            cells.push_back(shown(*find_metric(key), find_metric(key)->of(*best.outcome.report)));
        cells.push_back(size_of_released(found));
        cells.push_back(ratio(found.released.value, best.value));
        table.add(cells);
        if (has_no_value(found.released))
            lost.push_back(message("advise.lost", axis.key, value, size_of_tile(found.released), found.released.why));
    }
    table.print(std::cout);
    if (!lost.empty()) std::cout << '\n' << message("advise.without_time") << '\n';
    for (const std::string& line : lost) text::print_wrapped(std::cout, line, "  ");
}

void advise(const AdviseRequest& given) {
    AdviseRequest a = given;
    const Algorithm& algorithm = chosen_algorithm(a.algorithm, a.options);
    if (algorithm.computes == &computation::attention) a.options = with_usual_sizes(a.options);
    if (!a.vary.empty()) return advise_along(a, algorithm);
    const Request request = read_request(a.options, algorithm);
    const Advice found = advice_for(algorithm, request, a.options.threads);
    a.options.json ? void(std::cout << json_of(found, request, algorithm).dump(2) << '\n')
                   : print(found, request, algorithm);
}

}  // namespace

void add_advise(CLI::App& app) {
    static AdviseRequest request;
    CLI::App* sub = app.add_subcommand("advise", message("advise.command"));
    add_algorithm_argument(*sub, request.algorithm);
    sub->add_option("--vary", request.vary, message("advise.vary_flag"))->take_all()->allow_extra_args(false);
    add_problem_options(*sub, request.options);
    sub->remove_option(sub->get_option("--tiles"));
    sub->get_option("--heads")->default_str(std::to_string(usual_heads));
    sub->get_option("--seq")->default_str(std::to_string(usual_seq));
    add_json_option(*sub, request.options);
    sub->footer(
        examples({"advise.example_causal", "advise.example_traffic", "advise.example_vary", "advise.example_given"}));
    sub->callback([] { advise(request); });
}

}  // namespace tilescope::cli
