#include "show/stage/wall_text.hpp"

#include <algorithm>
#include <cmath>

#include "core/text/message.hpp"
#include "core/text/numbers.hpp"
#include "core/text/words.hpp"
#include "show/run/heads.hpp"
#include "show/stage/parts_text.hpp"
#include "show/stage/wall_headline.hpp"

namespace tilescope::show {
using text::message;
namespace {

/// "64–127".
std::string numbers_text(Span s) {
    return text::grouped(s.begin) + (s.size == 1 ? "" : "–" + text::grouped(s.end() - 1));
}

/// The queries of a row of tiles; of packed heads, also whose queries they are.
std::string queries_text(const Run& run, const Wall& wall, Index i) {
    const Problem& p = run.recorded();
    const Span rows = wall.row(i), queries = p.queries(rows);
    if (p.packed == 1) return message("wall.queries", queries.size, numbers_text(queries));
    return message("wall.queries_of", queries.size, numbers_text(queries),
                   rows.size == 1 ? packed_head_name(p, wall.head(), rows.begin) : packed_heads_text(p, wall.head()));
}

/// "4", or "4–6" of several tiles, counted from 1.
std::string tiles_text(Span s) { return numbers_text({s.begin + 1, s.size}); }

}  // namespace

std::string of_text(Index n) { return message("wall.of", n); }

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
    const Tiling t = run.experiment().tiling;
    const Problem& p = run.recorded();
    return message("wall.too_many_tiles", ceil_div(p.seq_q, t.br), ceil_div(p.seq_k, t.bc));
}

std::vector<std::string> skipped_text(const Wall& wall) {
    const Index skipped = wall.skipped_tiles(), all = wall.rows() * wall.cols();
    if (skipped == 0) return {};
    const std::string share = text::percent(static_cast<double>(skipped) / static_cast<double>(all));
    return {message("wall.skipped_why", skipped, all, share), message("wall.skipped_share", skipped, all, share),
            message("wall.skipped_tiles", skipped, all), message("wall.skipped_of", skipped, all),
            message("wall.skipped", skipped)};
}

Overhang overhang(const Wall& wall, const Run& run) {
    const auto said = [](Index there, Index tile, const char* whole, const char* brief) -> std::vector<std::string> {
        const Index none = tile - there;
        return {message(whole, none, tile), message(brief, none, tile), message("wall.empty_of", none, tile),
                message("wall.some_of", none, tile), text::grouped(none)};
    };
    const Span row = wall.row(wall.rows() - 1), col = wall.col(wall.cols() - 1);
    const Problem& p = run.recorded();
    const bool to_scale = wall.rows_drawn() == wall.tile_rows();
    return {said(p.seq_q - row.begin, wall.tile_rows(),
                 to_scale ? "wall.no_such_rows" : "wall.no_such_rows_not_to_scale", "wall.no_such_rows_briefly"),
            said(p.seq_k - col.begin, wall.tile_cols(), "wall.no_such_keys", "wall.no_such_keys_briefly")};
}

std::vector<std::string> unrecorded_text(const Wall& wall) {
    return {message("wall.rows_not_shown", wall.recorded_rows() + 1, wall.rows()), message("wall.counted_not_shown"),
            message("wall.not_shown")};
}

std::vector<std::string> seen_text(const Wall& wall, Span rows, Span cols) {
    const std::string i = message("wall.some_of", tiles_text(rows), wall.rows()),
                      j = message("wall.some_of", tiles_text(cols), wall.cols());
    return {message("wall.seen", i, j), message("wall.seen_briefly", i, j), message("wall.see_all")};
}

std::vector<WallNumber> wall_numbers(const Run& run, const Wall& wall, const std::vector<Painter>& painters,
                                     Index focus) {
    const Painter* own = looked_at(painters, focus);
    const auto at_work = std::count_if(painters.begin(), painters.end(), is_at_work);
    const std::string none = "–";
    const bool company = heads_sharing(run, wall.head()).size() > 1;
    const std::string head = head_name(run.recorded(), wall.head());
    const Index begun = wall.tiles_begun(run.tick());
    std::vector<std::string> i = {message("wall.i"), "i"}, j = {message("wall.j"), "j"};
    if (own)
        i.insert(i.begin(), message("wall.i_of_sm", own->sm)), j.insert(j.begin(), message("wall.j_of_sm", own->sm));
    std::vector<std::string> painted = {
        company ? message("wall.tiles_painted_of_head", head) : message("wall.tiles_painted"), message("wall.tiles")};
    if (begun > 0)
        painted.insert(painted.begin(), company ? message("wall.tiles_painted_of_head_and_begun", head, begun)
                                                : message("wall.tiles_painted_and_begun", begun));
    std::vector<WallNumber> numbers = {
        {own ? tiles_text(own->visit->rows) : none, of_text(wall.rows()), i},
        {own ? tiles_text(own->visit->cols) : none, of_text(wall.cols()), j},
        {text::grouped(wall.painted_tiles(run.tick())), of_text(wall.tiles_to_paint()), painted},
        {text::grouped(at_work),
         of_text(run.experiment().gpu.sms),
         {company ? message("wall.sms_paint_head", head) : message("wall.sms_paint_here"), message("wall.sms")}}};
    if (const auto adding = adding_up(run, wall, focus)) {
        // No SM paints any more: the numbers now count the parts that are added up.
        const Index first = adding->rows.begin / wall.tile_rows(), last = (adding->rows.end() - 1) / wall.tile_rows();
        numbers[0].number = tiles_text({first, last - first + 1});
        numbers[1] = {text::grouped(adding->parts),
                      of_text(wall.parts().count()),
                      {message("wall.parts_added_up"), message("wall.parts")}};
        numbers[3] = {text::grouped(adding->sms),
                      of_text(run.experiment().gpu.sms),
                      {company ? message("wall.sms_add_up_head", head) : message("wall.sms_add_up"),
                       message("wall.sms_add_up"), message("wall.sms")}};
    }
    if (!own) return numbers;
    const auto coats = [&](Index tick) { return wall.coats(own->visit->rows.begin, own->visit->cols.begin, tick); };
    if (const Index all = std::lround(coats(run.ticks())); all > 1)
        numbers.push_back(
            {text::tenths(coats(run.tick())), of_text(all), {message("wall.coats_there"), message("wall.coats")}});
    return numbers;
}

