#include "lab/run/judgement.hpp"

#include <algorithm>

#include "core/machine/error.hpp"
#include "core/text/message.hpp"
#include "core/text/numbers.hpp"
#include "core/text/words.hpp"

namespace tilescope::lab {
using text::message;
namespace {

/// Whether an output of a user's own program is wrong by more than rounding. A NaN among the inputs may reach rows that
/// do not see it, because it is in their tile: that is no mistake.
bool is_wrong(const OutputError& e) {
    return beyond_rounding(e.max_abs, e.largest) || (e.not_finite > 0 && e.finite_inputs) || e.finite_instead > 0;
}

bool is_statistic(const Report& r, const std::string& name) {
    return std::any_of(r.tensors.begin(), r.tensors.end(),
                       [&](const TensorReport& t) { return t.name == name && t.meaning == Meaning::statistic; });
}

/// The id of the message that says which elements are not finite, and why.
const char* why_not_finite(const Report& r, const OutputError& e) {
    if (!e.finite_inputs) return "judgement.not_finite_as_inputs";
    return r.experiment.problem.softmax == Softmax::naive ? "judgement.not_finite_of_naive" : "judgement.not_finite";
}

}  // namespace

bool beyond_rounding(double max_abs, double largest) {
    constexpr double most_of_rounding = 0.1;  // of the largest value
    return max_abs > most_of_rounding * largest;
}

std::string describe_error(const Report& r, const std::string& name, const OutputError& e) {
    const std::string max = text::number(e.max_abs), rms = text::number(e.rms);
    const bool wrong = r.experiment.algorithm->lineage.file && beyond_rounding(e.max_abs, e.largest);
    const std::string figures = wrong ? message("judgement.beyond_rounding", max, rms, text::number(e.largest))
                                      : message("judgement.figures", max, rms);
    if (e.compared == e.elements) return figures;
    std::vector<std::string> said;
    const auto some = [&](Count n, const char* id) {
        if (n > 0)
            said.push_back(
                message(id, n, said.empty() ? message("judgement.of_outputs", n, e.elements) : text::grouped(n)));
    };
    some(e.not_finite, why_not_finite(r, e));
    some(e.finite_instead, "judgement.finite");
    some(e.minus_infinite, is_statistic(r, name) ? "judgement.minus_infinite_row" : "judgement.minus_infinite");
    some(e.neither(), "judgement.neither_finite");
    said.push_back(e.compared > 0 ? message("judgement.others", e.compared, figures) : message("judgement.none_left"));
    return text::join(said, "; ");
}

std::vector<std::string> wrong_outputs(const Report& r) {
    std::vector<std::string> names;
    for (const auto& [name, e] : r.errors)
        if (r.experiment.algorithm->lineage.file && is_wrong(e)) names.push_back(name);
    return names;
}

std::vector<std::string> about_wrong_outputs(const Report& r) {
    std::vector<std::string> lines;
    for (const std::string& name : wrong_outputs(r))
        lines.push_back(
            message("judgement.wrong", r.experiment.algorithm->name, name, describe_error(r, name, r.errors.at(name))));
    return lines;
}

std::string wrong_in_short(const Report& r) {
    const auto names = wrong_outputs(r);
    return names.empty() ? "" : message("judgement.in_short", r.experiment.algorithm->name, text::listed(names));
}

void fail_where_wrong(const std::vector<std::string>& in_short) {
    std::vector<std::string> said;
    for (const std::string& s : in_short)
        if (!s.empty() && std::find(said.begin(), said.end(), s) == said.end()) said.push_back(s);
    if (!said.empty()) throw RunError(message("judgement.mend", text::join(said, "; ")));
}

}  // namespace tilescope::lab
