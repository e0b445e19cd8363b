#include "show/stage/row_text.hpp"

#include <algorithm>
#include <cmath>

#include "core/text/numbers.hpp"
#include "show/run/heads.hpp"
#include "show/stage/wall_text.hpp"
#include "show/words/value_text.hpp"

namespace tilescope::show {
namespace {

constexpr const char* whole_row = "The row";

/// "Block 2", or "The row" where the visit has more keys than one block.
std::string block_name(const Run& run, const RowVisit& v) {
    const Index bc = run.experiment().tiling.bc;
    return v.keys.size > bc ? whole_row : "Block " + std::to_string(v.keys.begin / bc + 1);
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
    return one ? "A score is above 88.7: its exponential is ∞, and so is the row's sum."
               : "No score is above 88.7, but their exponentials add up to more than f32 has: the sum is ∞.";
}

bool is_first(const RowMoment& m) { return m.m_was == -INFINITY; }

/// Whether the visit scales what was summed before, so far or later. is_scaled(): whether a line has been.
bool rescales(const RowMoment& m) {
    return std::any_of(m.all.begin(), m.all.end(), [](const RowLine& l) { return l.scaled && l.added; });
}
bool is_scaled(const RowLine* l) { return l && l->scaled; }

std::string about_maximum(const std::string& block, const RowMoment& m) {
    const std::string was = row_number(m.m_was), is = row_number(m.m);
    if (m.m == -INFINITY) return block + " holds no key that this row sees: m stays −∞.";
    if (is_first(m) && block == whole_row) return "The row's largest score, " + is + ", becomes m.";
    if (is_first(m))
        return block + " is the first " + (m.in_part ? "of its part" : "that this row sees") + ". Its largest score, " +
               is + ", becomes m.";
    if (!(m.m > m.m_was))
        return block + " holds no larger score. m stays " + is + ", and nothing that was summed shrinks.";
    const std::string jump = block + " holds a larger score. m jumps from " + was + " to " + is;
    if (!rescales(m)) return jump + ".";
    return jump + ", so all that was summed before " + (is_scaled(m.sum_line) ? "shrinks to " : "has to shrink to ") +
           text::percent(std::exp(static_cast<double>(m.m_was - m.m))) + ".";
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
    const std::string query = "Query " + std::to_string(story.query());
    if (sees_nothing(m)) return query + " sees no key: its sum stays 0, and its output is 0.";
    if (!m.visit) return query + ": nothing of its row has been read yet.";
    if (m.overflows && std::isinf(m.sum)) return about_overflow(m);
    if (m.visit->keys.size == 0) {
        if (story.visit_at(run.ticks()) == m.visit && !m.lines.empty())
            return "The row is done: every key that it sees is in the sum.";
        return m.lines.empty() ? query + ": its sums are made, and nothing is in them yet."
                               : "What was summed is put together.";
    }
    const std::string block = block_name(run, *m.visit);
    if (m.m_updated) return about_maximum(block, m);
    if (m.visit->update >= 0)
        return block + (m.has_m ? " comes: is one of its scores above m = " + row_number(m.m) + "?"
                                : " comes: which score is the largest?");
    if (m.overflows) return block + ": exponentials are taken of scores as they are, without a maximum.";
    if (m.visit->pass > 0 && m.has_m) return block + " comes again: now m = " + row_number(m.m) + " is known.";
    return block + " is at hand.";
}

std::string row_reason(const Run& run, const RowMoment& m) {
    if (!run.has_values() || !m.visit) return "";
    if (m.overflows) return "f32 holds exp(x) up to x = 88.7. ∞ / ∞ is NaN, and a finite number / ∞ is 0.";
    if (m.m_updated && !is_first(m) && m.m > m.m_was && std::isfinite(m.m))
        return "Rescaling makes the earlier weights what they would have been, had " + row_number(m.m) +
               " been known from the start.";
    return "Weights are exp(S − m): the largest score so far has the weight 1, and none can overflow.";
}

std::string row_title(const Run& run, const RowStory& story, const RowPlace& place, const std::string& title) {
    const Problem& p = run.recorded();
    std::string text = "row " + std::to_string(story.query() - place.queries.begin) + " of this tile · query " +
                       text::grouped(story.query() / p.packed);
    if (!title.empty()) text += " “" + title + "”";
    if (p.packed > 1) text += " · " + packed_head_name(p, story.head(), story.query());
    if (p.packed == 1 && p.batch_heads() > 1) text += " · " + head_name(p, story.head());
    const Index passes = story.passes(run.ticks()), now = story.passes(run.tick());
    if (passes > 1) text += " · pass " + std::to_string(now) + " of " + std::to_string(passes) + " over its keys";
    return text + " · executed values";
}

std::string row_symbol(const RowLine& l) { return l.now.size() > 1 ? l.name + "₁" : l.name; }

std::string row_formula(const RowLine& l) { return row_symbol(l) + " ← " + l.formula; }

std::string row_m(float m) { return "m = " + row_number(m); }

std::string row_axis(RowAxis axis, const RowMoment& m) {
    if (axis == RowAxis::scores) return "scores S";
    if (axis == RowAxis::result) return "result";
    if (axis == RowAxis::weights) return m.overflows ? "weights exp(S)" : "weights exp(S − m)";
    const auto count = [&](auto&& is) { return std::count_if(m.keys.begin(), m.keys.end(), is); };
    const auto summed = count([](const RowKey& k) { return k.has_weight && k.in_sum; });
    const auto others = count([](const RowKey& k) { return k.has_weight && !k.in_sum && !k.now; });
    return !m.has_sum || others == 0 ? "sum of the weights" : "sum of " + text::grouped(summed) + " of the weights";
}

std::string row_block(Index j) { return "block j = " + std::to_string(j + 1); }

namespace {

std::string shrunk_text(const RowMoment& m) {
    if (!m.m_updated || is_first(m) || !(m.m > m.m_was) || !rescales(m)) return "";
    return "all before × " + row_number(std::exp(m.m_was - m.m));
}

}  // namespace

std::string row_shrinks(const RowMoment& m) { return is_scaled(m.sum_line) ? shrunk_text(m) : ""; }

std::string row_output(const RowMoment& m) {
    const std::string shrinks = is_scaled(m.output_line) ? shrunk_text(m) : "";
    return "O, its " + std::to_string(m.output.size()) + " sums" + (shrinks.empty() ? "" : ": " + shrinks);
}

std::string ceiling_text() { return "above 88.7 exp(x) is ∞ in f32"; }

std::string row_more(std::size_t values) { return "and " + std::to_string(values) + " more"; }

std::string forget_label() { return "What if we forgot to rescale?"; }

std::string why_no_row(const Run& run) { return run.has_values() ? no_wall_text(run) : why_no_values(run); }

std::string forgotten_text(const Forgotten& f) {
    if (!f.possible) return "This program never rescales a sum: there is nothing to forget.";
    if (!std::isfinite(f.error)) return "Without rescaling: no number (computed)";
    return "Without rescaling: " + text::percent(f.error) + " from the right answer (computed)";
}

}  // namespace tilescope::show
