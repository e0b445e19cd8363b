#include "show/stage/wall_headline.hpp"

#include <algorithm>

#include "core/text/numbers.hpp"
#include "core/text/words.hpp"
#include "show/run/heads.hpp"
#include "show/stage/parts_text.hpp"
#include "show/stage/wall_text.hpp"

namespace tilescope::show {
namespace {

/// Whether other heads share K and V with this one, and are seen with it.
bool has_company(const Run& run, const Wall& wall) { return heads_sharing(run, wall.head()).size() > 1; }

/// A tensor that moves more often than this in a visit moves "for every tile".
constexpr double for_every_tile = 0.5;

/// "once", "8 times", "2.5 times".
std::string times_text(double n) { return n == 1 ? "once" : trips_text(n) + " times"; }

void add_listed(Sentence& to, const std::vector<Phrase>& names) {
    for (std::size_t k = 0; k < names.size(); ++k) {
        if (k > 0) to.push_back({k + 1 == names.size() ? " and " : ", "});
        to.push_back(names[k]);
    }
}

/// ", past 4 hatched tiles of 8": skipped tiles of the row or column, where some lie between the others.
std::string past_text(const Wall& wall, const Visit& visit, bool down, bool many) {
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
    if (!between) return "";
    return many ? ", past hatched tiles" : ", past " + text::counted(hidden, "hatched tile") + ' ' + of_text(all);
}

/// How a painter moves over the matrix from one visit to the next.
std::string way_text(const Wall& wall, const Painter& p, bool many) {
    const std::string s = many ? "" : "s";
    const auto& way = wall.way(p.visit->launch, p.visit->block);
    if (p.visit->cols.size == wall.cols() && wall.cols() > 1) return " take" + s + " whole rows of tiles";
    if (way.size() == 1) return " paint" + s + (many ? " one tile each" : " one tile");
    const auto at = std::find_if(way.begin(), way.end(), [&](std::size_t v) { return &wall.visits()[v] == p.visit; });
    const Visit& to = p.next ? *p.next : *p.visit;
    const Visit& from = p.next || at == way.begin() ? *p.visit : wall.visits()[*std::prev(at)];
    if (to.rows == from.rows && to.cols.begin > from.cols.begin)
        return " walk" + s + " right" + past_text(wall, from, false, many);
    if (to.cols == from.cols && to.rows.begin > from.rows.begin)
        return " walk" + s + " down" + past_text(wall, from, true, many);
    if (to.rows == from.rows && to.cols == from.cols) return " stay" + s + " at " + (many ? "their tiles" : "its tile");
    if (to.cols.begin > from.cols.begin) return " go" + std::string(many ? "" : "es") + " on to the next column";
    return " go" + std::string(many ? "" : "es") + " back to the first column";
}

/// A tensor of a wall that may move to and from SMs. travellers() has those on the edges first.
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

/// "; Q₂ comes for every tile, O₂ comes and goes back, K₄ and V₄ stay on chip": in the current loop.
void add_habits(Sentence& to, const Run& run, const Wall& wall, const std::vector<Painter>& painters) {
    const std::vector<Painter> at_work = those_at_work(painters);
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
    const char* separator = "; ";
    const auto add = [&](const std::vector<Phrase>& names, const std::string& one, const std::string& many) {
        if (names.empty()) return;
        to.push_back({separator});
        add_listed(to, names);
        to.push_back({names.size() == 1 ? one : many});
        separator = ", ";
    };
    const std::string each = many_visits ? " for every tile" : "";
    add(come, " comes" + each, " come" + each);
    add(come_and_go, " comes and goes back", " come and go back");
    add(go, " goes to HBM", " go to HBM");
    add(added, " is added to in HBM", " are added to in HBM");
    if (many_visits) add(stay, " stays on chip", " stay on chip");
}

std::string sheet_names(const Wall& wall) {
    std::vector<std::string> names;
    for (const WallSheet& s : wall.sheets()) names.push_back(s.name);
    return text::listed(names);
}

bool ended(const Run& run) { return run.tick() == run.ticks(); }

/// "36 tiles painted"; where a mask skips tiles, also of how many, and how many a row has: "21 of 64 tiles painted, at
/// most 3 in a row".
std::string painted_text(const Run& run, const Wall& wall) {
    const std::string painted = text::grouped(wall.painted_tiles(run.tick()));
    if (wall.skipped_tiles() == 0) return painted + " tiles painted";
    Index most = 0;
    for (Index i = 0; i < wall.rows(); ++i) {
        Index visited = 0;
        for (Index j = 0; j < wall.cols(); ++j) visited += wall.visits(i, j).empty() ? 0 : 1;
        most = std::max(most, visited);
    }
    return painted + ' ' + of_text(wall.rows() * wall.cols()) + " tiles painted" +
           (most < wall.cols() ? ", at most " + text::grouped(most) + " in a row" : "");
}

Sentence idle_headline(const Run& run, const Wall& wall) {
    if (run.tick() == 0)
        return {{text::grouped(wall.rows()) + " × " + text::grouped(wall.cols()) + " tiles of "},
                {"scores", Meaning::score},
                {", nobody at work yet."}};
    if (ended(run) && !run.has_whole_heads())
        return {
            {"The part that is shown is done: " + text::grouped(wall.painted_tiles(run.tick())) + " tiles painted."}};
    if (ended(run)) {
        Sentence s{{"Done: " + painted_text(run, wall)}};
        if (!wall.recomputed().empty())
            s.push_back({", each with its "}), s.push_back({wall.recomputed(), Meaning::score}),
                s.push_back({" recomputed"});
        if (wall.sheets().empty())
            return s.push_back({", and no "}), s.push_back({"scores", Meaning::score}), s.push_back({" ever in HBM."}),
                   s;
        s.push_back({"; " + sheet_names(wall), Meaning::score});
        s.push_back({wall.sheets().size() == 1 ? " lies in HBM." : " lie in HBM."});
        return s;
    }
    const std::string& kernel = run.moment().kernel;
    const bool launch = run.trace()[run.schedule().steps_after(run.tick() - 1)].kind() == Kind::launch;
    if (launch) return {{"The host launches " + kernel + "."}};
    if (run.recorded().batch_heads() == 1) return {{"Nobody is at work now."}};
    return {{"Nobody works on " + head_name(run.recorded(), wall.head()) + " now."}};
}

/// Whether the scores of an earlier pass were kept in HBM for this pass, or are recomputed.
std::string scores_reason(const Run& run, const Wall& wall) {
    if (!run.algorithm().computes->saved) return "";
    if (const std::string anew = wall.recomputed(); !anew.empty())
        return anew + " is recomputed tile by tile" + (wall.sheets().empty() ? ", never in HBM. " : ". ");
    std::string said;
    for (const WallSheet& s : wall.sheets())
        if (run.trace().tensors()[s.tensor].role == Role::input)
            said += s.name + " was kept in HBM by the forward pass, and is read. ";
    return said;
}

}  // namespace

bool is_at_work(const Painter& p) { return !p.done && !p.between; }

Sentence wall_headline(const Run& run, const Wall& wall, const std::vector<Painter>& painters, Index focus) {
    const std::vector<Painter> at_work = those_at_work(painters);
    if (Sentence s = parts_headline(run, wall, painters, focus); !s.empty()) {
        if (!at_work.empty()) add_habits(s, run, wall, painters);
        if (!s.back().text.ends_with('.')) s.push_back({"."});
        return s;
    }
    const auto between = std::count_if(painters.begin(), painters.end(), [](const Painter& p) { return p.between; });
    if (at_work.empty() && between > 0)
        return {{(between == 1 ? "One painter is" : text::grouped(between) + " painters are") +
                 " between two tiles: no scores are painted now."}};
    if (at_work.empty()) return idle_headline(run, wall);
    const bool many = at_work.size() > 1;
    // Where several heads stand below each other, the text begins with the head of the SM in focus.
    const std::string whose =
        has_company(run, wall) ? text::capitalised(head_name(run.recorded(), wall.head())) + ": " : "";
    const std::string count = text::grouped(static_cast<Count>(at_work.size()));
    Sentence s{{whose +
                (many            ? count + " painters"
                 : whose.empty() ? "One painter"
                                 : "one painter") +
                way_text(wall, *looked_at(at_work, focus), many)}};
    if (const Visit& visit = *looked_at(at_work, focus)->visit; !wall.recomputed(visit.launch).empty()) {
        s.push_back({many ? " and recompute " : " and recomputes "});
        s.push_back({wall.recomputed(visit.launch), Meaning::score});
    }
    add_habits(s, run, wall, painters);
    s.push_back({"."});
    return s;
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
            all.push_back(text::listed(names) + (n == 1 ? " " : " up to ") + times_text(n));
        return text::join(all, ", ");
    };
    std::string said = scores_reason(run, wall) + parts_reason(run, wall) + packed_reason(run, wall);
    if (!read.empty())
        said += std::string("A tile is read, in ") + (run.has_whole_heads() ? "the whole run" : "what is shown") +
                ": " + told(read) + (written.empty() ? "." : "; ");
    if (!written.empty())
        said += std::string(read.empty() ? "A tile is " : "") + ("written: " + told(written)) +
                (added.empty() ? "." : "; added to (+): " + told(added) + ".");
    if (!both.empty()) said += " In a tile of " + text::listed(both) + ": reads/writes so far.";
    if (run.recorded().kv_heads < run.recorded().heads)
        said += " That counts the trips for all " + text::grouped(run.recorded().heads / run.recorded().kv_heads) +
                " heads that share K and V.";
    return said;
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
            with_origins.push_back(name + (loaded ? " read" : name == anew ? " recomputed" : ""));
        }
    if (names.empty()) return {};
    return {text::join(with_origins, ", "), text::join(names, ", ")};
}

}  // namespace tilescope::show
