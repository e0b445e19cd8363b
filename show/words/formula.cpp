#include "show/words/formula.hpp"

#include <algorithm>

#include "core/text/message.hpp"
#include "core/text/numbers.hpp"
#include "core/text/words.hpp"

namespace tilescope::show {
namespace {

/// Single letters stand for tiles. The first o is the result, a later o what the tile held before.
std::string filled_in(std::string_view formula, const std::string& o, const std::string& before, const std::string& a,
                      const std::string& b) {
    std::string text;
    bool made = false;
    const auto letter = [&](std::size_t k) { return k < formula.size() && formula[k] >= 'a' && formula[k] <= 'z'; };
    for (std::size_t k = 0; k < formula.size(); ++k) {
        const char c = formula[k];
        const bool alone = (k == 0 || !letter(k - 1)) && !letter(k + 1);
        if (alone && c == 'o')
            text += made ? before : o, made = true;
        else
            text += alone && c == 'a' ? a : alone && c == 'b' ? b : std::string(1, c);
    }
    return text;
}

/// "make O, l, m": a tick without an operation.
std::string housekeeping(const Run& run, const SmState& sm) {
    std::vector<std::string> made, freed;
    for (const Index k : sm.steps) {
        const Event& e = run.trace()[k].event;
        if (e.kind() == Kind::alloc) made.push_back(run.trace().tiles()[e.out].name);
        if (e.kind() == Kind::release) freed.push_back(run.trace().tiles()[e.out].name);
    }
    if (!made.empty()) return text::message("formula.make", text::join(made, ", "));
    return freed.empty() ? "" : text::message("formula.free", text::join(freed, ", "));
}

}  // namespace

std::string factor_text(const Run& run, const Event& e) {
    const std::string constant = e.alpha != 1 ? text::number(static_cast<double>(e.alpha)) + ' ' : "";
    return e.factor == no_tile ? constant : constant + run.trace().tiles()[e.factor].name + ' ';
}

std::string formula(const Run& run, const SmState& sm) {
    const Step* step = run.operation(sm);
    if (!step) return housekeeping(run, sm);
    const Event& e = step->event;
    const Index k = sm.steps.back();
    const Contents& contents = run.contents();
    const auto operand = [&](std::size_t o) { return contents.operand(k, o) + (e.reads[o].transposed ? "^T" : ""); };
    std::string_view form = formula_of(e.operation->effect);
    // A product into a tile that was made in the same tick adds to zeros.
    const bool fresh = e.kind() == Kind::product && std::any_of(sm.steps.begin(), sm.steps.end(), [&](Index s) {
                           return run.trace()[s].kind() == Kind::alloc && run.trace()[s].event.out == e.out;
                       });
    if (fresh) form = "o ← a b";
    return filled_in(form, contents.after(k), contents.before(k), factor_text(run, e) + operand(0), operand(1));
}

}  // namespace tilescope::show
