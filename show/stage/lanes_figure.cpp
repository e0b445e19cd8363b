#include "show/stage/lanes_figure.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <utility>

#include "core/machine/error.hpp"
#include "core/machine/sorted.hpp"
#include "core/text/message.hpp"
#include "core/text/numbers.hpp"
#include "core/text/words.hpp"
#include "lab/flags/like.hpp"
#include "lab/flags/request.hpp"
#include "lab/model/published_tiles.hpp"
#include "show/stage/lanes_text.hpp"

namespace tilescope::show {
using lab::Box;
using lab::Look;
using lab::Panel;
using lab::Series;
using lab::Side;
using text::message;
namespace {

constexpr double letters_of_panel = 88;  // in the width of a panel, at the size of words in boxes
enum PaletteColour { blue, vermillion, green, pink, orange, sky, purple, grey };

/// Products have the colour of their warpgroup.
int colour_of(const LaneView& view, const LaneSegment& s) {
    constexpr int of_groups[] = {blue, vermillion, green};
    if (s.doing == LaneDoing::product) return of_groups[view.group_of(s.lane) % 3];
    if (s.doing == LaneDoing::load || s.doing == LaneDoing::busy) return grey;
    if (s.doing == LaneDoing::wait) return s.awaited == Awaited::turn ? 1 : s.awaited == Awaited::product ? 0 : 2;
    if (s.what == "exp_minus") return purple;
    if (s.what == "update_row_max") return pink;
    return s.what == "scale_rows" ? orange : sky;
}

std::string legend_of(const LaneView& view, const LaneSegment& s) {
    if (s.doing == LaneDoing::product) return message("lanes_figure.products_of", view.name_of(s.lane));
    if (s.doing == LaneDoing::load) return message("lanes_figure.load");
    if (s.doing == LaneDoing::busy) return message("lanes.busy");
    if (s.doing == LaneDoing::wait) return message("lanes_figure.waits_for", awaited_word(s.awaited));
    constexpr const char* known[] = {"exp_minus", "update_row_max", "scale_rows"};
    if (std::any_of(std::begin(known), std::end(known), [&](const char* k) { return s.what == k; }))
        return lane_word(s.doing, s.what);
    return message("lanes_figure.other_work");
}

/// "a step takes 2,523 cycles; tensor cores at work 81%, CUDA cores 96%".
std::string in_numbers(const LaneView& view) {
    const LaneShares s = view.shares();
    return message("lanes_figure.heading", text::grouped(std::llround(view.step())), text::percent(s.tensor_cores),
                   text::percent(s.cuda_cores));
}

/// Builds a panel from top to bottom. The first row lies at y = -1 to 0.
class LanesDrawing {
  public:
    void add_view(const LaneView& view, const std::string& title, bool with_slots) {
        view_ = &view;
        const double top = row_;
        heading(title);
        heading(in_numbers(view));
        for (const LaneRow& row : view.rows())
            if (row.kind != LaneRow::Kind::loads) add_row(row);
        for (const LaneView::Baton& baton : view.batons()) add_turns(baton);
        if (with_slots)
            for (const LaneSlot& slot : view.slots()) add_slot(slot);
        if (view.step() < view.cycles())
            p_.series.push_back(
                {message("lanes_figure.a_step"), Look::dashes, -1, {{view.step(), top - 1}, {view.step(), row_}}});
        add_arrows();
        row_ -= 0.4;
    }
    Panel panel(double cycles) {
        p_.x = {message("lanes_figure.cycles"), lab::Scale::plain, false, 0.0, cycles};
        p_.y.from = row_, p_.y.to = 0.2;
        p_.rows = 0.2 - row_;
        std::reverse(p_.y.ticks.begin(), p_.y.ticks.end());
        p_.series.push_back(std::move(arrows_));
        return std::move(p_);
    }

  private:
    void heading(const std::string& title) {
        p_.series.push_back({"", Look::words, -1, {{0, row_ - 0.75, title}}, Side::from});
        row_ -= 1;
    }
    void begin_row(const std::string& name) {
        p_.y.ticks.push_back({row_ - 0.5, name});
        row_ -= 1;
    }
    bool has_room(const std::string& label, double from, double to) const {
        return (to - from) / view_->cycles() * letters_of_panel >= static_cast<double>(text::width(label)) + 0.5;
    }
    /// Adds a box in the last row, cut to what is shown.
    Box* add(double from, double to, int colour, const std::string& label, double least = 0.12, double most = 0.88) {
        from = std::max(from, 0.0), to = std::min(to, view_->cycles());
        if (to <= from) return nullptr;
        Box& b = p_.boxes.emplace_back();
        b.left = from, b.right = to, b.bottom = row_ + least, b.top = row_ + most, b.colour = colour;
        if (has_room(label, from, to)) b.label = label;
        return &b;
    }

    void add_row(const LaneRow& row) {
        const bool own = row.kind == LaneRow::Kind::warpgroup;
        begin_row(own ? message("lanes.of_group", view_->name_of(row.lane), message("lanes.cuda_cores"))
                  : row.kind == LaneRow::Kind::bus ? message("lanes.bus")
                                                   : message("lanes.tensor_cores"));
        if (own) row_of_[row.lane] = row_ + 0.5;
        if (row.kind == LaneRow::Kind::tensor_cores) tensor_row_ = row_ + 0.5;
        if (row.kind == LaneRow::Kind::bus) bus_row_ = row_ + 0.5;
        for (const std::uint32_t k : row.segments) {
            const LaneSegment& s = view_->segments()[k];
            const bool waits = s.doing == LaneDoing::wait, low = waits || s.doing == LaneDoing::busy;
            Box* const b = add(s.from, s.doing == LaneDoing::load ? s.sent : s.to, colour_of(*view_, s), label_of(s),
                               low ? 0.25 : 0.12, low ? 0.75 : 0.88);
            if (!b) continue;
            b->hatched = waits, b->series = legend_of(*view_, s);
        }
    }
    std::string label_of(const LaneSegment& s) const {
        if (s.doing != LaneDoing::wait) return lane_word(s);
        return message("lanes_figure.for", s.awaited == Awaited::turn || s.ended_by == no_segment
                                               ? awaited_word(s.awaited)
                                               : lane_word(view_->segments()[s.ended_by]));
    }

