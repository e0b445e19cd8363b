#include <cmath>

#include "gui/controls/flags.hpp"
#include "gui/controls/parts.hpp"
#include "lab/flags/model.hpp"
#include "show/state/mask_choices.hpp"
#include "show/state/score_choices.hpp"
#include "show/words/setup_text.hpp"

namespace tilescope::gui::controls {
using namespace lab;
namespace {

void length_controls(Shown& shown, Screen& screen, const Problem& p, bool attention) {
    const char* what = attention
                           ? "Sequence length: rows of Q (and of K and V, unless they have a length of their own)."
                           : "Rows of X (and columns, unless they have a number of their own).";
    const Options said = with_model(options(shown));
    const auto queries = said.seq_q ? &Options::seq_q : &Options::seq;
    index_row(shown, screen, {"seq", "seq", static_cast<double>(p.seq_q), 16, 65536, 0, false, what}, queries);
    bool other = said.seq_k || said.seq_q || p.seq_k != p.seq_q;
    if (checkbox(screen, "other-keys", attention ? "other length for keys" : "other number of columns", other,
                 attention ? "K and V have another number of rows than Q." : "X is not square."))
        change(shown, [&](Options& o) {
            if (other)
                o.seq_k = p.seq_k;
            else
                o.seq = p.seq_q, o.seq_q.reset(), o.seq_k.reset();
        });
    if (other)
        index_row(shown, screen,
                  {"seq-k", attention ? "keys" : "columns", static_cast<double>(p.seq_k), 16, 65536, 0, false,
                   attention ? "Rows of K and V." : "Columns of X."},
                  &Options::seq_k);
}

/// The box for causality, beside the list before it.
void causal_box(Shown& shown, Screen& screen) {
    bool causal = with_model(options(shown)).causal.value_or(false);
    ImGui::SameLine();
    if (checkbox(screen, "causal", "causal", causal,
                 "A row sees no key after itself: query r sees keys up to r + Nk - Nq, or up to r with --causal-corner "
                 "top-left."))
        change(shown, [&](Options& o) {
            o.causal.reset();
            if (with_model(o).causal.value_or(false) != causal) o.causal = causal;
        });
}

void type_controls(Shown& shown, Screen& screen, const Problem& p, bool attention) {
    begin_field(screen, "dtype");
    const ImGuiStyle& style = ImGui::GetStyle();
    if (attention)
        ImGui::SetNextItemWidth(
            -(ImGui::GetFrameHeight() + style.ItemInnerSpacing.x + width_of("causal") + style.ItemSpacing.x));
    const std::string now = options(shown).dtype.value_or(name_of(p.dtype));
    combo(screen, "dtype", now.c_str(),
          "How a number is stored in HBM and SRAM: f32 takes 4 bytes, f16 and bf16 take 2.", [&] {
              for (const char* name : {"f32", "f16", "bf16"})
                  if (entry(screen, std::string("dtype-") + name, name, now == name, "Storage type"))
                      change(shown, [&](Options& o) { o.dtype = name; });
          });
    if (attention) causal_box(shown, screen);
}

/// Which keys are seen, beside causality.
void mask_list(Shown& shown, Screen& screen, const Problem& p) {
    begin_field(screen, "mask");
    const Options said = with_model(options(shown));
    combo(screen, "mask", mask_shown(said).c_str(),
          "Which keys a query sees, beside causality. Flags say it exactly: --window-left, --documents, --block-mask.",
          [&] {
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
    begin_field(screen, "values");
    combo(screen, "distribution", options(shown).distribution.c_str(), "What Q, K and V hold, or X.", [&] {
        for (const Distribution d : distributions) {
            const std::string name = name_of(d);
            if (entry(screen, "distribution-" + name, name, options(shown).distribution == name, about_distribution(d)))
                change(shown, [&](Options& to) { to.distribution = name; });
        }
    });
}

void seed_row(Shown& shown, Screen& screen) {
    const Options& o = options(shown);
    const NumberEdit edit = number_row(screen, {"seed", "seed", static_cast<double>(o.seed), 0, 100, 1, o.seed != 0,
                                                "Other numbers of the same kind."});
    if (edit.value)
        change(shown,
               [&](Options& to) { to.seed = static_cast<std::uint64_t>(std::max<Index>(0, typed(*edit.value))); });
    if (edit.reset) change(shown, [&](Options& to) { to.seed = Options().seed; });
}

void softmax_list(Shown& shown, Screen& screen) {
    begin_field(screen, "softmax");
    const std::string now = options(shown).softmax.value_or(name_of(Softmax::safe));
    combo(screen, "softmax", now.c_str(), "Of standard attention: with the row's maximum subtracted first, or without.",
          [&] {
              for (const Softmax softmax : {Softmax::safe, Softmax::naive}) {
                  const std::string name = name_of(softmax);
                  if (entry(screen, "softmax-" + name, name, now == name,
                            softmax == Softmax::safe ? "exp(S - max S)" : "exp(S), which may overflow"))
                      change(shown, [&](Options& o) { o.softmax = name; });
              }
          });
}

/// The list of what is done to the scores besides the mask. It offers only what the algorithm has.
void score_list(Shown& shown, Screen& screen, const Algorithm& algorithm) {
    begin_field(screen, "scores");
    const Options said = options(shown);
    combo(screen, "scores", scores_shown(said).c_str(),
          "What is done to the scores before the softmax. Flags say it exactly: --bias, --alibi, --soft-cap.", [&] {
              for (const ScoreChoice& choice : score_choices()) {
                  if (!choice.is_of(algorithm)) continue;
                  Options chosen = said;
                  choice.set(chosen);
                  if (entry(screen, std::string("scores-") + choice.name, choice.shown, chosen == said, choice.about))
                      change(shown, [&](Options& o) { choice.set(o); });
              }
          });
}

}  // namespace

void problem_controls(Shown& shown, Screen& screen) {
    const Problem p = asked(shown);
    const bool attention = shown.session.algorithm().computes->features.has(Feature::head_dims);
    const auto number = [](Index n) { return static_cast<double>(n); };
    heading(screen, "Problem");
    length_controls(shown, screen, p, attention);
    index_row(shown, screen,
              {"heads", "heads", number(p.heads), 1, 64, 0, false, attention ? "Heads of Q." : "Matrices."},
              &Options::heads);
    if (attention)
        index_row(shown, screen,
                  {"kv-heads", "kv-heads", number(p.kv_heads), 1, 64, 0, true,
                   "Heads of K and V: as many as of Q, or fewer that are shared (grouped-query attention). Must divide "
                   "the heads."},
                  &Options::kv_heads);
    index_row(shown, screen,
              {"batch", "batch", number(p.batch), 1, 64, 0, false, "Batch entries, each with all heads."},
              &Options::batch);
    if (attention) {
        index_row(shown, screen,
                  {"dim", "dim", number(p.dim), 4, 256, 0, false, "Head dimension d: columns of Q and K."},
                  &Options::dim);
        index_row(shown, screen,
                  {"dim-v", "dim-v", number(p.dim_v), 4, 256, 0, true, "Columns of V and O; as many as of Q, usually."},
                  &Options::dim_v);
    }
    type_controls(shown, screen, p, attention);
    if (attention) mask_list(shown, screen, p);
    if (!from_files(shown)) value_list(shown, screen);
}

void data_controls(Shown& shown, Screen& screen) {
    heading(screen, "Data");
    from_files(shown) ? remark(screen, "The numbers of the files.") : seed_row(shown, screen);
    const Algorithm& algorithm = shown.session.algorithm();
    if (!algorithm.computes->features.has(Feature::scale)) return;
    const Problem p = asked(shown);
    number_flag_row(shown, screen,
                    {"scale", "scale", p.scale.value_or(1 / std::sqrt(static_cast<double>(std::max<Index>(1, p.dim)))),
                     0.01, 100, 0, true, "Factor on the logits; 1/sqrt(dim) unless given."},
                    &Options::scale);
    if (algorithm.supports.has(Feature::naive_softmax)) softmax_list(shown, screen);
    // What was asked for with another algorithm stays visible here, so that the user can take it back.
    const Options& said = options(shown);
    if (algorithm.supports.has(Feature::bias) || scores_shown(said) != score_choices()[0].shown)
        score_list(shown, screen, algorithm);
    if (algorithm.supports.has(Feature::dropout) || said.dropout)
        number_flag_row(shown, screen,
                        {"dropout", "dropout", said.dropout.value_or(0), 0, 0.9, 0.05, true,
                         "Probability with which a weight of the softmax is dropped."},
                        &Options::dropout);
}

}  // namespace tilescope::gui::controls
