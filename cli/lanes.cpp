#include "cli/lanes.hpp"

#include <algorithm>
#include <cmath>
#include <iostream>
#include <iterator>

#include "algorithms/contract/roles.hpp"
#include "cli/commands.hpp"
#include "cli/json.hpp"
#include "core/text/numbers.hpp"
#include "core/text/page.hpp"
#include "core/text/table.hpp"
#include "core/text/words.hpp"
#include "lab/flags/describe.hpp"
#include "lab/flags/like.hpp"
#include "lab/model/published_tiles.hpp"
#include "show/stage/lane_chart.hpp"
#include "show/stage/lanes_text.hpp"

namespace tilescope::cli {
using namespace lab;
using text::message;
namespace {

constexpr const char* awaited_keys[] = {"other", "load", "product", "work", "slot", "turn", "all", "stored"};
constexpr const char* doing_keys[] = {"product", "load", "work", "wait", "busy", "hand_on"};
constexpr const char* slot_keys[] = {"empty", "loading", "full", "in_use"};

/// A variant whose lanes were played.
struct Played {
    std::string title;
    Experiment experiment;
    Request request;
};

std::string in_cycles(double n) { return text::grouped(std::llround(n)); }
std::string of_step(double n, const show::LaneView& view) {
    return n < 0.5 ? "" : message("lanes.cycles_and_share", in_cycles(n), text::percent(n / view.step()));
}

void print_units(const std::vector<Played>& all, const std::vector<show::LaneView>& views) {
    text::Table table(text::titles({"lanes.column_variant", "lanes.column_step", "lanes.column_tensor",
                                    "lanes.column_cuda", "lanes.column_exp", "lanes.column_both", "lanes.column_bus"}));
    for (std::size_t k = 0; k < all.size(); ++k) {
        const show::LaneShares s = views[k].shares();
        table.add({all[k].title, in_cycles(views[k].step()), text::percent(s.tensor_cores), text::percent(s.cuda_cores),
                   text::percent(s.exp), text::percent(s.both), text::percent(s.bus)});
    }
    std::cout << '\n' << message("lanes.units_title") << '\n';
    table.print(std::cout, "  ");
}

struct TimesColumn {
    const char* title;
    double (*of)(const show::LaneTimes&);
};
constexpr TimesColumn times_columns[] = {
    {"lanes.column_work", [](const show::LaneTimes& t) { return t.work; }},
    {"lanes.column_products", [](const show::LaneTimes& t) { return t.products; }},
    {"lanes.column_product", [](const show::LaneTimes& t) { return t.of(Awaited::product); }},
    {"lanes.column_turn", [](const show::LaneTimes& t) { return t.of(Awaited::turn); }},
    {"lanes.column_load", [](const show::LaneTimes& t) { return t.of(Awaited::load); }},
    {"lanes.column_slot", [](const show::LaneTimes& t) { return t.of(Awaited::slot); }},
    {"lanes.column_busy", [](const show::LaneTimes& t) { return t.busy; }},
    {"lanes.column_all", [](const show::LaneTimes& t) { return t.of(Awaited::all); }},
    {"lanes.column_other",
     [](const show::LaneTimes& t) { return t.of(Awaited::other) + t.of(Awaited::work) + t.of(Awaited::stored); }}};

/// Prints the columns that are not empty.
void print_times(const std::vector<Played>& all, const std::vector<show::LaneView>& views) {
    constexpr double least = 0.5;
    std::vector<const TimesColumn*> columns;
    std::vector<std::string> header = text::titles({"lanes.column_variant", "lanes.column_lane"});
    for (const TimesColumn& c : times_columns)
        if (std::any_of(views.begin(), views.end(), [&](const show::LaneView& view) {
                const auto times = view.times();
                return std::any_of(times.begin(), times.end(), [&](const auto& t) { return c.of(t) >= least; });
            }))
            columns.push_back(&c), header.push_back(message(c.title));
    text::Table table(header, 2);
    for (std::size_t k = 0; k < all.size(); ++k)
        for (const show::LaneTimes& t : views[k].times()) {
            std::vector<std::string> row = {all[k].title, views[k].name_of(t.lane)};
            for (const TimesColumn* c : columns) row.push_back(of_step(c->of(t), views[k]));
            table.add(row);
        }
    std::cout << '\n' << message("lanes.times_title") << '\n';
    table.print(std::cout, "  ");
}

void print_parts(const std::vector<Played>& all, const std::vector<show::LaneView>& views) {
    text::Table table(text::titles({"lanes.column_variant", "lanes.column_part", "lanes.column_alone",
                                    "lanes.column_played", "lanes.column_why"}),
                      2);
    for (std::size_t k = 0; k < all.size(); ++k)
        for (const show::LanePart& p : views[k].parts())
            table.add({all[k].title, show::lane_word(p.doing, p.what), in_cycles(p.alone), in_cycles(p.cycles),
                       show::why_longer(p)});
    std::cout << '\n' << message("lanes.parts_title") << '\n';
    table.print(std::cout, "  ");
}

void print_chart(const Played& p, const show::LaneView& view, const LanesRequest& asked, bool alone) {
    const Experiment& e = p.experiment;
    const double cycle = asked.cycle ? static_cast<double>(*asked.cycle) : show::telling_cycle(view);
    std::cout << '\n'
              << message("lanes.title", p.title, e.gpu.name, in_cycles(view.step()), e.tiling.br, e.tiling.bc,
                         whose_tiles(e))
              << '\n'
              << show::lane_chart(view, static_cast<int>(text::line_width), cycle);
    text::print_wrapped(std::cout, text::sentences({show::lane_sentence(view, cycle), show::lane_finding(view)}));
    if (!alone) return;
    std::cout << '\n' << message("lanes.state_title", in_cycles(cycle)) << '\n';
    for (const std::string& s : show::lane_sentences(view, cycle)) text::print_wrapped(std::cout, s, "  ", "    ");
}

Json stays_json(const show::LaneView& view, const show::LaneSlot& slot) {
    Json all = Json::array();
    for (const show::SlotStay& s : slot.stays)
        if (s.until > 0 && s.from < view.cycles())
            all.push_back(
                {{"what", s.what}, {"number", s.number}, {"from", s.from}, {"there", s.there}, {"until", s.until}});
    return all;
}

void add_times(Json& j, const show::LaneView& view) {
    const show::LaneShares s = view.shares();
    j["units"] = {{"tensor_cores", s.tensor_cores},
                  {"cuda_cores", s.cuda_cores},
                  {"exp", s.exp},
                  {"both", s.both},
                  {"bus", s.bus}};
    for (const show::LaneTimes& t : view.times()) {
        Json waits;
        for (std::size_t k = 0; k < std::size(awaited_keys); ++k) waits[awaited_keys[k]] = t.waits[k];
        j["lanes"].push_back({{"lane", view.name_of(t.lane)},
                              {"work", t.work},
                              {"products", t.products},
                              {"busy", t.busy},
                              {"waits", waits}});
    }
    for (const show::LanePart& p : view.parts())
        j["parts"].push_back({{"doing", doing_keys[static_cast<std::size_t>(p.doing)]},
                              {"what", p.what},
                              {"alone", p.alone},
                              {"cycles", p.cycles}});
}

/// What the lanes follow from, beside the constants of the model.
Json kernel_json(const Experiment& e) {
    const auto is_on = [](Index knob) { return knob == on; };
    return {{"algorithm", e.algorithm->name},
            {"gpu", e.gpu.name},
            {"dim", e.problem.dim},
            {"dim_v", e.problem.dim_v},
            {"dtype", name_of(e.problem.dtype)},
            {"br", e.tiling.br},
            {"bc", e.tiling.bc},
            {"slots", e.tiling.slots},
            {"warpgroups", e.tiling.warpgroups},
            {"turns", is_on(e.tiling.turns)},
            {"overlap", is_on(e.tiling.overlap)}};
}

Json lanes_json(const Played& p, const show::LaneView& view, const LanesRequest& asked) {
    const double cycle = asked.cycle ? static_cast<double>(*asked.cycle) : show::telling_cycle(view);
    Json j = {{"schema", "tilescope.lanes/1"}, {"variant", p.title}};
    j.update(kernel_json(p.experiment));
    j["step"] = view.step(), j["shown"] = view.cycles(), j["cycle"] = cycle;
    j["sentence"] = show::lane_sentence(view, cycle), j["finding"] = show::lane_finding(view);
    add_times(j, view);
    j["segments"] = Json::array(), j["slots"] = Json::array(), j["turns"] = Json::array();
    for (std::uint32_t k = 0; k < view.segments().size(); ++k)
        if (const show::LaneSegment& s = view.segments()[k]; s.to >= 0 && s.from < view.cycles())
            j["segments"].push_back(segment_json(view, k));
    for (const show::LaneSlot& s : view.slots()) {
        Json of = slot_json(view, s, cycle);
        of["stays"] = stays_json(view, s);
        j["slots"].push_back(std::move(of));
    }
    for (const show::LaneView::Baton& baton : view.batons())
        for (const show::LaneView::Turn& t : baton.turns)
            if (t.at < view.cycles()) j["turns"].push_back(turn_json(view, baton, t));
    return j;
}

void print_all(const std::vector<Played>& all, const std::vector<show::LaneView>& views, const LanesRequest& asked) {
    text::print_wrapped(std::cout, message("lanes.about"));
    text::print_wrapped(std::cout,
                        message("timeline.problem", describe(all[0].request, *all[0].experiment.algorithm->computes),
                                tiles_text(all[0].experiment)),
                        "  ");
    for (std::size_t k = 0; k < all.size(); ++k) print_chart(all[k], views[k], asked, all.size() == 1);
    std::cout << '\n';
    text::print_wrapped(std::cout, show::lane_legend(views));
    print_units(all, views);
    print_times(all, views);
    print_parts(all, views);
}

}  // namespace

Json segment_json(const show::LaneView& view, std::uint32_t number) {
    const show::LaneSegment& s = view.segments()[number];
    Json j = {{"segment", number},
              {"doing", doing_keys[static_cast<std::size_t>(s.doing)]},
              {"lane", view.name_of(s.lane)},
              {"what", s.what},
              {"number", s.number},
              {"from", s.from},
              {"to", s.to}};
    if (s.doing == show::LaneDoing::product || s.doing == show::LaneDoing::work) j["alone"] = s.alone;
    if (s.doing == show::LaneDoing::load) j["sent"] = s.sent;
    if (s.doing != show::LaneDoing::wait) return j;
    j["for"] = awaited_keys[static_cast<std::size_t>(s.awaited)];
    j["ended_by"] = s.ended_by == show::no_segment ? Json(nullptr) : Json(s.ended_by);
    return j;
}

Json slot_json(const show::LaneView& view, const show::LaneSlot& slot, double cycle) {
    return {{"ring", slot.ring},
            {"slot", slot.slot},
            {"state", slot_keys[static_cast<std::size_t>(view.state_at(slot, cycle))]}};
}

Json turn_json(const show::LaneView& view, const show::LaneView::Baton& baton, const show::LaneView::Turn& turn) {
    return {{"product", baton.product}, {"at", turn.at}, {"lane", view.name_of(turn.lane)}};
}

void show_lanes(const Options& o, const std::vector<std::string>& variants, const LanesRequest& asked) {
    std::vector<Played> all;
    std::vector<show::LaneView> views;
    for (const std::string& typed : variants) {
        const Variant v = chosen_variant(typed);
        const Named n = named(v, o);
        remark(n.said);
        const Request request = read_request(n.options, *n.algorithm);
        with_tiling(*n.algorithm, n.options, request, [&](const Experiment& e) {
            if (!has_timed_lanes(e)) throw RunError(message("lanes.has_none", v.label, e.gpu.name));
            all.push_back({v.label, e, request});
            views.push_back(show::lane_view(e, asked.steps));
        });
    }
    show::on_one_axis(views);
    if (!o.json) return print_all(all, views, asked);
    Json j = Json::array();
    for (std::size_t k = 0; k < all.size(); ++k) j.push_back(lanes_json(all[k], views[k], asked));
    std::cout << (j.size() == 1 ? j[0] : j).dump(2) << '\n';
}

}  // namespace tilescope::cli
