// The kinds of figures. Each kind is a study, and a way to show it.
#pragma once

#include <span>

#include "lab/figure/figure.hpp"
#include "lab/flags/model.hpp"
#include "lab/flags/variant.hpp"
#include "lab/model/mapping.hpp"
#include "lab/report/metric.hpp"
#include "lab/study/study.hpp"
#include "lab/study/vary.hpp"

namespace tilescope::lab {

struct FigureRequest {
    std::vector<Variant> variants;  ///< empty: the kind's own
    Options options;
    std::vector<SweepAxis> vary;  ///< empty: the kind's own
    std::string metric;           ///< empty: the kind's own
    std::string command;          ///< the command that draws the figure, and the version, for the caption
    int threads = 0;
    Control* control = nullptr;
};

struct FigureKind {
    const char *name, *what;               ///< `what`: id of the message that says what the kind shows
    Figure (*draw)(const FigureRequest&);  ///< throws UsageError, RunError and Interrupted
};

std::span<const FigureKind> figure_kinds();
/// The kind of that name. UsageError, with the nearest name, where there is none.
const FigureKind& figure_kind(const std::string& name, std::span<const FigureKind> kinds = figure_kinds());

// ---- Functions that several kinds share

/// The request's variants; where it has none, the `usual` algorithms. Throws UsageError where two have one title.
std::vector<Variant> variants_of(const FigureRequest& request, std::initializer_list<const char*> usual);
/// Throws UsageError where the flag `key` is given, because the figure varies it; `usual`: the --vary to propose.
void leave_to_figure(const FigureRequest& request, const std::string& key, const std::string& usual);
/// The varied axis: the request's, else `usual`. UsageError for another key, for two axes, or where its flag is given.
SweepAxis axis_of(const FigureRequest& request, const char* usual);

/// The request with the problem and the GPU of FlashAttention's figure 2, where no flag says otherwise.
FigureRequest of_flash_attentions_figure_2(FigureRequest request);

/// Throws UsageError where the request has --vary.
void vary_nothing(const FigureRequest& request);

/// One run of a figure: a variant with further settings.
struct FigureCase {
    const Variant* variant;
    Settings settings;
};
/// One outcome per case, in order. With --tiles kernel, the default, `rule` (and `objective`) choose the tiles. Throws
/// RunError where not one case fits on chip.
std::vector<Outcome> outcomes_of(const FigureRequest& request, const std::vector<FigureCase>& cases,
                                 TileRule rule = TileRule::common, Objective objective = Objective::time,
                                 Studied studied = Studied::times);

/// A value as a number: 16k is 16384.
double number_in(const std::string& value);
/// "16 heads, d = 64, f16, on H100-SXM": what all runs of a figure share; `varied`: the key that differs.
std::string setup_text(const Experiment& experiment, std::string_view varied);
/// The setups of the variants as a sentence: "16 heads, d = 64, f16, on H100-SXM." Names variants where setups differ.
std::string setups_of(const std::vector<Variant>& variants, const std::vector<Outcome>& outcomes);
/// The setups and the tiles: "16 heads, ... Tiles, Br x Bc: 128 x 128 for all." `outcomes`: a row for each variant;
/// `varied`: as in setup_text().
std::string setups_text(const std::vector<Variant>& variants, const std::vector<Outcome>& outcomes,
                        std::string_view varied);
/// Throws UsageError where the outcomes are of several GPUs, which a figure cannot show at once.
void of_one_gpu(const char* kind, const std::vector<Outcome>& outcomes);
/// Whether the outcome's time ignores the limit of DRAM, because DRAM traffic was not modelled.
bool lacks_dram(const Outcome& outcome);
/// A metric of a report in the units of an axis (seconds, not microseconds); nullopt where the report lacks it.
std::optional<double> on_axis(const Metric& metric, const Report& report);
Scale scale_of(const Metric& metric);
/// Where a run lies under the roofs: its useful FLOPs per byte of SM traffic, per byte of DRAM traffic, and per second.
struct RooflineDot {
    std::optional<double> sm_intensity, dram_intensity, flops_per_s;
};
RooflineDot roofline_dot(const Report& report);

Figure io_vs_n(const FigureRequest& request);
Figure io_vs_d(const FigureRequest& request);
Figure io_vs_sram(const FigureRequest& request);
Figure io_vs_block(const FigureRequest& request);
Figure footprint(const FigureRequest& request);
Figure waves(const FigureRequest& request);
Figure roofline(const FigureRequest& request);
Figure ladder(const FigureRequest& request);
Figure forward_backward(const FigureRequest& request);
Figure tiles_plane(const FigureRequest& request);
Figure timeline_figure(const FigureRequest& request);
Figure loop_order(const FigureRequest& request);

// ---- The kinds that the window explores. They are constants so that the web page does not link the other kinds

inline constexpr FigureKind io_vs_n_kind{"io-vs-n", "figure.about_io_vs_n", io_vs_n},
    roofline_kind{"roofline", "figure.about_roofline", roofline},
    tiles_kind{"tiles", "figure.about_tiles", tiles_plane};

}  // namespace tilescope::lab
