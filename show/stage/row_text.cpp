#include "show/stage/row_text.hpp"

#include <algorithm>
#include <cmath>

#include "core/text/message.hpp"
#include "core/text/numbers.hpp"
#include "core/text/words.hpp"
#include "show/run/heads.hpp"
#include "show/stage/wall_text.hpp"
#include "show/words/value_text.hpp"

namespace tilescope::show {
using text::message;
namespace {

/// Whether the visit has more keys than one block.
bool is_whole_row(const Run& run, const RowVisit& v) { return v.keys.size > run.experiment().tiling.bc; }

/// "Block 2", or "The row".
std::string block_name(const Run& run, const RowVisit& v) {
    if (is_whole_row(run, v)) return message("row.whole");
    return message("row.block", std::to_string(v.keys.begin / run.experiment().tiling.bc + 1));
}

bool sees_nothing(const RowMoment& m) {
    return std::all_of(m.keys.begin(), m.keys.end(), [](const RowKey& k) {
        return k.state == RowKey::State::masked || k.state == RowKey::State::skipped;
    });
}

std::string about_overflow(const RowMoment& m) {
    const bool one = std::any_of(m.keys.begin(), m.keys.end(), [](const RowKey& k) {
        return k.state == RowKey::State::known && k.score > row_ceiling;
    });
    return message(one ? "row.score_overflows" : "row.sum_overflows");
}

bool is_first(const RowMoment& m) { return m.m_was == -INFINITY; }

/// rescales(): whether the visit scales earlier sums, so far or later. is_scaled(): whether this was done to a line.
bool rescales(const RowMoment& m) {
    return std::any_of(m.all.begin(), m.all.end(), [](const RowLine& l) { return l.scaled && l.added; });
}
bool is_scaled(const RowLine* l) { return l && l->scaled; }

std::string about_maximum(const Run& run, const RowMoment& m) {
    const std::string block = block_name(run, *m.visit), was = row_number(m.m_was), is = row_number(m.m);
    if (m.m == -INFINITY) return message("row.no_key_seen", block);
    if (is_first(m) && is_whole_row(run, *m.visit)) return message("row.becomes_m", is);
    if (is_first(m)) return message(m.in_part ? "row.first_of_part" : "row.first_seen", block, is);
    if (!(m.m > m.m_was)) return message("row.m_stays", block, is);
    if (!rescales(m)) return message("row.m_jumps", block, was, is);
    return message(is_scaled(m.sum_line) ? "row.m_jumps_and_sum_shrinks" : "row.m_jumps_and_sum_has_to_shrink", block,
                   was, is, text::percent(std::exp(static_cast<double>(m.m_was - m.m))));
}

}  // namespace

std::string row_number(float value) {
    if (!std::isfinite(value)) return value_text(value);
    const float size = std::abs(value);
    std::string text = size >= 10'000 || (size < 0.005f && size > 0) ? value_text(value) : with_decimals(value, 2);
    if (text.starts_with('-')) text.replace(0, 1, "−");
    return text;
}

std::string row_headline(const Run& run, const RowStory& story, const RowMoment& m) {
    if (!run.has_values()) return why_no_values(run);
    const std::string query = std::to_string(story.query());
    if (sees_nothing(m)) return message("row.sees_no_key", query);
    if (!m.visit) return message("row.nothing_read", query);
    if (m.overflows && std::isinf(m.sum)) return about_overflow(m);
    if (m.visit->keys.size == 0) {
        if (m.lines.empty()) return message("row.sums_made", query);
        return message(story.visit_at(run.ticks()) == m.visit ? "row.done" : "row.put_together");
    }
    if (m.m_updated) return about_maximum(run, m);
    const std::string block = block_name(run, *m.visit);
    if (m.visit->update >= 0)
        return m.has_m ? message("row.comes", block, row_number(m.m)) : message("row.comes_first", block);
    if (m.overflows) return message("row.without_maximum", block);
    if (m.visit->pass > 0 && m.has_m) return message("row.comes_again", block, row_number(m.m));
    return message("row.at_hand", block);
}

std::string row_reason(const Run& run, const RowMoment& m) {
    if (!run.has_values() || !m.visit) return "";
    if (m.overflows) return message("row.exp_in_f32");
    if (m.m_updated && !is_first(m) && m.m > m.m_was && std::isfinite(m.m))
        return message("row.why_rescale", row_number(m.m));
    return message("row.why_maximum");
}

std::string row_title(const Run& run, const RowStory& story, const RowPlace& place, const std::string& title) {
    const Problem& p = run.recorded();
    const std::string query = text::grouped(story.query() / p.packed);
    std::vector<std::string> parts = {
        message("row.of_tile", std::to_string(story.query() - place.queries.begin)),
        title.empty() ? message("row.query", query) : message("row.query_named", query, title)};
    if (p.packed > 1) parts.push_back(packed_head_name(p, story.head(), story.query()));
    if (p.packed == 1 && p.batch_heads() > 1) parts.push_back(head_name(p, story.head()));
    const Index passes = story.passes(run.ticks()), now = story.passes(run.tick());
    if (passes > 1) parts.push_back(message("row.pass", std::to_string(now), std::to_string(passes)));
    parts.push_back(message("row.executed"));
    return text::join(parts, " · ");
}

std::string row_symbol(const RowLine& l) { return l.now.size() > 1 ? l.name + "₁" : l.name; }

std::string row_formula(const RowLine& l) { return row_symbol(l) + " ← " + l.formula; }

std::string row_m(float m) { return "m = " + row_number(m); }

std::string row_axis(RowAxis axis, const RowMoment& m) {
    if (axis == RowAxis::scores) return message("row.scores");
    if (axis == RowAxis::result) return message("row.result");
    if (axis == RowAxis::weights) return message(m.overflows ? "row.weights_without_m" : "row.weights");
    const auto count = [&](auto&& is) { return std::count_if(m.keys.begin(), m.keys.end(), is); };
    const auto summed = count([](const RowKey& k) { return k.has_weight && k.in_sum; });
    const auto others = count([](const RowKey& k) { return k.has_weight && !k.in_sum && !k.now; });
    return !m.has_sum || others == 0 ? message("row.sum") : message("row.sum_of_some", summed);
}

std::string row_block(Index j) { return message("row.block_j", std::to_string(j + 1)); }

namespace {

std::string shrunk_text(const RowMoment& m) {
    if (!m.m_updated || is_first(m) || !(m.m > m.m_was) || !rescales(m)) return "";
    return message("row.shrinks", row_number(std::exp(m.m_was - m.m)));
}

}  // namespace

std::string row_shrinks(const RowMoment& m) { return is_scaled(m.sum_line) ? shrunk_text(m) : ""; }

std::string row_output(const RowMoment& m) {
    const std::string shrinks = is_scaled(m.output_line) ? shrunk_text(m) : "";
    const std::string n = std::to_string(m.output.size());
    return shrinks.empty() ? message("row.output", n) : message("row.output_shrinks", n, shrinks);
}

std::string ceiling_text() { return message("row.ceiling"); }

std::string row_more(std::size_t values) { return message("row.more", std::to_string(values)); }

std::string forget_label() { return message("row.forget"); }

std::string why_no_row(const Run& run) {
    if (!run.has_values()) return why_no_values(run);
    return RowStory::tells_of(run) ? no_wall_text(run) : message("row.other_maxima");
}

std::string forgotten_text(const Forgotten& f) {
    if (!f.possible) return message("row.nothing_to_forget");
    if (!std::isfinite(f.error)) return message("row.forgotten_no_number");
    return message("row.forgotten", text::percent(f.error));
}

}  // namespace tilescope::show
