// `tilescope sweep ALGO... --vary KEY=VALUES`: a table of runs over ranges of sizes, tiles and machines, as CSV.
#include <iostream>

#include "cli/commands.hpp"
#include "cli/progress.hpp"
#include "cli/rows.hpp"
#include "cli/said.hpp"
#include "cli/with_option.hpp"
#include "core/text/message.hpp"
#include "core/text/numbers.hpp"
#include "core/text/words.hpp"
#include "lab/flags/ending.hpp"
#include "lab/flags/like.hpp"
#include "lab/model/with_forward.hpp"
#include "lab/run/judgement.hpp"
#include "lab/run/reference.hpp"
#include "lab/study/study.hpp"
#include "lab/study/vary.hpp"
#include "lab/system/atomic_file.hpp"

namespace tilescope::cli {
using namespace lab;
using text::message;
namespace {

constexpr double most_points = 1e6;

Outcome run_numeric_or_not(const Algorithm& algorithm, const Options& o, const Request& request) {
    Outcome p = outcome_of(experiment_of(algorithm, request, &control()), &control());
    if (!p.report) return p;
    const ModeChoice mode = choose_mode(o, request, {*p.report});
    if (!mode.numeric) return p;
    const int threads = static_cast<int>(o.threads);
    in_memory(mode.fix, [&] {
        const Inputs inputs = inputs_for(o, request, algorithm, &control());
        p.report = with_way_back(algorithm, o, [&] { return with_outputs(*p.report, inputs, threads, &control()); });
        p.report->errors = compare_with_reference(*algorithm.computes, request.problem, inputs, {p.report->outputs},
                                                  threads, &control())[0];
    });
    return p;
}

Outcome run_point(const Algorithm& algorithm, const Options& o, bool forward) {
    const Request request = resolve(o, algorithm);
    Outcome p = run_numeric_or_not(algorithm, o, request);
    if (!p.report) return p;
    if (forward) p.report = with_forward(*p.report, request.wish, &control());
    std::vector<std::string> remarks = about_wrong_outputs(*p.report);
    if (const std::string why = why_incomplete(*p.report); !why.empty()) remarks.push_back(why);
    p.remark = text::join(remarks, "; ");
    return p;
}

struct SweepRequest {
    Options options;
    std::vector<std::string> variants, vary;
    std::string out, with;
};

/// The settings of the n-th point. The last key varies fastest.
Settings settings_of(const std::vector<SweepAxis>& axes, std::size_t n) {
    Settings settings;
    for (std::size_t k = axes.size(); k-- > 0;) {
        settings.emplace_back(axes[k].key, axes[k].values[n % axes[k].values.size()]);
        n /= axes[k].values.size();
    }
    return settings;
}

/// The algorithm and the options of the n-th point of a variant.
Named point_of(const SweepRequest& s, Variant variant, const std::vector<SweepAxis>& axes, std::size_t n) {
    for (auto& setting : settings_of(axes, n)) variant.settings.push_back(std::move(setting));
    return named(variant, s.options);
}

void sweep(const SweepRequest& s) {
    std::vector<Variant> list;
    for (const std::string& n : s.variants) list.push_back(chosen_variant(n));
    check_ending("--output", s.out, {s.options.json ? ".json" : ".csv"});
    bool forward = false;
    for (const Variant& v : list) forward = asks_for_forward(s.with, *v.algorithm);
    std::vector<SweepAxis> axes;
    double points = static_cast<double>(list.size());
    for (const std::string& v : s.vary) {
        axes.push_back(parse_axis(v));
        points *= static_cast<double>(axes.back().values.size());
    }
    if (points > most_points) throw UsageError(message("sweep.too_many", text::number(points)));
    // Every point is checked before the first one runs.
    const std::size_t per_variant = static_cast<std::size_t>(points) / list.size();
    for (const Variant& v : list)
        for (std::size_t n = 0; n < per_variant; ++n) {
            check_stop(&control());
            const Named point = point_of(s, v, axes, n);
            resolve(point.options, *point.algorithm);
        }

    std::atomic<std::size_t> done{0};
    const Progress progress([&] { return message("sweep.done", std::to_string(done), text::count(points)); });
    std::optional<AtomicFile> file;
    if (!s.out.empty()) file.emplace(s.out);
    RowWriter writer(file ? file->stream() : std::cout, s.options.json);
    const auto variant_of = [&](Index k) -> const Variant& { return list[static_cast<std::size_t>(k) / per_variant]; };
    const auto point = [&](Index k) {
        return point_of(s, variant_of(k), axes, static_cast<std::size_t>(k) % per_variant);
    };
    const auto evaluate = [&](Index k) {
        const Named n = point(k);
        return run_point(*n.algorithm, n.options, forward);
    };
    std::vector<std::string> wrong;
    // With real numbers a single run keeps all cores and the memory busy, so runs go one after the other.
    study(static_cast<Index>(points), s.options.mode == "count" ? static_cast<int>(s.options.threads) : 1, evaluate,
          [&](Index k, const Outcome& outcome) {
              const Named n = point(k);
              const Request request = resolve(n.options, *n.algorithm);
              writer.add({variant_of(k).label, request.model, request.phase, outcome}), ++done;
              if (outcome.report) wrong.push_back(wrong_in_short(*outcome.report));
          });
    writer.finish();
    if (file) file->commit();
    fail_where_wrong(wrong);
}

}  // namespace

void add_sweep(CLI::App& app) {
    static SweepRequest request;
    CLI::App* sub = app.add_subcommand("sweep", message("sweep.command"));
    add_variants_argument(*sub, request.variants)->required();
    sub->add_option("--vary", request.vary, message("sweep.vary_flag"))->take_all()->allow_extra_args(false);
    sub->add_option("-o,--output", request.out, message("sweep.output_flag"))->type_name("FILE");
    add_with_option(*sub, request.with);
    request.options.mode = "count";
    add_problem_options(*sub, request.options);
    add_numeric_options(*sub, request.options);
    add_json_option(*sub, request.options);
    sub->footer(message("help.keys", text::join(settable_flags(), ", ")) + '\n' + message("sweep.whole_numbers") +
                '\n' + examples({"sweep.example", "sweep.example_tiles", "sweep.example_sram", "sweep.example_gpus"}) +
                '\n' + paragraph(message("sweep.footer")));
    sub->callback([] { sweep(request); });
}

}  // namespace tilescope::cli
