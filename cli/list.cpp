// `tilescope list`: the algorithms, GPUs, models and metrics that there are.
#include <iostream>

#include "algorithms/contract/feature_names.hpp"
#include "algorithms/contract/pseudo_code.hpp"
#include "cli/commands.hpp"
#include "cli/json.hpp"
#include "cli/said.hpp"
#include "core/text/message.hpp"
#include "core/text/table.hpp"
#include "core/text/words.hpp"
#include "lab/gpu/gpu_presets.hpp"
#include "lab/own/own.hpp"
#include "lab/report/metric.hpp"
#include "lab/workload/model_presets.hpp"

namespace tilescope::cli {
using namespace lab;
using text::message;
namespace {

Json features_of(const Algorithm& a) {
    Json all = Json::array();
    for (const Feature f : all_features)
        if (a.supports.has(f)) all.push_back(word_for(f));
    return all;
}

void print_list_json() {
    Json j = {{"schema", "tilescope.list/1"}};
    for (const Algorithm& a : algorithms()) {
        j["algorithms"].push_back({{"name", a.name},
                                   {"title", a.paper.title},
                                   {"family", a.computes->name},
                                   {"idea", idea_of(a)},
                                   {"paper", a.paper.source},
                                   {"features", features_of(a)}});
        if (a.lineage.file) j["algorithms"].back()["loaded_from"] = a.lineage.file;
    }
    j["gpus"] = gpu_preset_names();
    j["models"] = model_names();
    for (const Metric& m : metrics())
        j["metrics"].push_back({{"key", m.key},
                                {"title", m.title},
                                {"unit", name_of(m.unit)},
                                {"evidence", name_of(m.evidence)},
                                {"meaning", m.meaning}});
    std::cout << j.dump(2) << '\n';
}

/// The user's algorithms, which were loaded from files.
void print_own() {
    text::Table table(text::titles({"listing.own", "listing.computes", "listing.idea", "listing.loaded_from"}), 4);
    bool any = false;
    for (const Algorithm& a : algorithms()) {
        if (!a.lineage.file) continue;
        table.add({a.name, a.computes->name, idea_of(a), text::shown(a.lineage.file)});
        any = true;
    }
    if (!any) return;
    table.print(std::cout);
    std::cout << '\n';
}

/// Which features each algorithm of a computation supports; prints nothing where the computation has none.
void print_features(const Computation& c) {
    std::vector<std::string> heads = {message("listing.does")};
    std::vector<Feature> asked;
    for (const Feature f : all_features)
        if (f != Feature::head_dims && c.features.has(f)) asked.push_back(f), heads.emplace_back(word_for(f));
    if (asked.empty()) return;
    text::Table table(heads, heads.size());
    for (const Algorithm& a : algorithms()) {
        if (a.computes != &c) continue;
        std::vector<std::string> cells = {a.name};
        for (const Feature f : asked) cells.push_back(a.supports.has(f) ? message("listing.yes") : "-");
        table.add(cells);
    }
    table.print(std::cout);
    std::cout << '\n';
}

void print_text() {
    for (const Computation* c : computations()) {
        const bool kernels = c == &computation::softmax;
        text::Table table({kernels ? message("listing.softmax_kernels") : c->name, message("listing.idea")}, 2);
        for (const Algorithm& a : algorithms())
            if (a.computes == c && !a.lineage.file) table.add({a.name, idea_of(a)});
        table.print(std::cout);
        std::cout << '\n';
        print_features(*c);
    }
    print_own();
    std::cout << message("listing.gpus", text::join(gpu_preset_names(), ", ")) << '\n'
              << message("listing.models", text::join(model_names(), ", ")) << '\n'
              << message("listing.next") << '\n';
}

void print_metrics() {
    text::Table table(text::titles({"listing.metric", "column.unit", "", "listing.meaning"}), 4);
    for (const Metric& m : metrics()) table.add({m.key, name_of(m.unit), name_of(m.evidence), m.meaning});
    table.print(std::cout);
}

}  // namespace

void add_list(CLI::App& app) {
    static Options options;
    CLI::App* sub = app.add_subcommand("list", message("listing.command"));
    static bool only_metrics = false;
    sub->add_flag("--metrics", only_metrics, message("listing.metrics_flag"));
    static std::vector<std::string> files;
    sub->add_option("FILE", files, message("listing.files"))->type_name("FILE.cpp|so|py");
    add_json_option(*sub, options);
    sub->footer(examples({"listing.example", "listing.example_metrics", "listing.example_json"}));
    sub->callback([] {
        for (const std::string& file : files) load(file);
        options.json ? print_list_json() : only_metrics ? print_metrics() : print_text();
    });
}

}  // namespace tilescope::cli
