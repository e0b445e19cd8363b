#include "lab/flags/other_answers.hpp"

#include <optional>

#include "algorithms/contract/hidden_rows.hpp"
#include "core/text/message.hpp"
#include "core/text/words.hpp"
#include "lab/library/libraries.hpp"

namespace tilescope::lab {
using text::message;
namespace {

/// Who gives this answer: libraries, where all of their backends that give any do, and backends. `answer_of` returns
/// nothing for a backend that gives none.
template <class A, class F>
std::string who_says(A answer, F&& answer_of) {
    std::vector<std::string> names;
    for (const Library& l : libraries()) {
        std::vector<std::string> some;
        bool all = true;
        for (const Backend& b : l.backends) {
            const std::optional<A> said = answer_of(b);
            if (said == answer) some.push_back(std::string(l.name) + ':' + b.name);
            all = all && (!said || said == answer);
        }
        if (all && !some.empty()) some = {l.name};
        names.insert(names.end(), some.begin(), some.end());
    }
    return text::listed(names);
}

/// How many queries see no key where the diagonal lies in this corner.
Index hidden_at(Problem p, Corner corner) {
    p.corner = corner;
    const Mask m = p.mask.with(HiddenRows::mean, p.queries(), p.seq_k, p.diagonal());
    return m.blind() ? m.blind()->among({0, p.queries()}) : 0;
}

}  // namespace

std::vector<std::string> other_answers(const Problem& p, const GpuSpec& gpu) {
    std::vector<std::string> all;
    if (!p.mask.hides()) return all;
    const bool corners_differ = p.queries() != p.seq_k && (p.mask.left() || p.mask.right());
    const auto takes = [&](const Backend& b) { return !b.refuses(p, gpu); };
    if (corners_differ) {
        const bool top_left = p.corner == Corner::top_left;
        const std::string others =
            who_says(top_left ? CausalCorner::bottom_right : CausalCorner::top_left,
                     [&](const Backend& b) { return takes(b) ? std::optional(b.answers.corner) : std::nullopt; });
        if (!others.empty()) all.push_back(message(top_left ? "library.others_end" : "library.others_begin", others));
    }
    const Index hidden = hidden_at(p, p.corner);
    if (hidden == 0) return all;
    const bool hides_from_top = !corners_differ || hidden_at(p, Corner::top_left) > 0;
    const auto answer_of = [&](const Backend& b) -> std::optional<HiddenAnswer> {
        if (!takes(b) || (b.answers.corner == CausalCorner::top_left && !hides_from_top)) return std::nullopt;
        return p.query_type() == Dtype::bf16 ? b.answers.hidden_in_bf16 : b.answers.hidden;
    };
    const HiddenRows here = p.mask.hidden_rows();
    std::vector<std::string> answers;
    for (const HiddenAnswer a : {HiddenAnswer::zero, HiddenAnswer::mean, HiddenAnswer::unmasked, HiddenAnswer::nan})
        if (const std::string others = rule_of(a) == here ? "" : who_says(a, answer_of); !others.empty())
            answers.push_back(message("library.hidden_in", in_words(a), others));
    if (!answers.empty())
        all.push_back(message("library.others_of_hidden", hidden, in_words(static_cast<HiddenAnswer>(here)),
                              text::listed(answers)));
    return all;
}

std::vector<std::string> notes_on(const Request& request, const Computation& computation) {
    std::vector<std::string> notes = request.notes;
    if (&computation == &computation::attention)
        for (std::string& other : other_answers(request.problem, request.gpu)) notes.push_back(std::move(other));
    return notes;
}

}  // namespace tilescope::lab
