#include "show/stage/wall_headline.hpp"

#include <algorithm>

#include "core/text/message.hpp"
#include "core/text/words.hpp"
#include "show/run/heads.hpp"
#include "show/stage/parts_text.hpp"
#include "show/stage/wall_text.hpp"

namespace tilescope::show {
using text::message;
namespace {

/// Whether other heads share K and V with this one, and are seen with it.
bool has_company(const Run& run, const Wall& wall) { return heads_sharing(run, wall.head()).size() > 1; }

/// A tensor that moves more often than this in a visit moves "for every tile".
constexpr double for_every_tile = 0.5;

/// The number of skipped tiles in the row or column of a visit; 0 where none lies between tiles that are not skipped.
Index tiles_past(const Wall& wall, const Visit& visit, bool down) {
    const Index all = down ? wall.rows() : wall.cols();
    Index hidden = 0, last = -1;
    bool between = false;
    for (Index k = 0; k < all; ++k) {
        if (down ? wall.skipped(k, visit.cols.begin) : wall.skipped(visit.rows.begin, k)) {
            ++hidden;
            continue;
        }
        between |= last >= 0 && k > last + 1, last = k;
    }
    return between ? hidden : 0;
}

std::string walking(const Wall& wall, const Visit& from, bool down, const std::string& who, Index painters) {
    const Index past = tiles_past(wall, from, down);
    if (past == 0) return message(down ? "wall.walks_down" : "wall.walks_right", who, painters);
    if (painters > 1) return message(down ? "wall.walk_down_past" : "wall.walk_right_past", who);
    return message(down ? "wall.walks_down_past" : "wall.walks_right_past", who, past,
                   down ? wall.rows() : wall.cols());
}

/// How a painter moves over the matrix from one visit to the next. `who` names all painters that move like this,
/// `painters` is their number.
std::string way_text(const Wall& wall, const Painter& p, const std::string& who, Index painters) {
    const auto& way = wall.way(p.visit->launch, p.visit->block);
    if (p.visit->cols.size == wall.cols() && wall.cols() > 1) return message("wall.takes_rows", who, painters);
    if (way.size() == 1) return message("wall.paints_one_tile", who, painters);
    const auto at = std::find_if(way.begin(), way.end(), [&](std::size_t v) { return &wall.visits()[v] == p.visit; });
    const Visit& to = p.next ? *p.next : *p.visit;
    const Visit& from = p.next || at == way.begin() ? *p.visit : wall.visits()[*std::prev(at)];
    if (to.rows == from.rows && to.cols.begin > from.cols.begin) return walking(wall, from, false, who, painters);
    if (to.cols == from.cols && to.rows.begin > from.rows.begin) return walking(wall, from, true, who, painters);
    if (to.rows == from.rows && to.cols == from.cols) return message("wall.stays", who, painters);
    return message(to.cols.begin > from.cols.begin ? "wall.goes_on" : "wall.goes_back", who, painters);
}

/// A tensor of a wall that may move to and from SMs. travellers() lists the tensors on the edges first.
struct Traveller {
    TensorId tensor;
    std::string name;
    Meaning meaning;
    const WallEdge* edge;  ///< nullptr: a sheet
};
std::vector<Traveller> travellers(const Wall& wall) {
    std::vector<Traveller> all;
    for (const WallEdge& e : wall.edges()) all.push_back({e.tensor, e.name, e.meaning, &e});
    for (const WallSheet& s : wall.sheets()) all.push_back({s.tensor, s.name, s.meaning, nullptr});
    return all;
}

/// The name of the tensor, with the number of its tile where all painters are at the same tile.
Phrase named(const Traveller& t, const std::vector<Painter>& at_work) {
    const auto place = [&](const Painter& p) { return t.edge->by_row() ? p.visit->rows : p.visit->cols; };
    const bool one = t.edge && std::all_of(at_work.begin(), at_work.end(), [&](const Painter& p) {
                         return place(p).size == 1 && place(p) == place(at_work[0]);
                     });
    return {one ? tile_name(t.name, place(at_work[0]).begin) : t.name, t.meaning};
}

bool on_chip(const Run& run, const Wall& wall, const std::vector<Painter>& painters, const WallEdge& edge) {
    const std::vector<bool> lit = held(run, wall, painters, edge);
    return std::find(lit.begin(), lit.end(), true) != lit.end();
}

std::vector<Painter> those_at_work(const std::vector<Painter>& painters) {
    std::vector<Painter> at_work;
    for (const Painter& p : painters)
        if (is_at_work(p)) at_work.push_back(p);
    return at_work;
}

/// "Q₂ comes for every tile, O₂ comes and goes back, K₄ and V₄ stay on chip": in the current loop.
Sentence habits(const Run& run, const Wall& wall, const std::vector<Painter>& painters,
                const std::vector<Painter>& at_work) {
    const Visit& visit = *at_work[0].visit;
    std::vector<Phrase> come, come_and_go, go, added, stay;
    for (const Traveller& t : travellers(wall)) {
        const Trips trips = wall.trips_a_visit(visit, t.tensor);
        const bool comes = trips.read > for_every_tile, goes = trips.written > for_every_tile;
        // A statistic that is an output (LSE) is made at the end: until then no painter holds it.
        const bool made_at_end =
            t.meaning == Meaning::statistic && run.trace().tensors()[t.tensor].role == Role::output;
        const bool adds = trips.reduced > for_every_tile;
        if (!comes && !goes && !adds && (!t.edge || made_at_end || !on_chip(run, wall, painters, *t.edge))) continue;
        (comes && goes ? come_and_go : comes ? come : goes ? go : adds ? added : stay).push_back(named(t, at_work));
    }
    const bool many_visits = visit.loop >= 0;
    Sentence all;
    const auto add = [&](const char* habit, const std::vector<Phrase>& names) {
        if (names.empty()) return;
        const Sentence said = sentence(habit, listed(names), names.size());
        all = all.empty() ? said : sentence("list.more", all, said);
    };
    add(many_visits ? "wall.comes_for_every_tile" : "wall.comes", come);
    add("wall.comes_and_goes_back", come_and_go);
    add("wall.goes_to_hbm", go);
    add("wall.is_added_to", added);
    if (many_visits) add("wall.stays_on_chip", stay);
    return all;
}

std::string sheet_names(const Wall& wall) {
    std::vector<std::string> names;
    for (const WallSheet& s : wall.sheets()) names.push_back(s.name);
    return text::listed(names);
}

bool ended(const Run& run) { return run.tick() == run.ticks(); }

/// "36 tiles painted"; where a mask skips tiles, also the number of all tiles, and the most in a row: "21 of 64 tiles
/// painted, at most 3 in a row".
std::string painted_text(const Run& run, const Wall& wall) {
    const Index painted = wall.painted_tiles(run.tick()), all = wall.rows() * wall.cols();
    if (wall.skipped_tiles() == 0) return message("wall.painted", painted);
    Index most = 0;
    for (Index i = 0; i < wall.rows(); ++i) {
        Index visited = 0;
        for (Index j = 0; j < wall.cols(); ++j) visited += wall.visits(i, j).empty() ? 0 : 1;
        most = std::max(most, visited);
    }
    if (most == wall.cols()) return message("wall.painted_of", painted, all);
    return message("wall.painted_of_at_most", painted, all, most);
}

Sentence done_headline(const Run& run, const Wall& wall) {
    const std::string painted = painted_text(run, wall);
    const Phrase scores = {message("wall.scores"), Meaning::score}, sheets = {sheet_names(wall), Meaning::score},
                 anew = {wall.recomputed(), Meaning::score};
    const std::size_t n = wall.sheets().size();
    if (anew.text.empty())
        return n == 0 ? sentence("wall.done", painted, scores) : sentence("wall.done_in_hbm", painted, sheets, n);
    return n == 0 ? sentence("wall.done_recomputed", painted, anew, scores)
                  : sentence("wall.done_recomputed_in_hbm", painted, anew, sheets, n);
}

Sentence idle_headline(const Run& run, const Wall& wall) {
    if (run.tick() == 0)
        return sentence("wall.before", wall.rows(), wall.cols(), Phrase{message("wall.scores"), Meaning::score});
    if (ended(run) && !run.has_whole_heads()) return sentence("wall.part_is_done", wall.painted_tiles(run.tick()));
    if (ended(run)) return done_headline(run, wall);
    const bool launch = run.trace()[run.schedule().steps_after(run.tick() - 1)].kind() == Kind::launch;
    if (launch) return sentence("wall.launches", run.moment().kernel);
    if (run.recorded().batch_heads() == 1) return sentence("wall.nobody");
    return sentence("wall.nobody_on_head", head_name(run.recorded(), wall.head()));
}

/// Whether the scores of an earlier pass were kept in HBM for this pass, or are recomputed.
std::vector<std::string> scores_reasons(const Run& run, const Wall& wall) {
    if (!run.algorithm().computes->saved) return {};
    if (const std::string& anew = wall.recomputed(); !anew.empty())
        return {message(wall.sheets().empty() ? "wall.recomputed_never_in_hbm" : "wall.recomputed", anew)};
    std::vector<std::string> said;
    for (const WallSheet& s : wall.sheets())
        if (run.trace().tensors()[s.tensor].role == Role::input) said.push_back(message("wall.kept", s.name));
    return said;
}

/// "4 painters". Where several heads stand below each other, the text begins with the head of the SM in focus.
std::string who_paints(const Run& run, const Wall& wall, Index painters) {
    if (!has_company(run, wall))
        return painters == 1 ? message("wall.one_painter") : message("wall.painters", painters);
    const std::string head = text::capitalised(head_name(run.recorded(), wall.head()));
    return painters == 1 ? message("wall.one_painter_of_head", head) : message("wall.painters_of_head", head, painters);
}

/// "4 painters walk right and recompute P".
Sentence painting(const Run& run, const Wall& wall, const std::vector<Painter>& at_work, const Painter& own) {
    const auto n = static_cast<Index>(at_work.size());
    const std::string way = way_text(wall, own, who_paints(run, wall, n), n);
    const std::string& anew = wall.recomputed(own.visit->launch);
    if (anew.empty()) return {{way}};
    return sentence("wall.and_recomputes", way, n, Phrase{anew, Meaning::score});
}

}  // namespace

bool is_at_work(const Painter& p) { return !p.done && !p.between; }

Sentence wall_headline(const Run& run, const Wall& wall, const std::vector<Painter>& painters, Index focus) {
    const std::vector<Painter> at_work = those_at_work(painters);
    Sentence said = parts_headline(run, wall, painters, focus);
    if (said.empty() && at_work.empty()) {
        const auto between =
            std::count_if(painters.begin(), painters.end(), [](const Painter& p) { return p.between; });
        if (between == 1) return sentence("wall.one_between");
        return between > 1 ? sentence("wall.between", between) : idle_headline(run, wall);
    }
    if (said.empty()) said = painting(run, wall, at_work, *looked_at(at_work, focus));
    const Sentence what = at_work.empty() ? Sentence() : habits(run, wall, painters, at_work);
    return what.empty() ? sentence("wall.sentence", said) : sentence("wall.sentence_and_habits", said, what);
}

std::string wall_reason(const Run& run, const Wall& wall) {
    // Tensors, grouped by how often a tile moves, in the order of the edges.
    std::vector<std::pair<double, std::vector<std::string>>> read, written, added;
    std::vector<std::string> both;
    const auto add = [](auto& to, const std::string& name, double n) {
        if (n == 0) return;
        auto same = std::find_if(to.begin(), to.end(), [&](const auto& group) { return group.first == n; });
        if (same == to.end()) same = to.insert(to.end(), {n, {}});
        same->second.push_back(name);
    };
    for (const WallEdge& e : wall.edges()) {
        const Trips most = wall.most_trips(e);
        if (most.read > 0 && most.written > 0) both.push_back(e.name);
        if (e.side == WallEdge::Side::between) continue;
        add(read, e.name, most.read), add(written, e.name, most.written), add(added, e.name, most.reduced);
    }
    const auto told = [](const auto& groups) {
        std::vector<std::string> all;
        for (const auto& [n, names] : groups)
            all.push_back(n == 1 ? message("wall.once", text::listed(names))
                                 : message("wall.up_to_times", text::listed(names), trips_text(n)));
        return text::join(all, ", ");
    };
    std::vector<std::string> said = scores_reasons(run, wall);
    const auto add_if = [&](const std::string& s) {
        if (!s.empty()) said.push_back(s);
    };
    add_if(parts_reason(run, wall));
    add_if(packed_reason(run, wall));
    const bool whole = run.has_whole_heads();
    if (written.empty() && !read.empty())
        said.push_back(message(whole ? "wall.read" : "wall.read_of_shown", told(read)));
    if (!written.empty() && read.empty())
        said.push_back(added.empty() ? message("wall.written", told(written))
                                     : message("wall.written_and_added", told(written), told(added)));
    if (!written.empty() && !read.empty())
        said.push_back(
            added.empty()
                ? message(whole ? "wall.read_and_written" : "wall.read_and_written_of_shown", told(read), told(written))
                : message(whole ? "wall.read_written_and_added" : "wall.read_written_and_added_of_shown", told(read),
                          told(written), told(added)));
    if (!both.empty()) said.push_back(message("wall.reads_and_writes", text::listed(both)));
    if (run.recorded().kv_heads < run.recorded().heads)
        said.push_back(message("wall.trips_for_heads", run.recorded().heads / run.recorded().kv_heads));
    return text::sentences(said);
}

std::vector<std::string> scores_on_chip(const Run& run, const Wall& wall, const Painter& p) {
    if (!run.algorithm().computes->saved) return {};
    const std::string& anew = wall.recomputed(p.visit->launch);
    std::vector<std::string> names, with_origins;
    for (const SmState& sm : run.moment().sms)
        for (const TileState& t : sm.tiles) {
            if (sm.sm != p.sm || run.trace().tiles()[t.tile].meaning != Meaning::score) continue;
            const std::string& name = run.contents().after(t.written);
            const bool loaded = run.trace()[t.written].kind() == Kind::load;
            names.push_back(name);
            with_origins.push_back(loaded         ? message("wall.scores_read", name)
                                   : name == anew ? message("wall.scores_recomputed", name)
                                                  : name);
        }
    if (names.empty()) return {};
    return {text::join(with_origins, ", "), text::join(names, ", ")};
}

}  // namespace tilescope::show
