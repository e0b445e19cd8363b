// `tilescope explain ALGO`: the pseudo-code, line by line, with what each line costs and where tiles live.
#include <algorithm>
#include <iostream>
#include <set>

#include "algorithms/contract/pseudo_code.hpp"
#include "cli/commands.hpp"
#include "cli/json.hpp"
#include "cli/progress.hpp"
#include "cli/said.hpp"
#include "core/machine/counters.hpp"
#include "core/text/message.hpp"
#include "core/text/numbers.hpp"
#include "core/text/page.hpp"
#include "core/text/table.hpp"
#include "core/text/words.hpp"
#include "lab/flags/describe.hpp"
#include "lab/flags/in_flags.hpp"
#include "lab/flags/values.hpp"
#include "lab/model/mapping.hpp"
#include "lab/own/own.hpp"
#include "lab/run/covers.hpp"
#include "lab/run/explained.hpp"
#include "show/words/roles_text.hpp"
#include "show/words/warps_text.hpp"

namespace tilescope::cli {
using namespace lab;
using text::message;
namespace {

std::string bytes(Bytes n) { return n == 0 ? "" : text::bytes(n); }
std::string flops(Count n) { return n == 0 ? "" : text::count(static_cast<double>(n)); }

std::string listed(const std::set<std::string>& names) { return text::join({names.begin(), names.end()}, ", "); }

/// The columns `who` and `in flight` are there where warps have roles.
void print_line_table(const Experiment& e, const Profile& profile) {
    const bool lanes = !profile.lanes().empty();
    const auto with_lanes = [&](std::vector<std::string> cells, const std::string& who, const std::string& in_flight) {
        if (lanes) cells.insert(cells.begin() + 1, who), cells.insert(cells.begin() + 3, in_flight);
        return cells;
    };
    text::Table table(
        with_lanes(text::titles({"column.line", "column.pseudo_code", "explain.visits", "explain.bytes_a_visit",
                                 "column.sm_traffic", "explain.matmul", "column.exps", "explain.other"}),
                   message("explain.who"), message("explain.in_flight")),
        lanes ? 4 : 2);
    Counters total;
    for (const auto& [c, line] : explained_lines(e, profile)) {
        const Counters& cost = line.cost;
        total += cost;
        table.add(with_lanes(
            {c.number > 0 ? std::to_string(c.number) : "", c.code, line.visits > 0 ? text::grouped(line.visits) : "",
             line.visits > 0 ? bytes(cost.hbm() / line.visits) : "", bytes(cost.hbm()), flops(cost.matmul_flops),
             flops(cost.exps), flops(cost.other_flops)},
            listed(line.lanes), listed(line.in_flight)));
    }
    table.add(with_lanes({"", message("explain.total"), "", "", bytes(total.hbm()), flops(total.matmul_flops),
                          flops(total.exps), flops(total.other_flops)},
                         "", ""));
    table.print(std::cout);
}

/// Before the table: who the lanes are, and what they do.
void print_roles(const Experiment& e, const Profile& profile) {
    if (profile.lanes().empty()) return;
    const std::string lanes = message("explain.lanes", show::lanes_text(profile.lanes()));
    text::print_wrapped(std::cout, lanes, "  ", "  ");
    if (const std::string roles = show::roles_text(e); !roles.empty()) text::print_wrapped(std::cout, roles, "  ", "");
    text::print_wrapped(std::cout, message("explain.in_flight_is") + "\n\n", "  ", "");
}

std::string moves(const std::vector<TensorDecl>& tensors, const LineProfile& line) {
    std::vector<std::string> parts;
    for (const auto& [id, t] : line.traffic) {
        const std::string name = tensors[id].name;
        if (t.read > 0) parts.push_back(message("explain.read", name, bytes(t.read)));
        if (t.write > 0) parts.push_back(message("explain.written", name, bytes(t.write)));
        if (t.reduce > 0) parts.push_back(message("explain.reduced", name, bytes(t.reduce)));
    }
    return text::join(parts, ", ");
}

std::string lives(const LineProfile& line, Space space) {
    std::vector<std::string> parts;
    for (const TileUse& u : line.tiles)
        if (u.space == space)
            parts.push_back(message("explain.tile", u.name, std::to_string(u.rows), std::to_string(u.cols),
                                    name_of(u.dtype), bytes(u.rows * u.cols * size_of(u.dtype))));
    return text::join(parts, ", ");
}

void print_lines(const Experiment& e, const Profile& profile) {
    const auto tensors = e.algorithm->tensors(e.problem, e.tiling);
    constexpr std::size_t column = 11;
    std::cout << '\n' << message("explain.lines") << '\n';
    for (const auto& [c, line] : explained_lines(e, profile)) {
        const std::string moved = moves(tensors, line);
        const std::string why = why_of(*e.algorithm, c);
        if (why.empty() && moved.empty() && line.tiles.empty()) continue;
        const std::string number = std::to_string(c.number), code = c.code;
        const std::string said = !why.empty() ? why : code.substr(std::min(code.size(), code.find_first_not_of(' ')));
        text::print_wrapped(std::cout, number + std::string(4 - number.size(), ' ') + said, "  ", "    ");
        const auto print = [](const char* label_id, const std::string& words) {
            if (words.empty()) return;
            const std::string label = message(label_id);
            const std::string gap(column - std::min(column - 1, text::width(label)), ' ');
            text::print_wrapped(std::cout, label + gap + words, "      ", std::string(column, ' '));
        };
        print("explain.moves", moved);
        print("explain.sram", lives(line, Space::sram));
        print("explain.registers", lives(line, Space::registers));
    }
}

void print_warps(const show::WarpsText& t) {
    if (t.heading.empty()) return;
    std::cout << '\n' << t.heading << '\n';
    for (const std::string& words : t.before) text::print_wrapped(std::cout, words, "  ", "");
    if (!t.table.empty()) {
        text::Table table(t.table[0]);
        for (std::size_t k = 1; k < t.table.size(); ++k) table.add(t.table[k]);
        std::cout << '\n';
        table.print(std::cout, "  ");
        std::cout << '\n';
    }
    for (const std::string& words : t.after) text::print_wrapped(std::cout, words, "  ", "");
}

void explain_algorithm(Options o, const std::string& name, Index warps) {
    const Algorithm& algorithm = chosen_algorithm(name, o);
    const Request request = read_request(o, algorithm);
    with_tiling(algorithm, o, request, [&](const Experiment& e) {
        const show::WarpsText of_warps = show::warps_text(e, warps);
        if (warps > 0 && of_warps.heading.empty())
            throw UsageError(message("explain.no_warps", std::to_string(warps), algorithm.name));
        Profile profile;
        // Every mode counts the same, so counting is the default even where numbers would take seconds.
        const bool numeric = o.mode != "auto" && choose_mode(o, request, {count(e, &control())}).numeric;
        Gpu gpu(e.gpu, numeric ? numeric_mode : count_mode, 1, &control());
        gpu.listen(profile);
        const Inputs inputs = numeric ? make_inputs(o, request, algorithm) : Inputs{};
        {
            const Progress progress = Progress::blocks(message("progress.counting"));
            run_program(gpu, algorithm, e.problem, e.tiling, inputs);
        }
        if (o.json) {
            std::cout << to_json(e, profile, warps).dump(2) << '\n';
            return;
        }
        const std::vector<std::string> heading = {
            message("remark.of", algorithm.name, idea_of(algorithm)), source_of(algorithm),
            message("explain.problem", describe(request, *algorithm.computes), tiles_text(e), e.gpu.name),
            message(of_warps.heading.empty() ? "explain.all_counted" : "explain.all_but_warps_counted")};
        text::print_wrapped(std::cout, text::join(heading, "\n  ") + "\n\n");
        if (const std::string mask = about_mask(e); !mask.empty())
            text::print_wrapped(std::cout, mask + "\n\n", "  ", "  ");
        print_roles(e, profile);
        print_line_table(e, profile);
        print_lines(e, profile);
        print_warps(of_warps);
        for (const std::string& note : gpu.notes()) text::print_wrapped(std::cout, message("remark.note", note), "  ");
    });
}

}  // namespace

void add_explain(CLI::App& app) {
    static Options options;
    static std::string name;
    static Index warps = 0;
    CLI::App* sub = app.add_subcommand("explain", message("explain.command"));
    add_algorithm_argument(*sub, name);
    add_problem_options(*sub, options);
    add_numeric_options(*sub, options);
    sub->get_option("--mode")->description(message("explain.mode_flag"));
    add_whole_option(*sub, "--warps", {1, most_warps_of_a_block, 4}, message("explain.warps_flag").c_str(),
                     [](Index n) {
                         in_flags([&] { validate_warps(n); });
                         warps = n;
                     })
        ->default_str(message("explain.usual_warps"));
    add_json_option(*sub, options);
    sub->footer(examples({"explain.example", "explain.example_tiles", "explain.example_warps", "explain.example_toy"}));
    sub->callback([] { explain_algorithm(options, name, warps); });
}

}  // namespace tilescope::cli
