#include "show/stage/parts_text.hpp"

#include <algorithm>

#include "core/text/message.hpp"
#include "core/text/numbers.hpp"
#include "core/text/words.hpp"
#include "show/run/heads.hpp"
#include "show/stage/wall_text.hpp"
#include "show/words/value_text.hpp"

namespace tilescope::show {
using text::message;
namespace {

Phrase scores() { return {message("wall.scores"), Meaning::score}; }

/// Names of tensors and tiles, in their hues.
Sentence names_of(const std::vector<PartCell>& cells) {
    std::vector<Phrase> names;
    for (const PartCell& c : cells) names.push_back({c.name, c.meaning});
    return listed(names);
}

/// O_s and LSE_s, statistics last.
std::vector<PartCell> in_hbm(const Run& run, const Parts& parts) {
    std::vector<PartCell> all;
    const auto& tensors = run.trace().tensors();
    for (TensorId id = 0; id < tensors.size(); ++id)
        if (parts.is_partial(id)) all.push_back({.name = tensors[id].name, .meaning = tensors[id].meaning});
    return all;
}

/// The clause; where there are several heads, it begins with the head.
Sentence of_head(const Run& run, const Wall& wall, const Sentence& clause) {
    const Problem& p = run.recorded();
    if (p.batch_heads() == 1) return clause;
    return sentence("parts.of_head", text::capitalised(head_name(p, wall.head())), clause);
}

Sentence before(const Wall& wall) {
    return sentence("parts.before", wall.rows(), wall.cols(), scores(), wall.parts().with_keys());
}

Sentence done(const Wall& wall) {
    const Parts& p = wall.parts();
    if (p.merge() < 0) return sentence("parts.done", p.with_keys(), scores());
    return sentence("parts.done_and_added", p.with_keys(), p.merge() + 1, scores());
}

/// "Part 2 of 4 of the keys is read", "4 parts of the keys are read side by side".
std::string read_text(const Parts& parts, const std::set<Index>& at) {
    const auto n = static_cast<Index>(at.size());
    if (n == 1 && parts.count() > 1) return message("parts.one_of_read", *at.begin() + 1, parts.count());
    if (parts.with_keys() == 1) return message("parts.one_read");
    return n == parts.with_keys() ? message("parts.all_read", n) : message("parts.some_read", n, parts.with_keys());
}

/// While parts are read: which parts SMs work on, or else how many are written.
Sentence reading(const Run& run, const Wall& wall, const std::vector<Painter>& painters) {
    const Parts& parts = wall.parts();
    std::set<Index> at, rows;
    std::vector<PartCell> own;
    for (const Painter& p : painters) {
        const Partial* partial = p.done ? nullptr : parts.of_block(p.visit->launch, p.visit->block);
        if (!partial) continue;
        at.insert(partial->part), rows.insert(partial->rows.begin);
        if (own.empty()) own = part_cells(run, parts, *partial, partial->rows.begin);
    }
    if (!at.empty()) {
        std::string read = read_text(parts, at);
        if (rows.size() > 1) read = message("parts.for_row_blocks", read, rows.size());
        if (own.empty()) return of_head(run, wall, {{read}});
        const bool one = at.size() == 1 && rows.size() == 1;
        return of_head(run, wall, sentence(one ? "parts.with_its_own" : "parts.with_their_own", read, names_of(own)));
    }
    Index written = 0;
    for (const Partial& p : parts.partials()) written += parts.happened(p.output_stored, run.tick());
    if (written == 0) return {};
    return of_head(run, wall,
                   sentence(wall.rows() > 1 ? "parts.written_of_row_blocks" : "parts.written",
                            names_of(in_hbm(run, parts)), written, parts.partials().size()));
}

/// "row 5"; with packed heads the head that the row belongs to; nothing where there is one row.
std::string row_name(const Run& run, const Wall& wall, Index row) {
    const Problem& p = run.recorded();
    if (p.seq_q == 1) return "";
    return p.packed == 1 ? message("parts.row", row) : packed_head_name(p, wall.head(), row);
}

Sentence merging(const Run& run, const Wall& wall, Span rows, Index tick) {
    constexpr std::size_t most_terms = 4;
    const Parts& parts = wall.parts();
    std::vector<std::pair<Index, std::optional<float>>> added;
    for (const Partial& p : parts.partials()) {
        const Addition* a = parts.addition(p, rows.begin);
        if (a && parts.happened(a->added, tick)) added.emplace_back(p.part, parts.weight(p, rows.begin, tick));
    }
    if (added.empty()) {
        const Sentence partial = names_of(in_hbm(run, parts));
        const Problem& p = run.recorded();
        if (p.batch_heads() == 1) return sentence("parts.launch_reads", parts.merge() + 1, partial, parts.count());
        return sentence("parts.launch_of_head_reads", text::capitalised(head_name(p, wall.head())), parts.merge() + 1,
                        partial, parts.count());
    }
    std::sort(added.begin(), added.end());
    const std::size_t n = added.size();
    const auto& [last, weight] = added.back();
    if (!weight) return of_head(run, wall, sentence("parts.added_up", n, parts.count()));
    const std::string row = row_name(run, wall, rows.begin);
    if (n > most_terms)
        return of_head(run, wall,
                       row.empty()
                           ? sentence("parts.weighs", n, parts.count(), last + 1, value_text(*weight))
                           : sentence("parts.weighs_in_row", n, parts.count(), last + 1, value_text(*weight), row));
    std::vector<std::string> terms;
    for (const auto& [part, w] : added) terms.push_back(message("parts.term", value_text(*w), part + 1));
    const Phrase output = {output_name(run), Meaning::output};
    const std::string sum = text::join(terms, " + ");
    return of_head(run, wall,
                   row.empty() ? sentence("parts.sum", n, parts.count(), output, sum)
                               : sentence("parts.sum_of_row", n, parts.count(), output, row, sum));
}

}  // namespace

std::optional<AddingUp> adding_up(const Run& run, const Wall& wall, Index focus) {
    const Parts& parts = wall.parts();
    std::optional<AddingUp> now;
    Index sms = 0;
    for (const SmState& sm : run.moment().sms) {
        const auto some = sm.block ? parts.rows_merged(sm.block->launch, sm.block->block) : std::nullopt;
        if (!some) continue;
        ++sms;
        // The rows of the SM in focus if it adds up, else of the first SM that does.
        if (!now || sm.sm == focus) now = AddingUp{*some};
    }
    if (!now) return now;
    now->sms = sms;
    for (const Partial& p : parts.partials()) {
        const Addition* a = parts.addition(p, now->rows.begin);
        now->parts += a && parts.happened(a->added, run.tick());
    }
    return now;
}

std::vector<std::string> part_names(const Parts& parts, Index part) {
    return {message("parts.name_of", part + 1, parts.count()), message("parts.name", part + 1),
            text::grouped(part + 1)};
}

std::vector<std::string> cell_texts(const PartCell& c) {
    if (c.value.empty()) return {c.name, ""};
    return {c.name + ' ' + c.value, c.name, ""};
}

Sentence parts_headline(const Run& run, const Wall& wall, const std::vector<Painter>& painters, Index focus) {
    const Parts& parts = wall.parts();
    if (parts.count() == 0) return {};
    if (run.tick() == 0) return before(wall);
    if (run.tick() == run.ticks()) return run.has_whole_heads() ? done(wall) : Sentence();
    if (run.moment().launch == parts.launch()) return reading(run, wall, painters);
    const std::optional<AddingUp> now = adding_up(run, wall, focus);
    return now ? merging(run, wall, now->rows, run.tick()) : Sentence();
}

std::string parts_reason(const Run& run, const Wall& wall) {
    const Parts& parts = wall.parts();
    if (parts.count() == 0) return "";
    Traffic moved;
    std::vector<std::string> names;
    for (TensorId id = 0; id < run.trace().tensors().size(); ++id) {
        if (!parts.is_partial(id)) continue;
        names.push_back(run.trace().tensors()[id].name);
        moved += run.traffic_of(id);
    }
    std::vector<std::string> said = {
        message("parts.moved", text::listed(names), parts.count(), text::bytes(moved.write), text::bytes(moved.read))};
    if (parts.with_keys() < parts.count())
        said.push_back(message("parts.without_keys", parts.count() - parts.with_keys()));
    const Problem& p = run.recorded();
    if (run.has_values() && wall.tile_rows() > 1 && p.seq_q > 1)
        said.push_back(p.packed > 1 ? message("parts.numbers_of", packed_head_name(p, wall.head(), 0))
                                    : message("parts.numbers_of_first_row"));
    return text::sentences(said);
}

std::string packed_reason(const Run& run, const Wall& wall) {
    const std::string heads = packed_heads_text(run.recorded(), wall.head());
    return heads.empty() ? "" : message("parts.packed", text::capitalised(heads));
}

std::string about_partial(const Run& run, const Wall& wall, const Partial& p) {
    const Parts& parts = wall.parts();
    const Span keys = parts.keys(p.part);
    const std::string name = part_names(parts, p.part)[0];
    std::vector<std::string> lines = {
        keys.size > 0 ? message("parts.keys", name, text::grouped(keys.begin) + "–" + text::grouped(keys.end() - 1))
                      : name};
    if (p.empty) lines.push_back(message("parts.no_key_seen"));
    std::vector<std::string> there;
    for (const PartCell& c : part_cells(run, parts, p, p.rows.begin)) there.push_back(cell_texts(c)[0]);
    const std::string values = text::listed(there), row = row_name(run, wall, p.rows.begin);
    if (!there.empty())
        lines.push_back(wall.tile_rows() > 1 && p.rows.size > 1 ? message("parts.values_of_row", values, row) : values);
    if (const double added = parts.added_share(p, run.tick()); added > 0)
        lines.push_back(added == 1 ? message("parts.row_added_up")
                                   : message("parts.rows_added_up", text::percent(added)));
    if (const Placement* at = run.schedule().placement_of(parts.launch(), p.block)) {
        lines.emplace_back();
        lines.push_back(message("parts.place", at->sm, p.block));
    }
    return text::join(lines, "\n");
}

}  // namespace tilescope::show
