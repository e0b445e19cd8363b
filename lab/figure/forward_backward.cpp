// FLOPs, bytes and time of both passes beside what a paper printed: FlashAttention (arXiv 2205.14135), figure 2, left.
#include <algorithm>
#include <array>

#include "core/machine/error.hpp"
#include "core/text/message.hpp"
#include "core/text/numbers.hpp"
#include "core/text/words.hpp"
#include "lab/figure/kinds.hpp"
#include "lab/figure/ticks.hpp"
#include "lab/flags/request.hpp"
#include "lab/gpu/gpu_presets.hpp"
#include "lab/model/with_forward.hpp"

namespace tilescope::lab {
using text::message;
namespace {

/// What a version of the paper printed: pairs of values, of standard attention and of FlashAttention.
struct Printed {
    const char* title;  ///< id of a message
    std::array<double, 2> gflops, bytes, seconds;
};
constexpr Printed printed[] = {{"forward_backward.arxiv", {66.6, 75.2}, {40.3e9, 4.4e9}, {41.7e-3, 7.3e-3}},
                               {"forward_backward.neurips", {66.6, 75.2}, {35.3e9, 4.4e9}, {35.1e-3, 11.7e-3}}};
constexpr const char* printed_of[] = {"standard_backward", "flash_v1_backward"};
constexpr Tiling printed_tiles = {64, 384};  ///< by line 1 of Algorithm 1, with 192 KiB of 16-bit numbers

/// Whether a run has the printed size and is on an A100, whose SRAM decides the tiles.
bool is_printed(const Experiment& e) {
    const Problem& p = e.problem;
    const bool on_a100 = e.gpu.compute_capability == "8.0" && !is_changed_preset(e.gpu);
    return on_a100 && p.batch == 64 && p.heads == 16 && p.kv_heads == 16 && p.seq_q == 1024 && p.seq_k == 1024 &&
           p.dim == 64 && p.dim_v == 64 && !p.mask.hides() && size_of(p.dtype) == 2;
}

enum class Source : std::uint8_t { first_version, second_version, counted, modelled };
constexpr const char* titles[] = {printed[0].title, printed[1].title, "forward_backward.counted",
                                  "forward_backward.modelled"};

struct Bar {
    Source source;
    double value;
};

/// A panel with a bar for each source, for every algorithm.
Panel panel_of(const std::string& title, const FigureAxis& y, const std::vector<std::string>& names,
               const std::vector<std::vector<Bar>>& bars) {
    constexpr double width = 0.24;
    Panel p{title, {""}, y};
    double highest = 0;
    for (const auto& of : bars)
        for (const Bar& b : of) highest = std::max(highest, b.value);
    const double unit = in_one_unit(p.y, with_label * highest);
    p.x.from = -0.55, p.x.to = static_cast<double>(names.size()) - 0.45;
    for (std::size_t k = 0; k < names.size(); ++k) {
        p.x.ticks.push_back({static_cast<double>(k), names[k]});
        double left = static_cast<double>(k) - width / 2 * static_cast<double>(bars[k].size());
        for (const Bar& b : bars[k]) {
            const auto source = static_cast<std::size_t>(b.source);
            Box box{left, left + 0.9 * width, 0, b.value, static_cast<int>(source), 0, false, message(titles[source])};
            box.open = b.source < Source::counted;
            box.bar = names[k];
            p.boxes.push_back(box);
            p.series.push_back({"", Look::words, -1, {{left + 0.45 * width, b.value, text::number(b.value / unit)}}});
            left += width;
        }
    }
    return p;
}

/// The bars of the printed numbers, followed by the bars `found`.
std::vector<Bar> beside_printed(const Report& r, std::array<double, 2> Printed::*what, std::vector<Bar> found) {
    const auto of =
        std::find(std::begin(printed_of), std::end(printed_of), std::string_view(r.experiment.algorithm->name));
    if (of == std::end(printed_of) || !is_printed(r.experiment)) return found;
    const auto k = static_cast<std::size_t>(of - std::begin(printed_of));
    found.insert(found.begin(),
                 {{Source::first_version, (printed[0].*what)[k]}, {Source::second_version, (printed[1].*what)[k]}});
    return found;
}

double bytes_of(const Prediction& p) { return static_cast<double>(p.hbm_read + p.hbm_write + p.hbm_reduce); }

/// What the paper says about the FLOPs and the HBM accesses of the drawn algorithms, for captions.
class AboutPrinted {
  public:
    explicit AboutPrinted(const std::vector<Outcome>& outcomes) {
        for (const Outcome& o : outcomes) {
            const std::string_view name = o.experiment.algorithm->name;
            if (!is_printed(o.experiment)) continue;
            p_ = o.experiment.problem, gpu_ = o.experiment.gpu;
            standard_ = standard_ || name == printed_of[0], flash_ = flash_ || name == printed_of[1];
        }
    }

    bool any() const { return standard_ || flash_; }

