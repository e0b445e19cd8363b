#include "show/stage/figures.hpp"

#include <algorithm>

#include "core/text/version.hpp"
#include "lab/flags/algorithm_named.hpp"
#include "lab/flags/command.hpp"

namespace tilescope::show {
using namespace lab;

const FigureKind& figure_kind_of(Stage stage) {
    return stage == Stage::tiles ? tiles_kind : stage == Stage::io ? io_vs_n_kind : roofline_kind;
}

FigureRequest figure_request(const Setup& setup, const Problem& problem, Stage stage) {
    FigureRequest r;
    r.options = with_usual_sizes(setup.options, problem.heads, problem.seq_q);
    r.options.br = r.options.bc = "auto";
    if (stage == Stage::io) clear_flag(r.options, "seq");
    if (stage == Stage::tiles) clear_flag(r.options, "tiles");
    r.threads = 1;
    std::vector<std::string> names;
    const auto add = [&](const std::string& name) {
        if (!name.empty() && std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    };
    const Algorithm& own = algorithm_named(setup.algorithm);
    if (stage == Stage::tiles) {
        add(own.name);
    } else {
        if (own.computes == &computation::attention)
            for (const char* usual : {"standard", "flash_v1", "flash_v2"}) add(usual);
        add(own.name);
        add(setup.rival);
    }
    for (const std::string& n : names) r.variants.push_back(variant_from(n));
    return r;
}

std::string figure_command(const FigureRequest& request, Stage stage, const std::vector<std::string>& vary, Theme theme,
                           const std::string& file) {
    std::vector<std::string> words{"tilescope", "plot", figure_kind_of(stage).name};
    const auto add = [&](std::initializer_list<std::string> more) { words.insert(words.end(), more); };
    for (const Variant& v : request.variants) add({v.typed});
    for (const std::string& v : vary) add({"--vary", v});
    if (!request.metric.empty()) add({"--metric", request.metric});
    for (const std::string& flag : flags_of(request.options)) add({flag});
    if (theme != Theme::light) add({"--theme", name_of(theme)});
    add({"-o", file});
    return std::string("TileScope ") + text::version() + ": " + shell_line(words);
}

}  // namespace tilescope::show