    void add_turns(const LaneView::Baton& baton) {
        begin_row(turn_word(*view_, baton));
        const std::vector<LaneView::Turn>& turns = baton.turns;
        constexpr int of_groups[] = {blue, vermillion, green};
        for (std::size_t k = 0; k < turns.size(); ++k)
            add(turns[k].at, k + 1 < turns.size() ? turns[k + 1].at : view_->cycles(),
                of_groups[view_->group_of(turns[k].lane) % 3], view_->name_of(turns[k].lane));
    }

    void add_slot(const LaneSlot& slot) {
        begin_row(message("lane.slot", std::to_string(slot.slot), slot.ring));
        for (const SlotStay& s : slot.stays) {
            if (Box* b = add(s.from, s.there, grey, tile_word(s.what, s.number)))
                b->open = true, b->series = message("lanes_figure.slot_loading");
            add_reading(s);
        }
    }
    /// A full slot, and in it the products that read it.
    void add_reading(const SlotStay& s) {
        std::vector<const LaneSegment*> readers;
        for (const std::uint32_t r : s.readers)
            if (view_->segments()[r].doing == LaneDoing::product) readers.push_back(&view_->segments()[r]);
        sort_stably(readers, [](const auto* a, const auto* b) { return a->from < b->from; });
        double from = s.there;
        const auto add_full = [&](double to) {
            if (Box* b = add(from, to, grey, tile_word(s.what, s.number)))
                b->series = message("lanes_figure.slot_full");
        };
        for (const LaneSegment* by : readers) {
            add_full(by->from);
            add(by->from, by->to, colour_of(*view_, *by), view_->name_of(by->lane));
            from = std::max(from, by->to);
        }
        add_full(s.until);
    }

    /// From what ended a wait to where the lane goes on.
    void add_arrows() {
        for (const LaneSegment& s : view_->segments()) {
            if (s.doing != LaneDoing::wait || view_->group_of(s.lane) < 0 || s.ended_by == no_segment) continue;
            const LaneSegment& by = view_->segments()[s.ended_by];
            if (s.to <= 0 || s.to >= view_->cycles()) continue;
            const double from = by.doing == LaneDoing::product ? tensor_row_
                                : by.doing == LaneDoing::load  ? bus_row_
                                                               : row_of_[by.lane];
            const double to = row_of_[s.lane], half = from > to ? 0.38 : -0.38;
            arrows_.points.push_back({std::clamp(std::min(by.to, s.to), 0.0, view_->cycles()), from - half});
            arrows_.points.push_back({s.to, to + half});
        }
    }

    const LaneView* view_ = nullptr;
    Panel p_;
    Series arrows_{message("lanes_figure.ends_wait"), Look::arrows, -1};
    std::map<std::uint32_t, double> row_of_;
    double row_ = 0, tensor_row_ = 0, bus_row_ = 0;  // row_: the bottom of the last row
};

/// The experiment, with the problem of the four pictures where no flag says otherwise.
lab::Experiment experiment_of_variant(const lab::FigureRequest& r, const lab::Variant& v) {
    lab::Options usual = r.options;
    if (usual.model.empty() && !usual.dim) usual.dim = 128;
    const lab::Named n = lab::named(v, usual);
    return lab::experiment_of(*n.algorithm, lab::resolve(n.options, *n.algorithm, r.control), r.control);
}

}  // namespace

Panel lanes_panel(std::span<const LaneView> views, std::span<const std::string> titles) {
    LanesDrawing drawing;
    for (std::size_t k = 0; k < views.size(); ++k) drawing.add_view(views[k], titles[k], views.size() == 1);
    return drawing.panel(views[0].cycles());
}

lab::Figure lanes_figure(const lab::FigureRequest& r) {
    lab::vary_nothing(r);
    lab::FigureRequest own = r;
    if (r.variants.empty() && r.options.bc == lab::Options().bc) own.options.bc = "128";
    const auto variants = lab::variants_of(own, {"flash_v3:warpgroups=1,br=64,overlap=off",
                                                 "flash_v3:turns=off,overlap=off", "flash_v3:overlap=off", "flash_v3"});
    std::vector<LaneView> views;
    std::vector<std::string> titles, findings, setups;
    for (const lab::Variant& v : variants) {
        const lab::Experiment e = experiment_of_variant(own, v);
        if (!lab::has_timed_lanes(e)) throw RunError(message("lanes_figure.has_none", v.title, e.gpu.name));
        views.push_back(lane_view(e));
        titles.push_back(message("lanes_figure.tiles", v.label, e.tiling.br, e.tiling.bc, lab::whose_tiles(e)));
        findings.push_back(message("lanes_figure.finding", v.label, lane_finding(views.back())));
        if (setups.empty()) setups.push_back(message("figure.setups", lab::setup_text(e, "seq")));
    }
    on_one_axis(views);
    lab::Figure f{"lanes", message("lanes_figure.title"), {lanes_panel(views, titles)}, "", r.command};
    findings.insert(findings.begin(), message("lanes_figure.about"));
    findings.push_back(message("figure.modelled"));
    findings.insert(findings.end(), setups.begin(), setups.end());
    f.of_all = text::sentences(findings);
    return f;
}

}  // namespace tilescope::show
