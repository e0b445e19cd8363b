#include "show/stage/lanes_text.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string_view>

#include "core/text/message.hpp"
#include "core/text/numbers.hpp"
#include "core/text/words.hpp"

namespace tilescope::show {
using text::message;
namespace {

struct WordOf {
    LaneDoing doing;
    std::string_view what;
    const char *word, *legend;  // ids of messages
};
constexpr WordOf words_of_lanes[] = {
    {LaneDoing::product, "S", "lane.scores", "lane.scores_in_full"},
    {LaneDoing::product, "O", "lane.output", "lane.output_in_full"},
    {LaneDoing::work, "update_row_max", "lane.max", "lane.max_in_full"},
    {LaneDoing::work, "shuffle", "lane.reduce", "lane.reduce_in_full"},
    {LaneDoing::work, "exp_minus", "lane.exp", "lane.exp_in_full"},
    {LaneDoing::work, "scale_rows", "lane.rescale", "lane.rescale_in_full"},
    {LaneDoing::work, "divide_rows", "lane.divide", "lane.divide_in_full"},
    {LaneDoing::work, "copy", "lane.convert", "lane.convert_in_full"},
    {LaneDoing::work, "round", "lane.convert", "lane.convert_in_full"},
};
constexpr const char* awaited_ids[] = {"lane.for_other", "lane.for_load", "lane.for_product", "lane.for_work",
                                       "lane.for_slot",  "lane.for_turn", "lane.for_all",     "lane.for_stored"};
constexpr const char* slot_ids[] = {"lane.slot_empty", "lane.slot_loading", "lane.slot_full", "lane.slot_in_use"};

/// What a busy lane does, by what it waited for just before, and as a clause about the lane.
struct BusyWords {
    Awaited after;
    const char *word, *clause;
};
constexpr BusyWords busy_words[] = {{Awaited::product, "lane.notices", "lane.is_noticing"},
                                    {Awaited::load, "lane.notices", "lane.is_told"},
                                    {Awaited::slot, "lane.notices_slot", "lane.is_noticing_slot"},
                                    {Awaited::turn, "lane.takes_turn", "lane.is_taking_turn"},
                                    {Awaited::all, "lane.meets", "lane.is_meeting"},
                                    {Awaited::other, "lane.stores", "lane.is_storing"}};

const BusyWords& words_of_busy(const LaneSegment& s) {
    const auto found = std::find_if(std::begin(busy_words), std::end(busy_words),
                                    [&](const BusyWords& w) { return w.after == s.awaited; });
    return found == std::end(busy_words) ? std::end(busy_words)[-1] : *found;
}

const WordOf* word_of(LaneDoing doing, const std::string& what) {
    for (const WordOf& w : words_of_lanes)
        if (w.doing == doing && w.what == what) return &w;
    return nullptr;
}

std::string numbered(const LaneSegment& s, const std::string& word) {
    return s.once ? word : tile_word(word, s.number);
}
/// "P V(j)", "K(j+1)": what the lane waited for.
std::string awaited_tile(const LaneSegment& s) { return numbered(s, lane_word(LaneDoing::product, s.what)); }
std::string at_cycle(double cycle) { return text::grouped(std::llround(cycle)); }

std::string of_wait(const LaneView& view, const std::string& lane, const LaneSegment& s, double cycle) {
    const LaneSegment* const by = s.ended_by == no_segment ? nullptr : &view.segments()[s.ended_by];
    const std::string until = at_cycle(s.to), what = numbered(s, s.what);
    if (by && s.awaited == Awaited::turn) return message("lane.waits_turn", lane, view.name_of(by->lane), until);
    if (by && s.awaited == Awaited::load) return message("lane.waits_load", lane, what, until);
    if (by && s.awaited == Awaited::slot)
        return message("lane.waits_slot", lane, lane_word(*by), view.name_of(by->lane), until);
    if (by && s.awaited == Awaited::product)
        return by->from > cycle ? message("lane.waits_product_later", lane, lane_word(*by), at_cycle(by->from), until)
                                : message("lane.waits_product", lane, lane_word(*by), until);
    return message("lane.waits_other", lane, awaited_word(s.awaited), until);
}

/// A lane that waits for its turn comes before one that waits for data, and that before one that waits for a product.
int rank_of(const LaneSegment* s) {
    if (!s || s->doing != LaneDoing::wait) return 0;
    return s->awaited == Awaited::turn ? 3 : s->awaited == Awaited::product ? 1 : 2;
}

std::string of_slots(const LaneView& view, double cycle) {
    std::vector<std::string> all;
    for (const LaneSlot& slot : view.slots()) {
        const SlotState state = view.state_at(slot, cycle);
        const SlotStay* const stay = slot.stay_at(cycle);
        const std::string name = message("lane.slot", std::to_string(slot.slot), slot.ring);
        all.push_back(state == SlotState::empty
                          ? message("lane.slot_without", name, slot_word(state))
                          : message("lane.slot_with", name, tile_word(stay->what, stay->number), slot_word(state)));
    }
    return text::join(all, ", ");
}

}  // namespace

std::string lane_word(LaneDoing doing, const std::string& what) {
    const WordOf* const known = word_of(doing, what);
    return known ? message(known->word) : what;
}
std::string lane_legend(LaneDoing doing, const std::string& what) {
    const WordOf* const known = word_of(doing, what);
    return known ? message(known->legend) : what;
}
std::string tile_word(const std::string& what, Index number) {
    const std::string off = number == 0 ? "" : (number > 0 ? "+" : "-") + std::to_string(std::abs(number));
    return what + "(j" + off + ")";
}
std::string lane_word(const LaneSegment& s) {
    if (s.doing == LaneDoing::busy) return message(words_of_busy(s).word, awaited_tile(s));
    return numbered(s, lane_word(s.doing, s.what));
}
std::string awaited_word(Awaited a) { return message(awaited_ids[static_cast<std::size_t>(a)]); }
std::string slot_word(SlotState s) { return message(slot_ids[static_cast<std::size_t>(s)]); }
std::string turn_word(const LaneView& view, const LaneView::Baton& baton) {
    return view.batons().size() == 1 ? message("lanes.turn")
                                     : message("lanes.turn_at", lane_word(LaneDoing::product, baton.product));
}

std::string lane_clause(const LaneView& view, std::uint32_t lane, double cycle) {
    const std::string& name = view.name_of(lane);
    const LaneSegment* const s = view.own_at(lane, cycle);
    if (!s) return message(view.is_done(lane, cycle) ? "lane.is_done" : "lane.goes_on", name);
    const std::string until = at_cycle(s->to);
    if (s->doing == LaneDoing::wait) return of_wait(view, name, *s, cycle);
    if (s->doing == LaneDoing::work) return message("lane.computes", name, lane_word(*s), until);
    return message(words_of_busy(*s).clause, name, until, awaited_tile(*s));
}

std::string lane_sentence(const LaneView& view, double cycle) {
    if (view.groups().empty()) return "";
    const auto most =
        std::max_element(view.groups().begin(), view.groups().end(), [&](std::uint32_t a, std::uint32_t b) {
            return rank_of(view.own_at(a, cycle)) < rank_of(view.own_at(b, cycle));
        });
    return message("lane.at", at_cycle(cycle), lane_clause(view, *most, cycle));
}

std::vector<std::string> lane_sentences(const LaneView& view, double cycle) {
    std::vector<std::string> all;
    for (const LaneRow& r : view.rows()) {
        if (r.kind == LaneRow::Kind::loads || r.kind == LaneRow::Kind::warpgroup)
            all.push_back(message("lane.sentence", text::capitalised(lane_clause(view, r.lane, cycle))));
        if (r.kind != LaneRow::Kind::tensor_cores) continue;
        const LaneSegment* const p = view.product_at(cycle);
        all.push_back(p ? message("lane.tensor_cores_compute", lane_word(*p), view.name_of(p->lane), at_cycle(p->to))
                        : message("lane.tensor_cores_idle"));
    }
    for (const LaneView::Baton& baton : view.batons())
        if (const LaneView::Turn* turn = baton.at(cycle))
            all.push_back(
                message("lane.has_turn", view.name_of(turn->lane), turn_word(view, baton), at_cycle(turn->at)));
    if (!view.slots().empty()) all.push_back(message("lane.slots", of_slots(view, cycle)));
    return all;
}

double telling_cycle(const LaneView& view) {
    const LaneSegment* most = nullptr;
    for (const LaneSegment& s : view.segments()) {
        if (s.doing != LaneDoing::wait || view.group_of(s.lane) < 0 || s.from < 0 || s.to > view.cycles()) continue;
        const auto rank = [](const LaneSegment& w) { return w.awaited == Awaited::turn ? 1 : 0; };
        const auto better = [&] {
            return rank(s) != rank(*most) ? rank(s) > rank(*most) : s.cycles() > most->cycles();
        };
        if (!most || better()) most = &s;
    }
    return most ? std::round((most->from + most->to) / 2) : 0;
}

std::string share_word(double share) { return text::percent(share); }

std::string why_longer(const LanePart& p) {
    constexpr double by = 1.01;
    if (p.cycles <= by * p.alone) return "";
    if (p.doing == LaneDoing::work) return message("lane.longer_beside");
    return message("lane.longer_stolen");
}

namespace {

/// The longest wait of a warpgroup for data in a step, if it is a large share of the step.
std::string ring_finding(const LaneView& view) {
    constexpr double much = 0.15;
    const LaneTimes* most = nullptr;
    const std::vector<LaneTimes> all = view.times();
    for (const LaneTimes& t : all)
        if (view.group_of(t.lane) >= 0 && (!most || t.of(Awaited::load) > most->of(Awaited::load))) most = &t;
    if (!most || most->of(Awaited::load) < much * view.step()) return "";
    return message("lane.bound_ring", view.name_of(most->lane), text::percent(most->of(Awaited::load) / view.step()));
}

}  // namespace

std::string lane_finding(const LaneView& view) {
    constexpr double full = 0.9, nearly = 0.78;
    const LaneShares s = view.shares();
    const std::string tensor = text::percent(s.tensor_cores), cuda = text::percent(s.cuda_cores);
    std::string bound = ring_finding(view);
    if (bound.empty())
        bound = message(s.cuda_cores >= full && s.tensor_cores >= nearly ? "lane.bound_both"
                        : s.cuda_cores >= full                           ? "lane.bound_softmax"
                        : s.tensor_cores >= full                         ? "lane.bound_products"
                                                                         : "lane.bound_waits",
                        tensor, cuda);
    return bound;
}

}  // namespace tilescope::show