std::vector<std::string> head_names(const Run& run, Index head) {
    return {head_name(run.recorded(), head), text::grouped(head + 1)};
}

std::string head_text(const Run& run, const Wall& wall) {
    const std::string packed = packed_heads_text(run.recorded(), wall.head()),
                      name = head_name(run.recorded(), wall.head());
    const Index all = run.experiment().problem.batch_heads();
    return packed.empty() ? message("wall.head_of", name, all) : message("wall.head_of_packs", name, all, packed);
}

std::string about_head(const Run& run, Index head, const HeadState& s) {
    const std::string packed = packed_heads_text(run.recorded(), head), name = head_name(run.recorded(), head);
    return message("wall.blocks_of_head", packed.empty() ? name : message("wall.head_packs", name, packed), s.done,
                   s.all, s.busy) +
           "\n\n" + message("wall.click_head");
}

std::string about_wall_tile(const Run& run, const Wall& wall, Index i, Index j) {
    const Span keys = wall.col(j);
    std::vector<std::string> lines = {message("wall.tile", i + 1, j + 1, queries_text(run, wall, i),
                                              message("wall.keys", keys.size, numbers_text(keys)))};
    const auto& visits = wall.visits(i, j);
    if (wall.cover(i, j) == Cover::hidden)
        lines.push_back(message(visits.empty() ? "wall.tile_skipped" : "wall.tile_in_vain"));
    if (wall.cover(i, j) == Cover::partial) lines.push_back(message("wall.tile_masked"));
    const auto coats = [&](Index tick) { return text::tenths(wall.coats(i, j, tick)); };
    if (!visits.empty()) lines.push_back(message("wall.tile_coats", coats(run.tick()), coats(run.ticks())));
    for (const std::size_t v : visits) {
        const Visit& visit = wall.visits()[v];
        const Placement* p = run.schedule().placement_of(visit.launch, visit.block);
        const Span ticks = {visit.from, visit.to - visit.from + 1};
        lines.push_back(p ? message("wall.operations_of_sm", ticks.size, numbers_text(ticks), p->sm)
                          : message("wall.operations", ticks.size, numbers_text(ticks)));
    }
    if (!visits.empty() && !wall.recomputed().empty())
        lines.push_back(message("wall.tile_recomputed", wall.recomputed()));
    for (std::size_t s = 0; s < wall.sheets().size(); ++s)
        if (wall.stored(s, i, j, run.tick())) lines.push_back(message("wall.tile_in_hbm", wall.sheets()[s].name));
    if (!visits.empty()) lines.emplace_back(), lines.push_back(message("wall.click_tile"));
    return text::join(lines, "\n");
}

std::string about_edge_tile(const Run& run, const Wall& wall, const WallEdge& edge, Index k) {
    const Trips now = wall.trips(edge, k, run.tick()), end = wall.trips(edge, k, run.ticks());
    const RecordedTensor& t = run.trace().tensors()[edge.tensor];
    const Span rows = edge.tiles[k];
    const std::string read = trips_text(now.read), written = trips_text(now.written), all_read = trips_text(end.read),
                      all_written = trips_text(end.written);
    return message("wall.edge_tile", tile_name(edge.name, k), rows.size, numbers_text(rows), edge.name,
                   text::bytes(rows.size * t.cols * size_of(t.dtype))) +
           "\n" +
           (end.reduced > 0 ? message("wall.edge_trips_and_sums", read, written, trips_text(now.reduced), all_read,
                                      all_written, trips_text(end.reduced))
                            : message("wall.edge_trips", read, written, all_read, all_written));
}

std::string about_painter(const Painter& p) {
    std::vector<std::string> lines = {
        message("wall.painter", p.sm, p.visit->block, tiles_text(p.visit->rows), tiles_text(p.visit->cols))};
    if (p.done) lines.push_back(message("wall.painter_done"));
    lines.emplace_back();
    lines.push_back(message("wall.click_painter"));
    return text::join(lines, "\n");
}

}  // namespace tilescope::show
