// `tilescope list`: the algorithms, GPUs, models and metrics that there are.
#include <iostream>

#include "algorithms/contract/feature_names.hpp"
#include "algorithms/contract/pseudo_code.hpp"
#include "cli/commands.hpp"
#include "cli/json.hpp"
#include "cli/said.hpp"
#include "core/text/message.hpp"
#include "core/text/page.hpp"
#include "core/text/table.hpp"
#include "core/text/words.hpp"
#include "lab/gpu/gpu_presets.hpp"
#include "lab/library/kernels.hpp"
#include "lab/library/libraries.hpp"
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

/// The named kernels, and what the words of libraries mean.
void print_libraries() {
    text::Table kernels(text::titles({"listing.kernel", "listing.is", "listing.of", "listing.measured"}), 4);
    for (const NamedKernel& k : named_kernels())
        kernels.add({k.name, std::string(k.algorithm) + (k.key ? std::string(" --") + k.key + ' ' + k.value : ""), k.of,
                     k.measured ? k.measured : message(k.unmeasured)});
    kernels.print(std::cout);
    std::cout << '\n';
    text::Table meanings(
        text::titles({"listing.library", "listing.kernel", "listing.corner", "listing.hidden", "listing.window",
                      "listing.soft_cap", "listing.scores", "listing.weights", "listing.sums"}),
        9);
    for (const Library& l : libraries())
        for (const Backend& b : l.backends) {
            const Answers& m = b.answers;
            meanings.add({std::string(l.name) + ':' + b.name, b.kernel, in_words(m.corner),
                          m.hidden == m.hidden_in_bf16
                              ? in_words(m.hidden)
                              : message("library.in_f16_and_bf16", in_words(m.hidden), in_words(m.hidden_in_bf16)),
                          in_words(m.windows), in_words(m.soft_cap), in_words(m.scores), in_words(m.weights),
                          in_words(m.sums)});
        }
    meanings.print(std::cout);
    std::cout << '\n';
    text::print_wrapped(std::cout, message("listing.about_libraries"));
}

Json libraries_json() {
    Json j = {{"schema", "tilescope.libraries/1"}};
    for (const NamedKernel& k : named_kernels()) {
        Json kernel = {{"name", k.name}, {"algorithm", k.algorithm}, {"of", k.of}, {"source", k.source}};
        if (k.key) kernel["flag"] = std::string("--") + k.key + ' ' + k.value;
        if (k.measured) kernel["measured"] = k.measured;
        j["kernels"].push_back(std::move(kernel));
    }
    for (const Library& l : libraries())
        for (const Backend& b : l.backends) {
            const Answers& m = b.answers;
            j["backends"].push_back({{"name", std::string(l.name) + ':' + b.name},
                                     {"kernel", b.kernel},
                                     {"call", l.call},
                                     {"corner", name_of(m.corner)},
                                     {"hidden_row", name_of(m.hidden)},
                                     {"hidden_row_in_bf16", name_of(m.hidden_in_bf16)},
                                     {"window", name_of(m.windows)},
                                     {"soft_cap", name_of(m.soft_cap)},
                                     {"scores", name_of(m.scores)},
                                     {"weights", name_of(m.weights)},
                                     {"sums", name_of(m.sums)},
                                     {"checked", b.checked}});
        }
    return j;
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
    static bool only_metrics = false, only_libraries = false;
    sub->add_flag("--metrics", only_metrics, message("listing.metrics_flag"));
    sub->add_flag("--libraries", only_libraries, message("listing.libraries_flag"))->excludes("--metrics");
    static std::vector<std::string> files;
    sub->add_option("FILE", files, message("listing.files"))->type_name("FILE.cpp|so|py");
    add_json_option(*sub, options);
    sub->footer(
        examples({"listing.example", "listing.example_metrics", "listing.example_libraries", "listing.example_json"}));
    sub->callback([] {
        for (const std::string& file : files) load(file);
        if (only_libraries)
            return options.json ? void(std::cout << libraries_json().dump(2) << '\n') : print_libraries();
        options.json ? print_list_json() : only_metrics ? print_metrics() : print_text();
    });
}

}  // namespace tilescope::cli
