#include "algorithms/contract/kernel_description.hpp"
#include "gui/controls/flags.hpp"
#include "gui/controls/parts.hpp"
#include "show/words/setup_text.hpp"

namespace tilescope::gui::controls {
using namespace lab;
namespace {

void tile_row(App& app, const char* flag, const char* label, std::string Options::*member, Index resolved,
              const std::string& what) {
    const std::string& given = options(app).*member;
    const bool is_auto = given == "auto";
    const double shown = is_auto ? static_cast<double>(resolved) : std::strtod(given.c_str(), nullptr);
    const NumberEdit edit = number_row(app, {flag, label, shown, 1, 1024, 0, !is_auto, what});
    if (edit.value) change(app, [&](Options& o) { o.*member = std::to_string(typed(*edit.value)); });
    if (edit.reset) change(app, [&](Options& o) { o.*member = "auto"; });
}

/// The number of parts of the keys, and the rule that chooses it where the algorithm has no rule of its own.
void splits_controls(App& app, Index resolved, bool own_rule) {
    const std::string& given = options(app).splits;
    const bool by_rule = given.empty() || given.find_first_not_of("0123456789") != std::string::npos;
    const double shown = by_rule ? static_cast<double>(resolved) : std::strtod(given.c_str(), nullptr);
    const NumberEdit edit = number_row(app, {"splits", "parts", shown, 1, 256, 0, !by_rule, about_parts(own_rule)});
    if (edit.value) change(app, [&](Options& o) { o.splits = std::to_string(typed(*edit.value)); });
    if (edit.reset) change(app, [](Options& o) { o.splits = Options().splits; });
    if (own_rule) return;
    begin_field(app, "rule");
    const std::string now = by_rule && given != Options().splits ? given : name_of(SplitRule::fa2);
    combo(app, "splits-rule", now.c_str(), "How many parts there are where no number is given.", [&] {
        for (const SplitRule rule : split_rules) {
            const std::string name = name_of(rule);
            if (entry(app, "splits-rule-" + name, name, now == name, about_rule(rule)))
                change(app, [&](Options& o) { o.splits = name; });
        }
    });
}

void packing_list(App& app) {
    begin_field(app, "pack");
    const std::string now = options(app).pack;
    combo(app, "pack", now.c_str(), "Whether query heads that share K and V have their rows in one tile.", [&] {
        for (const Packing packing : packings) {
            const std::string name = name_of(packing);
            if (entry(app, "pack-" + name, name, now == name, about_packing(packing)))
                change(app, [&](Options& o) { o.pack = name; });
        }
    });
}

/// The rule for tile sizes that the user leaves open. Choosing a rule leaves both open.
void rule_list(App& app) {
    begin_field(app, "auto");
    const std::string now = options(app).tiles;
    combo(app, "tiles", now.c_str(), tile_rule_text(asked_request(app), app.session.algorithm()), [&] {
        for (const TileRule rule : tile_rules) {
            const std::string name = name_of(rule);
            if (entry(app, "tiles-" + name, name, now == name, about_rule(rule)))
                change(app, [&](Options& o) { o.tiles = name, o.br = o.bc = "auto"; });
        }
    });
}

}  // namespace

void tile_controls(App& app) {
    heading(app, "Tiles");
    const bool attention = app.session.algorithm().computes->features.has(Feature::head_dims);
    const std::optional<Tiling> now = app.session.tiling();
    const std::string freed = " × leaves the choice to the rule below.";
    tile_row(app, "br", "Br", &Options::br, now ? now->br : 0,
             (attention ? "Rows of a tile of Q and O." : "Rows of a tile of X.") + freed);
    tile_row(app, "bc", "Bc", &Options::bc, now ? now->bc : 0,
             (attention ? "Rows of a tile of K and V: columns of a tile of S." : "Columns of a tile of X.") + freed);
    if (now) remark(app, tiling_text(options(app), *now, asked(app)));
    rule_list(app);
    const Algorithm& algorithm = app.session.algorithm();
    if (has_splits(algorithm.knobs)) splits_controls(app, now ? now->splits : 0, algorithm.kernel->parts != nullptr);
    const Problem p = asked(app);
    if (algorithm.packs && (p.kv_heads < p.heads || options(app).pack != Options().pack)) packing_list(app);
}

}  // namespace tilescope::gui::controls
