#include <cmath>

#include "algorithms/contract/choices.hpp"
#include "gui/controls/flags.hpp"
#include "gui/controls/parts.hpp"
#include "gui/draw/message.hpp"
#include "lab/flags/model.hpp"
#include "show/state/mask_choices.hpp"
#include "show/state/score_choices.hpp"
#include "show/words/setup_text.hpp"

namespace tilescope::gui::controls {
using namespace lab;
namespace {

void length_controls(Shown& shown, Screen& screen, const Problem& p, bool attention) {
    const std::string what = message(attention ? "problem_controls.about_seq" : "problem_controls.about_rows");
    const Options said = with_model(options(shown));
    const auto queries = said.seq_q ? &Options::seq_q : &Options::seq;
    index_row(shown, screen,
              {"seq", message("problem_controls.seq"), static_cast<double>(p.seq_q), 16, 65536, 0, false, what},
              queries);
    bool other = said.seq_k || said.seq_q || p.seq_k != p.seq_q;
    if (checkbox(screen, "other-keys",
                 message(attention ? "problem_controls.other_keys" : "problem_controls.other_columns"), other,
                 message(attention ? "problem_controls.about_other_keys" : "problem_controls.about_other_columns")))
        change(shown, [&](Options& o) {
            if (other)
                o.seq_k = p.seq_k;
            else
                o.seq = p.seq_q, o.seq_q.reset(), o.seq_k.reset();
        });
    if (other)
        index_row(shown, screen,
                  {"seq-k", message(attention ? "problem_controls.keys" : "problem_controls.columns"),
                   static_cast<double>(p.seq_k), 16, 65536, 0, false,
                   message(attention ? "problem_controls.about_keys" : "problem_controls.about_columns")},
                  &Options::seq_k);
}

/// The box for causality, beside the last item.
void causal_box(Shown& shown, Screen& screen) {
    bool causal = with_model(options(shown)).causal.value_or(false);
    ImGui::SameLine();
    if (checkbox(screen, "causal", message("problem_controls.causal"), causal,
                 message("problem_controls.about_causal")))
        change(shown, [&](Options& o) {
            o.causal.reset();
            if (with_model(o).causal.value_or(false) != causal) o.causal = causal;
        });
}

void type_controls(Shown& shown, Screen& screen, const Problem& p, const Algorithm& algorithm) {
    const bool attention = algorithm.computes->features.has(Feature::head_dims);
    begin_field(screen, message("problem_controls.dtype"));
    const ImGuiStyle& style = ImGui::GetStyle();
    if (attention)
        ImGui::SetNextItemWidth(-(ImGui::GetFrameHeight() + style.ItemInnerSpacing.x +
                                  width_of(message("problem_controls.causal")) + style.ItemSpacing.x));
    const std::string now = options(shown).dtype.value_or(name_of(p.dtype));
    combo(screen, "dtype", now, message("problem_controls.about_dtypes"), [&] {
        for (const Dtype type : {Dtype::f32, Dtype::f16, Dtype::bf16, Dtype::e4m3, Dtype::e5m2}) {
            if (size_of(type) == 1 && !algorithm.supports.has(Feature::eight_bits)) continue;
            const char* const name = name_of(type);
            if (entry(screen, std::string("dtype-") + name, name, now == name, message("problem_controls.about_dtype")))
                change(shown, [&](Options& o) { o.dtype = name; });
        }
    });
    if (attention) causal_box(shown, screen);
}

/// The list of what values of 8 bits share a scale, where there are such values.
void scale_list(Shown& shown, Screen& screen, const Problem& p) {
    if (!p.uses(Feature::eight_bits)) return;
    begin_field(screen, message("problem_controls.scales"));
    const std::string now = name_of_scales(p);
    combo(screen, "scales", now, message("problem_controls.about_scales"), [&] {
        constexpr const char* rows[] = {"64", "128"};
        std::vector<std::string> names(std::begin(scalings), std::end(scalings));
        names.insert(names.end(), std::begin(rows), std::end(rows));
        for (const std::string& name : names)
            if (entry(screen, "scales-" + name, name, now == name, message("problem_controls.about_scaling")))
                change(shown, [&](Options& o) { o.scales = name; });
    });
}

/// The list of masks: which keys a query sees besides the rule of causality.
void mask_list(Shown& shown, Screen& screen, const Problem& p) {
    begin_field(screen, message("problem_controls.mask"));
    const Options said = with_model(options(shown));
    combo(screen, "mask", mask_shown(said), message("problem_controls.about_masks"), [&] {
        for (const MaskChoice& choice : mask_choices(p, said.causal.value_or(false))) {
            Options chosen = said;
            choice.set(chosen);
            if (entry(screen, "mask-" + choice.name, choice.shown, chosen == said, choice.about))
                change(shown, [&](Options& o) { choice.set(o); });
        }
    });
}

bool from_files(const Shown& shown) {
    const Options& o = options(shown);
    return !(o.q + o.k + o.v + o.x).empty();
}

void value_list(Shown& shown, Screen& screen) {
    begin_field(screen, message("problem_controls.values"));
    combo(screen, "distribution", options(shown).distribution, message("problem_controls.about_values"), [&] {
        for (const Distribution d : distributions) {
            const std::string name = name_of(d);
            if (entry(screen, "distribution-" + name, name, options(shown).distribution == name, about_distribution(d)))
                change(shown, [&](Options& to) { to.distribution = name; });
        }
    });
}

void seed_row(Shown& shown, Screen& screen) {
    const Options& o = options(shown);
    const NumberEdit edit = number_row(screen, {"seed", message("problem_controls.seed"), static_cast<double>(o.seed),
                                                0, 100, 1, o.seed != 0, message("problem_controls.about_seed")});
    if (edit.value)
        change(shown,
               [&](Options& to) { to.seed = static_cast<std::uint64_t>(std::max<Index>(0, typed(*edit.value))); });
    if (edit.reset) change(shown, [&](Options& to) { to.seed = Options().seed; });
}

void softmax_list(Shown& shown, Screen& screen) {
    begin_field(screen, message("problem_controls.softmax"));
    const std::string now = options(shown).softmax.value_or(name_of(Softmax::safe));
    combo(screen, "softmax", now, message("problem_controls.about_softmaxes"), [&] {
        for (const Softmax softmax : {Softmax::safe, Softmax::naive}) {
            const std::string name = name_of(softmax);
            const char* about =
                softmax == Softmax::safe ? "problem_controls.about_safe" : "problem_controls.about_naive";
            if (entry(screen, "softmax-" + name, name, now == name, message(about)))
                change(shown, [&](Options& o) { o.softmax = name; });
        }
    });
}

/// The list of what is done to the scores besides the mask. It offers only what the algorithm has.
void score_list(Shown& shown, Screen& screen, const Algorithm& algorithm) {
    begin_field(screen, message("problem_controls.scores"));
    const Options said = options(shown);
    combo(screen, "scores", scores_shown(said), message("problem_controls.about_scores"), [&] {
        for (const ScoreChoice& choice : score_choices()) {
            if (!choice.is_of(algorithm)) continue;
            Options chosen = said;
            choice.set(chosen);
            if (entry(screen, std::string("scores-") + choice.name, message(choice.shown), chosen == said,
                      message(choice.about)))
                change(shown, [&](Options& o) { choice.set(o); });
        }
    });
}

}  // namespace

void problem_controls(Shown& shown, Screen& screen) {
    const Problem p = asked(shown);
    const bool attention = shown.session.algorithm().computes->features.has(Feature::head_dims);
    const auto number = [](Index n) { return static_cast<double>(n); };
    heading(screen, message("problem_controls.problem"));
    length_controls(shown, screen, p, attention);
    index_row(shown, screen,
              {"heads", message("problem_controls.heads"), number(p.heads), 1, 64, 0, false,
               message(attention ? "problem_controls.about_heads" : "problem_controls.about_matrices")},
              &Options::heads);
    if (attention)
        index_row(shown, screen,
                  {"kv-heads", message("problem_controls.kv_heads"), number(p.kv_heads), 1, 64, 0, true,
                   message("problem_controls.about_kv_heads")},
                  &Options::kv_heads);
    index_row(shown, screen,
              {"batch", message("problem_controls.batch"), number(p.batch), 1, 64, 0, false,
               message("problem_controls.about_batch")},
              &Options::batch);
    if (attention) {
        index_row(shown, screen,
                  {"dim", message("problem_controls.dim"), number(p.dim), 4, 256, 0, false,
                   message("problem_controls.about_dim")},
                  &Options::dim);
        index_row(shown, screen,
                  {"dim-v", message("problem_controls.dim_v"), number(p.dim_v), 4, 256, 0, true,
                   message("problem_controls.about_dim_v")},
                  &Options::dim_v);
    }
    type_controls(shown, screen, p, shown.session.algorithm());
    scale_list(shown, screen, p);
    if (attention) mask_list(shown, screen, p);
    if (!from_files(shown)) value_list(shown, screen);
}

void data_controls(Shown& shown, Screen& screen) {
    heading(screen, message("problem_controls.data"));
    from_files(shown) ? remark(screen, message("problem_controls.from_files")) : seed_row(shown, screen);
    const Algorithm& algorithm = shown.session.algorithm();
    if (!algorithm.computes->features.has(Feature::scale)) return;
    const Problem p = asked(shown);
    number_flag_row(shown, screen,
                    {"scale", message("problem_controls.scale"),
                     p.scale.value_or(1 / std::sqrt(static_cast<double>(std::max<Index>(1, p.dim)))), 0.01, 100, 0,
                     true, message("problem_controls.about_scale")},
                    &Options::scale);
    if (algorithm.supports.has(Feature::naive_softmax)) softmax_list(shown, screen);
    // What was asked for with another algorithm stays visible here, so that the user can take it back.
    const Options& said = options(shown);
    if (algorithm.supports.has(Feature::bias) || scores_shown(said) != message(score_choices()[0].shown))
        score_list(shown, screen, algorithm);
    if (algorithm.supports.has(Feature::dropout) || said.dropout)
        number_flag_row(shown, screen,
                        {"dropout", message("problem_controls.dropout"), said.dropout.value_or(0), 0, 0.9, 0.05, true,
                         message("problem_controls.about_dropout")},
                        &Options::dropout);
}

}  // namespace tilescope::gui::controls
