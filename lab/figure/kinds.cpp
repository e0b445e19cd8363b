#include "lab/figure/kinds.hpp"

#include <algorithm>

#include "core/machine/error.hpp"
#include "core/text/message.hpp"
#include "core/text/numbers.hpp"
#include "core/text/words.hpp"
#include "lab/flags/describe.hpp"
#include "lab/flags/like.hpp"
#include "lab/flags/request.hpp"
#include "lab/run/covers.hpp"

namespace tilescope::lab {
using text::message;
namespace {

constexpr FigureKind all_kinds[] = {
    io_vs_n_kind,
    {"io-vs-d", "figure.about_io_vs_d", io_vs_d},
    {"io-vs-sram", "figure.about_io_vs_sram", io_vs_sram},
    {"io-vs-block", "figure.about_io_vs_block", io_vs_block},
    {"footprint", "figure.about_footprint", footprint},
    {"waves", "figure.about_waves", waves},
    roofline_kind,
    {"ladder", "figure.about_ladder", ladder},
    {"forward-backward", "figure.about_forward_backward", forward_backward},
    tiles_kind,
    {"timeline", "figure.about_timeline", timeline_figure},
    {"loop-order", "figure.about_loop_order", loop_order},
};

/// "flash_v2:br=64" becomes "flash_v2:br=64,label=another".
std::string relabelled(const std::string& typed) {
    const std::size_t name = algorithm_in(typed).size(), at = std::min(typed.find('@', name), typed.size());
    return typed.substr(0, at) + (at > name ? "," : ":") + "label=another" + typed.substr(at);
}

Experiment experiment_of_case(const FigureRequest& r, const FigureCase& c, TileRule rule, Objective objective) {
    Variant v = *c.variant;
    v.settings.insert(v.settings.end(), c.settings.begin(), c.settings.end());
    const Named n = named(v, r.options);
    const Algorithm& algorithm = *n.algorithm;
    Request request = resolve(n.options, algorithm, r.control);
    if (request.wish.rule == TileRule::kernel) request.wish.rule = rule;
    if (rule == TileRule::best) request.wish.objective = objective;
    return experiment_of(algorithm, request, r.control);
}

}  // namespace

std::span<const FigureKind> figure_kinds() { return all_kinds; }

const FigureKind& figure_kind(const std::string& name, std::span<const FigureKind> kinds) {
    std::vector<std::string> names;
    for (const FigureKind& k : kinds) {
        if (name == k.name) return k;
        names.emplace_back(k.name);
    }
    const auto meant = text::nearest(name, names);
    const std::string typed = text::shown(name), all = text::join(names, ", ");
    throw UsageError(meant ? message("figure.did_you_mean", typed, *meant, all)
                           : message("figure.no_such_figure", typed, all));
}

std::vector<Variant> variants_of(const FigureRequest& r, std::initializer_list<const char*> usual) {
    for (auto v = r.variants.begin(); v != r.variants.end(); ++v)
        if (std::any_of(r.variants.begin(), v, [&](const Variant& earlier) { return earlier.title == v->title; }))
            throw UsageError(message("figure.drawn_twice", v->title, text::shown(relabelled(v->typed))));
    if (!r.variants.empty()) return r.variants;
    std::vector<Variant> list;
    for (const char* name : usual) list.push_back(variant_from(name));
    return list;
}

SweepAxis axis_of(const FigureRequest& r, const char* usual) {
    const SweepAxis own = parse_axis(usual);
    leave_to_figure(r, own.key, usual);
    if (r.vary.empty()) return own;
    if (r.vary.size() > 1 || r.vary[0].key != own.key)
        throw UsageError(message("figure.varies_one", r.vary.back().key, own.key, usual));
    return r.vary[0];
}

void leave_to_figure(const FigureRequest& r, const std::string& key, const std::string& usual) {
    Options without = r.options;
    clear_flag(without, key);
    if (without != r.options) throw UsageError(message("figure.varies_it", key, usual));
}

FigureRequest of_flash_attentions_figure_2(FigureRequest r) {
    Options& o = r.options;
    if (o.model.empty()) {
        if (!o.batch) o.batch = 64;
        if (!o.heads) o.heads = 16;
        if (!o.seq && !o.seq_q) o.seq = 1024;
    }
    if (o.gpu == Options().gpu) o.gpu = "A100-40GB";
    return r;
}

void vary_nothing(const FigureRequest& r) {
    if (!r.vary.empty()) throw UsageError(message("figure.varies_nothing", r.vary[0].key));
}

std::vector<Outcome> outcomes_of(const FigureRequest& r, const std::vector<FigureCase>& cases, TileRule rule,
                                 Objective objective, Studied studied) {
    std::vector<Outcome> all;
    study(
        static_cast<Index>(cases.size()), r.threads,
        [&](Index k) {
            return outcome_of(experiment_of_case(r, cases[static_cast<std::size_t>(k)], rule, objective), r.control,
                              studied);
        },
        [&](Index, const Outcome& o) { all.push_back(o); });
    for (const Outcome& o : all)
        if (o.report) return all;
    throw RunError(message("figure.nothing_fits", all.empty() ? message("figure.no_point") : all[0].remark));
}

double number_in(const std::string& value) {
    if (std::int64_t whole = 0; text::to_whole(value, whole) == std::errc()) return static_cast<double>(whole);
    return text::to_number(value).value_or(0);
}

std::string setup_text(const Experiment& e, std::string_view varied) {
    const Problem& p = e.problem;
    std::vector<std::string> parts;
    const auto add = [&](std::string_view key, const std::string& text) {
        if (key != varied) parts.push_back(text);
    };
    if (e.algorithm->computes->features.has(Feature::head_dims)) {
        if (p.batch > 1) add("batch", message("figure.batch", p.batch));
        add("heads", p.kv_heads == p.heads ? message("figure.heads", p.heads)
                                           : message("figure.heads_and_kv_heads", p.heads, p.kv_heads));
        add("dim", "d = " + text::grouped(p.dim) + (p.dim_v != p.dim ? ", dv = " + text::grouped(p.dim_v) : ""));
    } else if (p.batch_heads() > 1) {
        parts.push_back(message("figure.matrices", p.batch_heads()));
    }
    add("seq",
        p.seq_q == p.seq_k ? "N = " + text::grouped(p.seq_q) : message("figure.queries_and_keys", p.seq_q, p.seq_k));
    parts.emplace_back(name_of(p.dtype));
    if (p.mask.hides()) parts.push_back(mask_words(p));
    if (e.gpu.l2_bytes == 0) parts.push_back(message("figure.without_l2"));
    return message("figure.setup", text::join(parts, ", ") + about_scores(p), e.gpu.name);
}

namespace {

/// The tiles of a row: "128 x 128", "16 x 16 to 512 x 48" where they change along the row, "none" where nothing fits.
std::string tiles_of(std::span<const Outcome> row) {
    std::vector<std::string> tiles;
    for (const Outcome& o : row)
        if (o.report) {
            const Tiling t = o.experiment.tiling;
            const std::string one = std::to_string(t.br) + " x " + std::to_string(t.bc);
            if (tiles.empty() || tiles.back() != one) tiles.push_back(one);
        }
    if (tiles.empty()) return message("figure.no_tiles");
    return tiles.size() == 1 ? tiles[0] : message("figure.from_to", tiles.front(), tiles.back());
}

/// "A and B 16 heads; C 8 heads"; a text that all variants share without names. `of_some`: message of names and text.
std::string by_variant(const std::vector<std::string>& labels, const std::vector<std::string>& texts,
                       const char* of_some) {
    std::vector<std::string> parts;
    for (std::size_t k = 0; k < texts.size(); ++k) {
        if (std::find(texts.begin(), texts.begin() + static_cast<std::ptrdiff_t>(k), texts[k]) !=
            texts.begin() + static_cast<std::ptrdiff_t>(k))
            continue;
        std::vector<std::string> same;
        for (std::size_t n = k; n < texts.size(); ++n)
            if (texts[n] == texts[k]) same.push_back(labels[n]);
        parts.push_back(same.size() == texts.size() ? texts[k] : message(of_some, text::listed(same), texts[k]));
    }
    return text::join(parts, "; ");
}

/// Capitalised as at the start of a sentence, unless a symbol comes first: "d = 64".
std::string as_beginning(std::string words) {
    return words.size() > 1 && words[1] == ' ' ? words : text::capitalised(std::move(words));
}

/// For each variant of which something fits: its title, its setup and its tiles, as texts.
struct Rows {
    std::vector<std::string> labels, setups, tiles;
};

/// `outcomes`: the outcomes of each variant, one variant after the other.
Rows rows_of(const std::vector<Variant>& variants, const std::vector<Outcome>& outcomes, std::string_view varied) {
    const std::size_t each = outcomes.size() / variants.size();
    Rows r;
    for (std::size_t v = 0; v < variants.size(); ++v) {
        const std::span row = std::span(outcomes).subspan(v * each, each);
        const auto some = std::find_if(row.begin(), row.end(), [](const Outcome& o) { return o.report.has_value(); });
        if (some == row.end()) continue;
        r.labels.push_back(variants[v].title);
        r.setups.push_back(setup_text(some->experiment, varied));
        r.tiles.push_back(tiles_of(row));
    }
    return r;
}

std::string told(const Rows& r) {
    return message("figure.setups", as_beginning(by_variant(r.labels, r.setups, "figure.setup_of")));
}

}  // namespace

std::string setups_of(const std::vector<Variant>& variants, const std::vector<Outcome>& outcomes) {
    return told(rows_of(variants, outcomes, ""));
}

std::string setups_text(const std::vector<Variant>& variants, const std::vector<Outcome>& outcomes,
                        std::string_view varied) {
    const Rows r = rows_of(variants, outcomes, varied);
    const bool one = std::all_of(r.tiles.begin(), r.tiles.end(), [&](const std::string& t) { return t == r.tiles[0]; });
    return text::sentences({told(r), message(one && r.tiles.size() > 1 ? "figure.tiles_of_all" : "figure.tiles",
                                             by_variant(r.labels, r.tiles, "figure.tiles_of"))});
}

void of_one_gpu(const char* kind, const std::vector<Outcome>& outcomes) {
    for (const Outcome& o : outcomes)
        if (o.experiment.gpu.name != outcomes[0].experiment.gpu.name)
            throw UsageError(message("figure.one_gpu", kind, outcomes[0].experiment.gpu.name, o.experiment.gpu.name));
}

bool lacks_dram(const Outcome& o) { return o.report && o.report->time && !o.report->dram(); }

std::optional<double> on_axis(const Metric& m, const Report& r) {
    const auto x = number_of(m, r);
    if (!x) return std::nullopt;
    return m.unit == MetricUnit::microseconds ? *x / 1e6 : m.share ? *x * 100 : *x;
}

Scale scale_of(const Metric& m) {
    if (m.share) return Scale::percent;
    switch (m.unit) {
        case MetricUnit::bytes:
            return Scale::bytes;
        case MetricUnit::microseconds:
            return Scale::seconds;
        case MetricUnit::flops_per_second:
            return Scale::flops_per_s;
        default:
            return Scale::plain;
    }
}

}  // namespace tilescope::lab
