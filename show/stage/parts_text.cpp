#include "show/stage/parts_text.hpp"

#include <algorithm>

#include "core/text/numbers.hpp"
#include "core/text/words.hpp"
#include "show/run/heads.hpp"
#include "show/stage/wall_text.hpp"
#include "show/words/value_text.hpp"

namespace tilescope::show {
namespace {

std::string number(Index part) { return text::grouped(part + 1); }

/// "4 parts of the keys", "2 of 4 parts of the keys", "the whole of the keys".
std::string parts_text(Index some, Index all) {
    if (all == 1) return "One part of the keys";
    return (some == all ? "" : text::grouped(some) + " of ") + text::grouped(all) + " parts of the keys";
}

/// Names of tensors and tiles, in their hues.
void add_listed(Sentence& to, const std::vector<PartCell>& cells) {
    for (std::size_t k = 0; k < cells.size(); ++k) {
        if (k > 0) to.push_back({k + 1 == cells.size() ? " and " : ", "});
        to.push_back({cells[k].name, cells[k].meaning});
    }
}

/// O_s and LSE_s, statistics last.
std::vector<PartCell> in_hbm(const Run& run, const Parts& parts) {
    std::vector<PartCell> all;
    const auto& tensors = run.trace().tensors();
    for (TensorId id = 0; id < tensors.size(); ++id)
        if (parts.is_partial(id)) all.push_back({.name = tensors[id].name, .meaning = tensors[id].meaning});
    return all;
}

/// "KV head 1: " where there are several.
std::string whose(const Run& run, const Wall& wall) {
    return run.recorded().batch_heads() == 1 ? "" : text::capitalised(head_name(run.recorded(), wall.head())) + ": ";
}

Sentence before(const Wall& wall) {
    return {{text::grouped(wall.rows()) + " × " + text::grouped(wall.cols()) + " tiles of "},
            {"scores", Meaning::score},
            {" in " + text::counted(wall.parts().with_keys(), "part") + " of the keys, nobody at work yet."}};
}

Sentence done(const Wall& wall) {
    const Parts& p = wall.parts();
    Sentence s{{"Done: " + text::counted(p.with_keys(), "part") + " of the keys"}};
    if (p.merge() >= 0) s.push_back({", added up by launch " + text::grouped(p.merge() + 1)});
    s.push_back({"; no "}), s.push_back({"scores", Meaning::score}), s.push_back({" ever in HBM."});
    return s;
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
        const auto n = static_cast<Index>(at.size());
        Sentence s{{whose(run, wall) +
                    (n == 1 && parts.count() > 1
                         ? "Part " + number(*at.begin()) + ' ' + of_text(parts.count()) + " of the keys is read"
                         : parts_text(n, parts.with_keys()) + (n == 1 ? " is read" : " are read side by side"))}};
        if (rows.size() > 1) s[0].text += " for " + text::grouped(static_cast<Index>(rows.size())) + " row blocks";
        if (own.empty()) return s;
        s.push_back({n == 1 && rows.size() == 1 ? ", with its own " : ", each with its own "});
        add_listed(s, own);
        return s;
    }
    Index written = 0;
    for (const Partial& p : parts.partials()) written += parts.happened(p.output_stored, run.tick());
    if (written == 0) return {};
    Sentence s{{whose(run, wall) + "What parts found goes to HBM: "}};
    add_listed(s, in_hbm(run, parts));
    s.push_back({" of " + text::grouped(written) + ' ' + of_text(static_cast<Index>(parts.partials().size())) +
                 (wall.rows() > 1 ? " (parts of row blocks) are there" : " are there")});
    return s;
}

/// " of row 5"; with packed heads the head that the row belongs to; nothing where there is one row.
std::string of_row(const Run& run, const Wall& wall, Index row) {
    const Problem& p = run.recorded();
    if (p.seq_q == 1) return "";
    if (p.packed == 1) return " of row " + text::grouped(row);
    return " of " + packed_head_name(p, wall.head(), row);
}

Sentence merging(const Run& run, const Wall& wall, Span rows, Index tick) {
    constexpr std::size_t most_terms = 4;
    const Parts& parts = wall.parts();
    std::vector<std::pair<Index, std::optional<float>>> added;
    for (const Partial& p : parts.partials()) {
        const Addition* a = parts.addition(p, rows.begin);
        if (a && parts.happened(a->added, tick)) added.emplace_back(p.part, parts.weight(p, rows.begin, tick));
    }
    Sentence s{{whose(run, wall)}};
    const std::vector<PartCell> partial = in_hbm(run, parts);
    if (added.empty()) {
        s.push_back({(s[0].text.empty() ? "Launch " : "launch ") + text::grouped(parts.merge() + 1) + " reads "});
        add_listed(s, partial);
        s.push_back({" of " + text::counted(parts.count(), "part") + ", to add them up"});
        return s;
    }
    std::sort(added.begin(), added.end());
    s.push_back({text::grouped(static_cast<Index>(added.size())) + ' ' + of_text(parts.count()) + " parts " +
                 (added.size() == 1 ? "is" : "are") + " added up"});
    if (!added.back().second) return s;
    const bool all = added.size() <= most_terms;
    s.push_back({all ? ": " : "; part " + number(added.back().first) + " weighs " + value_text(*added.back().second)});
    if (all) {
        s.push_back({output_name(run), Meaning::output});
        s.push_back({of_row(run, wall, rows.begin) + " = "});
        for (std::size_t k = 0; k < added.size(); ++k)
            s.push_back({(k > 0 ? " + " : "") + value_text(*added[k].second) + " × part " + number(added[k].first)});
    } else {
        s.push_back({of_row(run, wall, rows.begin)});
    }
    return s;
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
    const std::string n = number(part);
    return {"part " + n + ' ' + of_text(parts.count()), "part " + n, n};
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
    std::string said = text::listed(names) + " of " + text::counted(parts.count(), "part") + ": " +
                       text::bytes(moved.write) + " written, " + text::bytes(moved.read) + " read again.";
    if (parts.with_keys() < parts.count())
        said += ' ' + text::counted(parts.count() - parts.with_keys(), "part") + " of them without keys.";
    const Problem& p = run.recorded();
    if (run.has_values() && wall.tile_rows() > 1 && p.seq_q > 1)
        said += " Numbers in a band are those of " +
                (p.packed > 1 ? packed_head_name(p, wall.head(), 0) : std::string("a tile's first row")) + ".";
    return said + ' ';
}

std::string packed_reason(const Run& run, const Wall& wall) {
    const std::string heads = packed_heads_text(run.recorded(), wall.head());
    if (heads.empty()) return "";
    return text::capitalised(heads) + " are rows of the same tiles, so that K and V are read once for all. ";
}

std::string about_partial(const Run& run, const Wall& wall, const Partial& p) {
    const Parts& parts = wall.parts();
    const Span keys = parts.keys(p.part);
    std::string said = part_names(parts, p.part)[0];
    if (keys.size > 0) said += ": keys " + text::grouped(keys.begin) + "–" + text::grouped(keys.end() - 1);
    if (p.empty) said += "\nno query of these rows sees a key of it";
    std::vector<std::string> there;
    for (const PartCell& c : part_cells(run, parts, p, p.rows.begin)) there.push_back(cell_texts(c)[0]);
    if (!there.empty()) said += "\n" + text::listed(there);
    if (wall.tile_rows() > 1 && p.rows.size > 1 && !there.empty()) said += ',' + of_row(run, wall, p.rows.begin);
    if (const double added = parts.added_share(p, run.tick()); added > 0)
        said += added == 1 ? "\nadded up" : "\nadded up for " + text::percent(added) + " of its rows";
    if (const Placement* at = run.schedule().placement_of(parts.launch(), p.block))
        said += "\n\nSM " + text::grouped(at->sm) + ", thread block " + text::grouped(p.block);
    return said;
}

}  // namespace tilescope::show
