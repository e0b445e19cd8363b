// `tilescope models`: the language models that --model knows, and where their numbers come from.
#include <iostream>

#include "cli/commands.hpp"
#include "cli/doubt.hpp"
#include "cli/json.hpp"
#include "cli/said.hpp"
#include "core/text/message.hpp"
#include "core/text/numbers.hpp"
#include "core/text/page.hpp"
#include "core/text/table.hpp"
#include "lab/workload/model_presets.hpp"

namespace tilescope::cli {
using namespace lab;
using text::message;
namespace {

void print_models_json() {
    Json j = {{"schema", "tilescope.models/1"}, {"models", Json::array()}};
    for (const Model& m : models()) j["models"].push_back(Json::parse(m.json));
    std::cout << j.dump(2) << '\n';
}

void add_row(text::Table& table, const Model& m, const ModelShape& s, const std::string& phase) {
    table.add({m.name, phase, std::to_string(s.heads), std::to_string(s.kv_heads.value_or(s.heads)),
               std::to_string(s.dim), std::to_string(s.dim_v.value_or(s.dim)), marked(m.numbers, {"dtype"}, s.dtype),
               text::grouped(s.seq)});
}

void print_models() {
    text::Table table(text::titles({"models.model", "models.phase", "models.heads", "models.of_k_v", "models.dim",
                                    "models.of_v", "models.dtype", "models.seq"}),
                      2);
    for (const Model& m : models()) {
        const bool same = m.prefill == m.decode;
        add_row(table, m, m.prefill, same ? message("models.both") : "prefill");
        if (!same) add_row(table, m, m.decode, "decode");
    }
    table.print(std::cout);
    std::cout << message("models.about") << '\n';
}

void show(const Model& m) {
    std::cout << message("remark.of", m.name, m.title) << '\n';
    if (!m.note.empty()) text::print_wrapped(std::cout, m.note, "  ");
    std::cout << '\n';
    text::Table table(text::titles({"column.number", "column.value", "column.source"}), 3);
    bool sure = true;
    for (const ModelNumber& n : m.numbers) {
        table.add({n.key, n.value + (n.confirmed ? "" : doubt), n.source});
        sure = sure && n.confirmed;
    }
    table.print(std::cout);
    if (!sure) std::cout << message("models.doubt") << '\n';
}

}  // namespace

void add_models(CLI::App& app) {
    static Options options;
    static std::string name;
    CLI::App* sub = app.add_subcommand("models", message("models.command"));
    add_json_option(*sub, options);
    sub->footer(examples({"models.example", "models.example_show", "models.example_run"}));
    CLI::App* one = sub->add_subcommand("show", message("models.show_command"));
    one->add_option("NAME", name, message("models.name"))->required();
    add_json_option(*one, options);
    one->footer(examples({"models.example_llama", "models.example_json"}));
    sub->callback([one] {
        if (*one)
            options.json ? (void)(std::cout << model_named(name).json) : show(model_named(name));
        else
            options.json ? print_models_json() : print_models();
    });
}

}  // namespace tilescope::cli