    std::string flops() const {
        return message(standard_ && flash_ ? "forward_backward.six_and_seven_products"
                       : standard_         ? "forward_backward.six_products"
                                           : "forward_backward.seven_products");
    }

    std::string accesses() const {
        std::vector<std::string> all;
        if (standard_)
            all.push_back(message("forward_backward.standard_as_listed",
                                  text::bytes(bytes_of(of("standard").paper.idealised(p_)->count +
                                                       of("standard_backward").paper.idealised(p_)->count))));
        if (flash_)
            all.push_back(message("forward_backward.flash_as_listed",
                                  text::bytes(bytes_of(of("flash_v1").predict(p_, printed_tiles, gpu_) +
                                                       of("flash_v1_backward").predict(p_, printed_tiles, gpu_)))));
        return text::sentences(all);
    }

  private:
    static const Algorithm& of(const char* name) { return *find_algorithm(name); }

    Problem p_;
    GpuSpec gpu_;
    bool standard_ = false, flash_ = false;
};

Report both_passes(const FigureRequest& r, const Variant& v, const Outcome& o) {
    if (!v.algorithm->lineage.forward) throw UsageError(message("forward_backward.not_backward", v.label));
    if (!o.report) throw RunError(message("forward_backward.not_counted", v.label, o.remark));
    Wish wish = resolve(with(r.options, v.settings), *v.algorithm, r.control).wish;
    if (wish.rule == TileRule::kernel) wish.rule = TileRule::paper;
    return with_forward(*o.report, wish, r.control);
}

}  // namespace

Figure forward_backward(const FigureRequest& asked) {
    vary_nothing(asked);
    const FigureRequest r = of_flash_attentions_figure_2(asked);
    const std::vector<Variant> variants = variants_of(r, {printed_of[0], printed_of[1]});
    std::vector<FigureCase> cases;
    for (const Variant& v : variants) cases.push_back({&v, {}});
    const std::vector<Outcome> outcomes = outcomes_of(r, cases, TileRule::paper);
    std::vector<Variant> drawn = variants;  // with the names of the bars
    std::vector<std::string> names, tiles;
    std::vector<std::vector<Bar>> flops, bytes, seconds;
    for (std::size_t k = 0; k < variants.size(); ++k) {
        const Report both = both_passes(r, variants[k], outcomes[k]);
        const Algorithm& forward = *find_algorithm(variants[k].algorithm->lineage.forward);
        const std::string &title = variants[k].title, backward = variants[k].algorithm->paper.title;
        const bool renamed = *forward.paper.title && title.starts_with(backward);
        names.push_back(renamed ? forward.paper.title + title.substr(backward.size()) : title);
        drawn[k].title = names.back();
        const Tiling t = both.experiment.tiling;
        tiles.push_back(message("figure.tiles_of", names.back(), std::to_string(t.br) + " x " + std::to_string(t.bc)));
        const auto number = [](auto x) { return static_cast<double>(x); };
        std::vector<Bar> moved = {{Source::counted, number(both.counters.hbm())}};
        if (const auto dram = both.dram()) moved.push_back({Source::modelled, number(dram->total())});
        std::vector<Bar> took;
        if (both.time) took.push_back({Source::modelled, both.time->us() / 1e6});
        flops.push_back(
            beside_printed(both, &Printed::gflops, {{Source::counted, number(both.counters.matmul_flops) / 1e9}}));
        bytes.push_back(beside_printed(both, &Printed::bytes, moved));
        seconds.push_back(beside_printed(both, &Printed::seconds, took));
    }
    const AboutPrinted about(outcomes);
    const bool printed_too = about.any();
    const std::string time = message("forward_backward.time");
    Panel of_flops = panel_of(message("forward_backward.flops"), {message("forward_backward.gflop")}, names, flops),
          of_bytes = panel_of(message("forward_backward.accesses"), {message("forward_backward.traffic"), Scale::bytes},
                              names, bytes),
          of_time = panel_of(time, {time, Scale::seconds}, names, seconds);
    of_flops.caption = message("forward_backward.flops_counted");
    of_bytes.caption = message("forward_backward.traffic_counted");
    of_time.caption =
        message(printed_too ? "forward_backward.times_beside_printed" : "forward_backward.times_modelled");
    std::vector<std::string> of_all = {message("forward_backward.both_passes"), setups_of(drawn, outcomes),
                                       message("forward_backward.tiles", text::join(tiles, ", "))};
    if (printed_too) {
        of_flops.caption = text::sentences({of_flops.caption, about.flops()});
        of_bytes.caption = text::sentences({of_bytes.caption, about.accesses()});
    } else {
        of_all.push_back(message("forward_backward.printed_sizes"));
    }
    return {"forward-backward",
            message("forward_backward.title"),
            {of_flops, of_bytes, of_time},
            text::sentences(of_all),
            asked.command};
}

}  // namespace tilescope::lab
