#include "show/stage/wall_text.hpp"

#include <algorithm>
#include <cmath>

#include "core/text/numbers.hpp"
#include "core/text/words.hpp"
#include "show/run/heads.hpp"
#include "show/stage/parts_text.hpp"
#include "show/stage/wall_headline.hpp"

namespace tilescope::show {
namespace {

/// "queries 64–127".
std::string range_text(const std::string& what, Span s) {
    return what + ' ' + text::grouped(s.begin) + (s.size == 1 ? "" : "–" + text::grouped(s.end() - 1));
}

/// The queries of a row of tiles; of packed heads, also whose queries they are.
std::string queries_text(const Run& run, const Wall& wall, Index i) {
    const Problem& p = run.recorded();
    const Span queries = p.queries(wall.row(i));
    if (p.packed == 1) return range_text("queries", queries);
    const Span rows = wall.row(i);
    return range_text(queries.size == 1 ? "query" : "queries", queries) + " of " +
           (rows.size == 1 ? packed_head_name(p, wall.head(), rows.begin) : packed_heads_text(p, wall.head()));
}

/// "4", or "4–6" of several tiles, counted from 1.
std::string tiles_text(Span s) {
    return text::grouped(s.begin + 1) + (s.size == 1 ? "" : "–" + text::grouped(s.end()));
}

}  // namespace

std::string of_text(Index n) { return "of " + text::grouped(n); }

std::string trips_text(double n) { return n < 100 ? text::number(n) : text::grouped(std::llround(n)); }

std::string plain(const Sentence& sentence) {
    std::string all;
    for (const Phrase& p : sentence) all += p.text;
    return all;
}

std::string subscript(Index number) {
    std::string lowered;
    for (const char digit : std::to_string(number)) {
        lowered += "\xe2\x82";
        lowered += static_cast<char>(0x80 + (digit - '0'));
    }
    return lowered;
}

std::string tile_name(const std::string& tensor, Index k) { return tensor + subscript(k + 1); }

std::string times_mark(double n) { return "×" + text::tenths(n); }

std::vector<std::string> trips_marks(const Trips& trips) {
    std::vector<std::string> marks;
    if (trips.read > 0 && trips.written > 0)
        marks = {text::tenths(trips.read), "/" + text::tenths(trips.written)};
    else if (trips.read + trips.written > 0)
        marks = {times_mark(trips.read + trips.written)};
    if (trips.reduced > 0) marks.push_back("+" + text::tenths(trips.reduced));
    return marks;
}

std::string trips_mark(const Trips& trips) {
    std::string all;
    for (const std::string& mark : trips_marks(trips)) all += (mark[0] == '+' && !all.empty() ? " " : "") + mark;
    return all;
}

std::string no_wall_text(const Run& run) {
    const auto tiles = [](Index size, Index tile) { return text::grouped(ceil_div(size, tile)); };
    const Tiling t = run.experiment().tiling;
    return tiles(run.recorded().seq_q, t.br) + " × " + tiles(run.recorded().seq_k, t.bc) +
           " tiles of scores are too many to be drawn. Larger tiles are fewer; Machine and the counters have this run "
           "as it "
           "is.";
}

std::vector<std::string> skipped_text(const Wall& wall) {
    const Index skipped = wall.skipped_tiles(), all = wall.rows() * wall.cols();
    if (skipped == 0) return {};
    const std::string count = text::grouped(skipped) + " of " + text::grouped(all) + " tiles";
    const std::string share = " (" + text::percent(static_cast<double>(skipped) / static_cast<double>(all)) + ')';
    return {count + share + " skipped: no query sees their keys", count + share + " skipped", count + " skipped",
            text::grouped(skipped) + ' ' + of_text(all) + " skipped", text::grouped(skipped) + " skipped"};
}

Overhang overhang(const Wall& wall, const Run& run) {
    const auto said = [](Index there, Index tile, const std::string& what, bool to_scale) -> std::vector<std::string> {
        const std::string some = text::grouped(tile - there) + ' ' + of_text(tile);
        return {some + ' ' + what + " of these tiles do not exist" + (to_scale ? "" : "; not to scale"),
                some + ' ' + what + " do not exist", some + " empty", some, text::grouped(tile - there)};
    };
    const Span row = wall.row(wall.rows() - 1), col = wall.col(wall.cols() - 1);
    const Problem& p = run.recorded();
    return {said(p.seq_q - row.begin, wall.tile_rows(), "rows", wall.rows_drawn() == wall.tile_rows()),
            said(p.seq_k - col.begin, wall.tile_cols(), "keys", true)};
}

std::vector<std::string> unrecorded_text(const Wall& wall) {
    const std::string rows =
        "row blocks " + text::grouped(wall.recorded_rows() + 1) + " to " + text::grouped(wall.rows());
    return {rows + ": counted, not shown", "counted, not shown", "not shown"};
}

std::vector<std::string> seen_text(const Wall& wall, Span rows, Span cols) {
    const std::string i = tiles_text(rows) + " " + of_text(wall.rows()),
                      j = tiles_text(cols) + " " + of_text(wall.cols());
    return {"row blocks " + i + ", key blocks " + j + "; Z: all", "i " + i + ", j " + j + "; Z: all", "Z: all"};
}

std::vector<WallNumber> wall_numbers(const Run& run, const Wall& wall, const std::vector<Painter>& painters,
                                     Index focus) {
    const Painter* own = looked_at(painters, focus);
    const auto at_work = std::count_if(painters.begin(), painters.end(), is_at_work);
    const std::string none = "–", of_sm = own ? " of SM " + text::grouped(own->sm) : "";
    const std::string head = heads_sharing(run, wall.head()).size() > 1 ? head_name(run.recorded(), wall.head()) : "";
    const Index begun = wall.tiles_begun(run.tick());
    std::vector<std::string> painted = {"tiles painted" + (head.empty() ? "" : " of " + head), "tiles"};
    if (begun > 0) painted.insert(painted.begin(), painted[0] + ", " + text::grouped(begun) + " in work");
    std::vector<WallNumber> numbers = {
        {own ? tiles_text(own->visit->rows) : none, of_text(wall.rows()), {"row block i" + of_sm, "row block i", "i"}},
        {own ? tiles_text(own->visit->cols) : none, of_text(wall.cols()), {"key block j" + of_sm, "key block j", "j"}},
        {text::grouped(wall.painted_tiles(run.tick())), of_text(wall.tiles_to_paint()), painted},
        {text::grouped(at_work),
         of_text(run.experiment().gpu.sms),
         {"SMs paint " + (head.empty() ? "here" : head), "SMs"}}};
    if (const auto adding = adding_up(run, wall, focus)) {
        // No SM paints any more: the numbers now count the parts that are added up.
        const Index first = adding->rows.begin / wall.tile_rows(), last = (adding->rows.end() - 1) / wall.tile_rows();
        numbers[0].number = tiles_text({first, last - first + 1});
        numbers[1] = {text::grouped(adding->parts), of_text(wall.parts().count()), {"parts added up", "parts"}};
        numbers[3] = {text::grouped(adding->sms),
                      of_text(run.experiment().gpu.sms),
                      {"SMs add up" + (head.empty() ? "" : " " + head), "SMs add up", "SMs"}};
    }
    if (!own) return numbers;
    const Index i = own->visit->rows.begin, j = own->visit->cols.begin;
    const Index coats = std::lround(wall.coats(i, j, run.ticks()));
    if (coats > 1)
        numbers.push_back({text::tenths(wall.coats(i, j, run.tick())), of_text(coats), {"coats there", "coats"}});
    return numbers;
}

std::vector<std::string> head_names(const Run& run, Index head) {
    return {head_name(run.recorded(), head), text::grouped(head + 1)};
}

std::string head_text(const Run& run, const Wall& wall) {
    const std::string packed = packed_heads_text(run.recorded(), wall.head());
    return head_name(run.recorded(), wall.head()) + ' ' + of_text(run.experiment().problem.batch_heads()) +
           (packed.empty() ? "" : ": " + packed);
}

std::string about_head(const Run& run, Index head, const HeadState& s) {
    const std::string packed = packed_heads_text(run.recorded(), head);
    return head_name(run.recorded(), head) + (packed.empty() ? "" : " (" + packed + ")") + ": " +
           text::grouped(s.done) + ' ' + of_text(s.all) + " thread blocks done, " + text::grouped(s.busy) +
           " at work\n\nclick: an SM that works on it";
}

std::string about_wall_tile(const Run& run, const Wall& wall, Index i, Index j) {
    std::string said = "tile i = " + text::grouped(i + 1) + ", j = " + text::grouped(j + 1) + ": " +
                       queries_text(run, wall, i) + ", " + range_text("keys", wall.col(j));
    const auto& visits = wall.visits(i, j);
    if (wall.cover(i, j) == Cover::hidden)
        said += visits.empty() ? "\nskipped: no query sees these keys"
                               : "\nno query sees these keys: computed in vain, minus infinity and then 0";
    if (wall.cover(i, j) == Cover::partial) said += "\nmasked in part: some of the queries see some of the keys";
    const auto coats = [&](Index tick) { return text::tenths(wall.coats(i, j, tick)) + "×"; };
    if (!visits.empty()) said += "\npainted " + coats(run.tick()) + ", of " + coats(run.ticks());
    for (const std::size_t v : visits) {
        const Visit& visit = wall.visits()[v];
        const Placement* p = run.schedule().placement_of(visit.launch, visit.block);
        said += "\noperation" + std::string(visit.from == visit.to ? " " : "s ") + text::grouped(visit.from) +
                (visit.from == visit.to ? "" : "–" + text::grouped(visit.to)) +
                (p ? ": SM " + text::grouped(p->sm) : std::string());
    }
    if (!visits.empty() && !wall.recomputed().empty())
        said += "\n" + wall.recomputed() + " is recomputed here, and not stored";
    for (std::size_t s = 0; s < wall.sheets().size(); ++s)
        if (wall.stored(s, i, j, run.tick())) said += "\n" + wall.sheets()[s].name + " lies in HBM";
    return said + (visits.empty() ? "" : "\n\nclick: to the operation that paints it");
}

std::string about_edge_tile(const Run& run, const Wall& wall, const WallEdge& edge, Index k) {
    const Trips now = wall.trips(edge, k, run.tick()), end = wall.trips(edge, k, run.ticks());
    const RecordedTensor& t = run.trace().tensors()[edge.tensor];
    const Span rows = edge.tiles[k];
    const bool adds = end.reduced > 0;
    return tile_name(edge.name, k) + ": " + range_text("rows", rows) + " of " + edge.name + ", " +
           text::bytes(rows.size * t.cols * size_of(t.dtype)) + "\nread " + trips_text(now.read) + "×, written " +
           trips_text(now.written) + "×" + (adds ? ", added to " + trips_text(now.reduced) + "×" : "") +
           "; to the end " + trips_text(end.read) + "×" + (adds ? ", " : " and ") + trips_text(end.written) + "×" +
           (adds ? " and " + trips_text(end.reduced) + "×" : "");
}

std::string about_painter(const Painter& p) {
    return "SM " + text::grouped(p.sm) + ", thread block " + text::grouped(p.visit->block) + ": row block " +
           tiles_text(p.visit->rows) + ", key block " + tiles_text(p.visit->cols) +
           (p.done ? "\nhas painted all that it paints" : "") + "\n\nclick: its program and values";
}

}  // namespace tilescope::show
