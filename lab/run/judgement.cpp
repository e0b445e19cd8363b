#include "lab/run/judgement.hpp"

#include <algorithm>

#include "core/machine/error.hpp"
#include "core/text/numbers.hpp"
#include "core/text/words.hpp"

namespace tilescope::lab {
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

const char* why_not_finite(const Report& r, const OutputError& e) {
    if (!e.finite_inputs)
        return ": a tile that holds a NaN or an infinity of the inputs multiplies it by the weight 0 of rows that do "
               "not see it, as kernels do (docs/model-limits.md)";
    return r.experiment.problem.softmax == Softmax::naive
               ? ": the naive softmax overflows where a logit is above 88.7"
               : ", as where exp() takes a logit above 88.7 from which its row's maximum was not subtracted, or a "
                 "number is beyond what its type holds";
}

}  // namespace

bool beyond_rounding(double max_abs, double largest) {
    constexpr double most_of_rounding = 0.1;  // of the largest value
    return max_abs > most_of_rounding * largest;
}

std::string describe_error(const Report& r, const std::string& name, const OutputError& e) {
    std::string figures = "max " + text::number(e.max_abs) + ", rms " + text::number(e.rms);
    if (r.experiment.algorithm->file && beyond_rounding(e.max_abs, e.largest))
        figures += ", which is no rounding beside values up to " + text::number(e.largest) +
                   ": the program computes something else, as where a mask is left out (apply_mask), a sum is not "
                   "rescaled, or a tensor is taken without .of(head)";
    if (e.compared == e.elements) return figures;
    std::vector<std::string> said;
    const auto some = [&](Count n, const std::string& are) {
        const std::string of = said.empty() ? " of " + text::grouped(e.elements) + " outputs" : "";
        if (n > 0) said.push_back(text::grouped(n) + of + are);
    };
    some(e.not_finite, std::string(" are NaN or infinite where the reference is not") + why_not_finite(r, e));
    some(e.finite_instead, " are finite where the reference is NaN or infinite");
    some(e.minus_infinite,
         std::string(" are -inf in both") + (is_statistic(r, name) ? ", as of every row that sees no key" : ""));
    some(e.neither(), " are NaN or infinite in both");
    said.push_back(e.compared > 0 ? "the other " + text::grouped(e.compared) + ": " + figures
                                  : "nothing is left to compare");
    return text::join(said, "; ");
}

std::vector<std::string> wrong_outputs(const Report& r) {
    std::vector<std::string> names;
    for (const auto& [name, e] : r.errors)
        if (r.experiment.algorithm->file && is_wrong(e)) names.push_back(name);
    return names;
}

std::vector<std::string> about_wrong_outputs(const Report& r) {
    std::vector<std::string> lines;
    for (const std::string& name : wrong_outputs(r))
        lines.push_back(std::string(r.experiment.algorithm->name) + ": " + name +
                        " is wrong: " + describe_error(r, name, r.errors.at(name)));
    return lines;
}

std::string wrong_in_short(const Report& r) {
    const auto names = wrong_outputs(r);
    return names.empty() ? "" : std::string(r.experiment.algorithm->name) + " computes a wrong " + text::listed(names);
}

void fail_where_wrong(const std::vector<std::string>& in_short) {
    std::vector<std::string> said;
    for (const std::string& s : in_short)
        if (!s.empty() && std::find(said.begin(), said.end(), s) == said.end()) said.push_back(s);
    if (!said.empty())
        throw RunError(text::join(said, "; ") + ": the errors against the reference say how far off; mend the program");
}

}  // namespace tilescope::lab
