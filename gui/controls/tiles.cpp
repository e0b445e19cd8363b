#include "algorithms/contract/kernel_description.hpp"
#include "gui/controls/flags.hpp"
#include "gui/controls/parts.hpp"
#include "gui/draw/message.hpp"
#include "show/words/setup_text.hpp"

namespace tilescope::gui::controls {
using namespace lab;
namespace {

void tile_row(Shown& shown, Screen& screen, const char* flag, const std::string& label, std::string Options::*member,
              Index resolved, const std::string& what) {
    const std::string& given = options(shown).*member;
    const bool is_auto = given == "auto";
    const double number = is_auto ? static_cast<double>(resolved) : std::strtod(given.c_str(), nullptr);
    const NumberEdit edit = number_row(screen, {flag, label, number, 1, 1024, 0, !is_auto, what});
    if (edit.value) change(shown, [&](Options& o) { o.*member = std::to_string(typed(*edit.value)); });
    if (edit.reset) change(shown, [&](Options& o) { o.*member = "auto"; });
}

/// The number of parts of the keys, and the rule that chooses it where the algorithm has no rule of its own.
void splits_controls(Shown& shown, Screen& screen, Index resolved, bool own_rule) {
    const std::string& given = options(shown).splits;
    const bool by_rule = given.empty() || given.find_first_not_of("0123456789") != std::string::npos;
    const double number = by_rule ? static_cast<double>(resolved) : std::strtod(given.c_str(), nullptr);
    const NumberEdit edit = number_row(
        screen, {"splits", message("tile_controls.parts"), number, 1, 256, 0, !by_rule, about_parts(own_rule)});
    if (edit.value) change(shown, [&](Options& o) { o.splits = std::to_string(typed(*edit.value)); });
    if (edit.reset) change(shown, [](Options& o) { o.splits = Options().splits; });
    if (own_rule) return;
    begin_field(screen, message("tile_controls.rule"));
    const std::string now = by_rule && given != Options().splits ? given : name_of(SplitRule::fa2);
    combo(screen, "splits-rule", now, message("tile_controls.about_split_rules"), [&] {
        for (const SplitRule rule : split_rules) {
            const std::string name = name_of(rule);
            if (entry(screen, "splits-rule-" + name, name, now == name, about_rule(rule)))
                change(shown, [&](Options& o) { o.splits = name; });
        }
    });
}

void packing_list(Shown& shown, Screen& screen) {
    begin_field(screen, message("tile_controls.pack"));
    const std::string now = options(shown).pack;
    combo(screen, "pack", now, message("tile_controls.about_packing"), [&] {
        for (const Packing packing : packings) {
            const std::string name = name_of(packing);
            if (entry(screen, "pack-" + name, name, now == name, about_packing(packing)))
                change(shown, [&](Options& o) { o.pack = name; });
        }
    });
}

/// The rule for tile sizes that the user leaves open. Choosing a rule leaves both open.
void rule_list(Shown& shown, Screen& screen) {
    begin_field(screen, message("tile_controls.auto"));
    const std::string now = options(shown).tiles;
    combo(screen, "tiles", now, tile_rule_text(asked_request(shown), shown.session.algorithm()), [&] {
        for (const TileRule rule : tile_rules) {
            const std::string name = name_of(rule);
            if (entry(screen, "tiles-" + name, name, now == name, about_rule(rule)))
                change(shown, [&](Options& o) { o.tiles = name, o.br = o.bc = "auto"; });
        }
    });
}

}  // namespace

void tile_controls(Shown& shown, Screen& screen) {
    heading(screen, message("tile_controls.tiles"));
    const bool attention = shown.session.algorithm().computes->features.has(Feature::head_dims);
    const std::optional<Tiling> now = shown.session.tiling();
    tile_row(shown, screen, "br", message("tile_controls.br"), &Options::br, now ? now->br : 0,
             message(attention ? "tile_controls.about_br" : "tile_controls.about_rows"));
    tile_row(shown, screen, "bc", message("tile_controls.bc"), &Options::bc, now ? now->bc : 0,
             message(attention ? "tile_controls.about_bc" : "tile_controls.about_columns"));
    if (now) remark(screen, tiling_text(options(shown), *now, asked(shown)));
    rule_list(shown, screen);
    const Algorithm& algorithm = shown.session.algorithm();
    if (has_splits(algorithm.knobs))
        splits_controls(shown, screen, now ? now->splits : 0, algorithm.kernel->parts != nullptr);
    const Problem p = asked(shown);
    if (algorithm.packs && (p.kv_heads < p.heads || options(shown).pack != Options().pack)) packing_list(shown, screen);
}

}  // namespace tilescope::gui::controls
