#include <algorithm>
#include <cstdlib>

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

/// A knob of warps with roles that is a number.
void role_row(Shown& shown, Screen& screen, const Knob& knob, Index resolved) {
    const auto given = options(shown).roles.find(knob.name);
    const bool is_auto = given == options(shown).roles.end();
    const double number = is_auto ? static_cast<double>(resolved) : std::strtod(given->second.c_str(), nullptr);
    const NumberEdit edit = number_row(
        screen, {knob.name, knob.symbol, number, 1, static_cast<double>(knob.most), 0, !is_auto, message(knob.about)});
    if (edit.value)
        change(shown, [&](Options& o) {
            o.roles[knob.name] = std::to_string(std::clamp(typed(*edit.value), Index{1}, knob.most));
        });
    if (edit.reset) change(shown, [&](Options& o) { o.roles.erase(knob.name); });
}

/// A knob of warps with roles that is a choice by name; `auto` shows what it comes to.
void role_list(Shown& shown, Screen& screen, const Knob& knob, const std::string& resolved) {
    begin_field(screen, knob.symbol);
    const std::string name = knob.name, automatic = "auto";
    const auto given = options(shown).roles.find(name);
    const bool is_auto = given == options(shown).roles.end();
    const std::string now = !is_auto           ? given->second
                            : resolved.empty() ? automatic
                                               : message("tile_controls.auto_is", resolved);
    combo(screen, knob.name, now, message(knob.about), [&] {
        if (entry(screen, name + "-auto", automatic, is_auto, message("tile_controls.about_auto_knob")))
            change(shown, [&](Options& o) { o.roles.erase(name); });
        for (const char* const value : knob.names)
            if (entry(screen, name + '-' + value, value, !is_auto && given->second == value, message(knob.about)))
                change(shown, [&](Options& o) { o.roles[name] = value; });
    });
}

void role_controls(Shown& shown, Screen& screen, const std::optional<Tiling>& now) {
    for (const Knob& k : shown.session.algorithm().knobs) {
        if (k.is_size) continue;
        if (k.names.empty())
            role_row(shown, screen, k, now ? (*now).*k.value : 0);
        else
            role_list(shown, screen, k, now ? k.text(*now) : "");
    }
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
    role_controls(shown, screen, now);
    const Problem p = asked(shown);
    if (algorithm.packs && (p.kv_heads < p.heads || options(shown).pack != Options().pack)) packing_list(shown, screen);
}

}  // namespace tilescope::gui::controls
