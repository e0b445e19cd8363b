// What the user names: an algorithm, a problem, inputs.
#include <iostream>

#include "cli/commands.hpp"
#include "cli/progress.hpp"
#include "core/text/message.hpp"
#include "lab/flags/algorithm_named.hpp"
#include "lab/flags/like.hpp"

namespace tilescope::cli {
using namespace lab;
using text::message;

void remark(const std::string& text) {
    if (!text.empty()) std::cerr << "tilescope: " << text << '\n';
}

const Algorithm& chosen_algorithm(const std::string& name) {
    const Algorithm& algorithm = algorithm_named(name);
    remark(renaming(name));
    return algorithm;
}

const Algorithm& chosen_algorithm(const std::string& name, Options& options) {
    if (name.empty() && like_of(options).empty()) throw CLI::RequiredError("ALGO");
    Named chosen = named(name, options);
    remark(renaming(name));
    remark(chosen.said);
    options = std::move(chosen.options);
    return *chosen.algorithm;
}

Variant chosen_variant(const std::string& text) {
    Variant variant = variant_from(text);
    remark(renaming(algorithm_in(text)));
    return variant;
}

CLI::Option* add_variants_argument(CLI::App& app, std::vector<std::string>& variants) {
    return app.add_option("ALGO", variants, message("chosen.variants"))->type_name("NAME[:KEY=VALUE,...][@GPU]");
}

std::string begin_of_see_it() { return "\n  " + message("failed.see_it", ""); }

std::string see_it(const Algorithm& algorithm, const Options& options, const Place& place) {
    return begin_of_see_it() + step_command(algorithm.name, options, place);
}

Request read_request(const Options& o, const Algorithm& algorithm) {
    const Progress progress = Progress::blocks(message("progress.reading_inputs"));
    return resolve(o, algorithm, &control());
}

Request read_request(const Options& o, const Computation& computation) {
    const Progress progress = Progress::blocks(message("progress.reading_inputs"));
    return resolve(o, computation, &control());
}

Experiment chosen_experiment(const Algorithm& algorithm, const Request& request) {
    if (request.wish.rule != TileRule::best) return experiment_of(algorithm, request, &control());
    const Progress progress([&] { return message("progress.searching_tiles_for", algorithm.name); });
    return experiment_of(algorithm, request, &control());
}

Inputs make_inputs(const Options& o, const Request& request, const Algorithm& algorithm) {
    const Progress progress = Progress::blocks(message("progress.making_inputs"));
    return inputs_for(o, request, algorithm, &control());
}

}  // namespace tilescope::cli
