// Bytes by tensor, one bar for each algorithm: the first figure of README.md.
#include <algorithm>

#include "core/text/message.hpp"
#include "core/text/numbers.hpp"
#include "lab/figure/kinds.hpp"
#include "lab/figure/ticks.hpp"

namespace tilescope::lab {
using text::message;
namespace {

/// Tensors that are drawn as one part of a bar.
constexpr struct Group {
    const char *title, *of_softmax;  ///< messages: in attention, and in figures of softmax kernels alone
    std::initializer_list<Meaning> meanings;
} groups[] = {
    {"ladder.queries", "ladder.queries", {Meaning::query}},
    {"ladder.keys", "ladder.keys", {Meaning::key, Meaning::value}},
    {"ladder.output", "ladder.softmax_output", {Meaning::output}},
    {"ladder.scores", "ladder.softmax_input", {Meaning::score}},
    {"ladder.others", "ladder.softmax_others", {}},
    {"ladder.gradients", "ladder.softmax_gradients", {Meaning::gradient}},
};
constexpr std::size_t others = 4;

std::size_t group_of(Meaning m) {
    for (std::size_t k = 0; k < std::size(groups); ++k)
        if (std::find(groups[k].meanings.begin(), groups[k].meanings.end(), m) != groups[k].meanings.end()) return k;
    return others;
}

}  // namespace

Figure ladder(const FigureRequest& r) {
    vary_nothing(r);
    FigureRequest usual = r;
    usual.options = with_usual_sizes(r.options, 16, 4096);
    const auto variants =
        variants_of(r, {"standard", "three_pass", "two_pass", "flash_v1", "flash_v2", "memory_efficient", "chunked"});
    std::vector<FigureCase> cases;
    for (const Variant& v : variants) cases.push_back({&v, {}});
    const auto outcomes = outcomes_of(usual, cases);
    const bool attention = std::any_of(outcomes.begin(), outcomes.end(), [](const Outcome& o) {
        return o.experiment.algorithm->computes->features.has(Feature::head_dims);
    });
    const auto title = [&](std::size_t g) { return message(attention ? groups[g].title : groups[g].of_softmax); };
    Panel p{"", {""}, {message("ladder.traffic"), Scale::bytes}};
    double highest = 0;
    p.x.from = -0.6, p.x.to = static_cast<double>(variants.size()) - 0.4;
    for (std::size_t k = 0; k < variants.size(); ++k) {
        const double x = static_cast<double>(k);
        p.x.ticks.push_back({x, variants[k].title});
        double sums[std::size(groups)] = {}, at = 0;
        if (const auto& report = outcomes[k].report)
            for (const TensorReport& t : report->tensors)
                sums[group_of(t.meaning)] += static_cast<double>(t.traffic.read + t.traffic.sent());
        for (std::size_t g = 0; g < std::size(groups); at += sums[g], ++g)
            if (sums[g] > 0)
                p.boxes.push_back({x - 0.36, x + 0.36, at, at + sums[g], static_cast<int>(g), 0, false, title(g), "",
                                   false, variants[k].title});
        highest = std::max(highest, at);
        p.series.push_back({"", Look::words, -1, {{x, at, at > 0 ? text::bytes(at) : message("ladder.does_not_fit")}}});
    }
    in_one_unit(p.y, with_label * highest);
    return {"ladder",
            message(attention ? "ladder.title" : "ladder.title_of_softmax"),
            {p},
            text::sentences({message("ladder.caption"), setups_text(variants, outcomes, "")}),
            r.command};
}

}  // namespace tilescope::lab
