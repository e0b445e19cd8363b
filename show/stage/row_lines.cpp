// What became of the row's sums in a visit, as formulas with numbers in them.
#include <algorithm>
#include <set>
#include <utility>

#include "show/stage/row.hpp"
#include "show/stage/row_text.hpp"

namespace tilescope::show {
namespace {

/// A part of a formula, in symbols and in numbers.
struct FormulaPart {
    std::string words, numbers;
};

FormulaPart operator+(const FormulaPart& a, const FormulaPart& b) { return {a.words + b.words, a.numbers + b.numbers}; }
FormulaPart same(const char* text) { return {text, text}; }
/// Puts a number that has a minus sign in brackets.
FormulaPart enclosed(FormulaPart p) {
    if (p.numbers.starts_with("−")) p.numbers = "(" + p.numbers + ")";
    return p;
}

/// Makes the lines of a visit, one operation after the other.
class Lines {
  public:
    Lines(const RowStory& story, const Run& run) : story_(story), trace_(run.trace()), contents_(run.contents()) {}

    void tell(const RowWrite& w) {
        const Event& e = trace_[w.step].event;
        const bool scores = w.form >= RowForm::scores && w.form <= RowForm::shares;
        if (!scores && e.kind() != Kind::load) write(w, e);
        for (const Operand& o : e.reads)
            if (o.tile != no_tile && !is_copy(e)) read_.insert(o.tile);
    }

    std::vector<RowLine> finish() { return std::move(lines_); }

  private:
    static bool is_copy(const Event& e) { return e.operation->effect == Effect::copy; }

    /// The tile's line so far; if the tile was read since its last write, a new line that begins with its value.
    RowLine& line_of(const RowWrite& w, const Event& e) {
        for (auto l = lines_.rbegin(); l != lines_.rend(); ++l)
            if (l->tile == e.out && !read_.contains(e.out)) return *l;
        read_.erase(e.out);
        RowLine line{};
        line.tile = e.out;
        if (w.before >= 0) {
            const auto before = story_.values(w.before, w.row);
            line.was.assign(before.begin(), before.end());
            if (made_.erase(e.out) == 0 || before[0] != 0)
                line.formula = contents_.before(w.step), line.numbers = row_number(before[0]);
        }
        line.kept = line.now = line.was;
        return lines_.emplace_back(std::move(line));
    }

    /// The operand, as the formula has it: "rowmax a", "log a", "a b", "a".
    FormulaPart operand(const RowWrite& w, const Event& e, float added) const {
        const std::string& a = contents_.operand(w.step, 0);
        if (e.kind() == Kind::product) return {"(" + a + " " + contents_.operand(w.step, 1) + ")₁", row_number(added)};
        const auto row = story_.values(w.a_step, w.a_row);
        const Effect effect = e.operation->effect;
        if (takes_row_maximum(effect)) return {"rowmax " + a, row_number(*std::max_element(row.begin(), row.end()))};
        if (sums_row(effect)) {
            float sum = 0;
            for (const float x : row) sum += x;
            return {"rowsum " + a, row_number(sum)};
        }
        if (effect == Effect::add_log) return {"log " + a, "log " + row_number(row[0])};
        return {a, row_number(row[0])};
    }

    void write(const RowWrite& w, const Event& e) {
        if (e.kind() == Kind::alloc) return void(made_.insert(e.out));
        RowLine& l = line_of(w, e);
        const auto now = story_.values(w);
        const std::vector<float> before = l.now;
        // A copy has a name of its own as soon as an operation changes it: m_old is the former m.
        const FormulaPart old = {l.copied && l.of_old ? l.name : l.formula, l.numbers};
        const bool was_sum = std::exchange(l.is_sum, false);
        l.form = w.form, l.tick = w.tick, l.step = w.step, l.name = contents_.after(w.step), l.copied = is_copy(e);
        l.of_old = contents_.is_old(w.step);
        l.now.assign(now.begin(), now.end());
        const Effect effect = e.operation->effect;
        const FormulaPart a =
            e.a() == no_tile ? FormulaPart{} : operand(w, e, now[0] - (before.empty() ? 0 : before[0]));
        const FormulaPart whole = was_sum ? same("(") + old + same(")") : enclosed(old);
        FormulaPart made;
        if (accumulates(effect)) {
            made = old.words.empty() ? a : old + same(" + ") + enclosed(a);
            l.is_sum = !old.words.empty();
            l.added = true, l.kept = before.empty() ? std::vector<float>(now.size(), 0) : before;
        } else if (effect == Effect::scale_rows) {
            made = a + same(" · ") + whole;
            l.scaled = !l.added, l.kept = l.now;
        } else if (effect == Effect::divide_rows) {
            made = whole + same(" / ") + enclosed(a);
        } else if (effect == Effect::exp_minus) {
            made = same("exp(") + old + same(" − ") + enclosed(a) + same(")");
        } else if (effect == Effect::max || effect == Effect::max_row_max) {
            made = same("max(") + old + same(", ") + a + same(")");
        } else if (is_copy(e)) {
            made = a;
            l.was = l.kept = l.now;
        } else {
            made = a;
        }
        l.formula = made.words, l.numbers = made.numbers;
    }

    const RowStory& story_;
    const Trace& trace_;
    const Contents& contents_;
    std::vector<RowLine> lines_;
    std::set<TileId> read_;  // tiles that were read since their last write
    std::set<TileId> made_;  // tiles made in this visit, and not written since
};

}  // namespace

std::vector<RowLine> RowStory::lines(const RowVisit& visit, Index tick) const {
    Lines lines(*this, run_);
    for (std::size_t k = visit.first; k < visit.last && writes_[k].tick <= tick; ++k) lines.tell(writes_[k]);
    return lines.finish();
}

}  // namespace tilescope::show
