// `tilescope sweep ALGO... --vary KEY=VALUES`: a table of runs over ranges of sizes, tiles and machines, as CSV.
#include "lab/sweep.hpp"

#include <iostream>
#include <memory>
#include <sstream>

#include "cli/commands.hpp"
#include "cli/json.hpp"
#include "cli/progress.hpp"
#include "core/text/numbers.hpp"
#include "core/text/words.hpp"
#include "lab/atomic_file.hpp"
#include "lab/reference.hpp"

namespace tilescope::cli {
using namespace lab;
namespace {

constexpr double most_points = 1e6;

/// One row: what ran, or why it did not.
struct Point {
    Experiment experiment;
    std::optional<Report> report;
};

const std::vector<std::string>& columns() {
    static const std::vector<std::string> all = [] {
        std::vector<std::string> c = {"algorithm", "batch", "heads",  "kv_heads", "seq_q", "seq_k",          "dim",
                                      "dim_v",     "dtype", "causal", "gpu",      "sms",   "sram_per_block", "hbm_gbs",
                                      "br",        "bc",    "mode",   "fits"};
        for (const auto& field : Counters::fields) c.push_back(field.name);
        for (const char* more : {"sram_peak_bytes", "register_peak_bytes", "hbm_footprint_bytes", "hbm_extra_bytes",
                                 "arithmetic_intensity", "max_abs_error", "rms_error"})
            c.push_back(more);
        return c;
    }();
    return all;
}

/// Values in the order of columns(); null where a run has none.
std::vector<Json> values(const Point& p) {
    const Experiment& e = p.experiment;
    const Problem& w = e.problem;
    std::vector<Json> v = {e.algorithm->name,
                           w.batch,
                           w.heads,
                           w.kv_heads,
                           w.seq_q,
                           w.seq_k,
                           w.dim,
                           w.dim_v,
                           name_of(w.dtype),
                           w.mask.is_causal(),
                           e.gpu.name,
                           e.gpu.sms,
                           e.gpu.sram_per_block,
                           e.gpu.hbm_gbs,
                           e.tiling.br,
                           e.tiling.bc};
    if (p.report) {
        const Report& r = *p.report;
        v.insert(v.end(), {r.numeric ? "numeric" : "count", true});
        for (const auto& [name, member] : Counters::fields) v.push_back(r.counters.*member);
        v.insert(v.end(), {r.sram_peak, r.register_peak, r.hbm_footprint, r.hbm_extra, r.arithmetic_intensity()});
        if (const OutputError* error = r.error(); error && error->not_finite == 0)
            v.insert(v.end(), {error->max_abs, error->rms});
    } else {
        v.insert(v.end(), {nullptr, false});
    }
    v.resize(columns().size());
    return v;
}

std::string csv_cell(const Json& v) {
    if (v.is_null()) return "";
    if (!v.is_string()) return v.dump();
    const auto& s = v.get_ref<const std::string&>();
    if (s.find_first_of(",\"\n") == std::string::npos) return s;
    std::string quoted = "\"";
    for (const char c : s) quoted += c == '"' ? "\"\"" : std::string(1, c);
    return quoted + '"';
}

/// Writes rows as they come: CSV lines, or members of a JSON array.
class RowWriter {
  public:
    RowWriter(std::ostream& out, bool json) : out_(out), json_(json) {
        out_ << (json_ ? "[" : text::join(columns(), ",") + "\n");
    }
    void add(const Point& p) {
        const auto v = values(p);
        if (json_) {
            Json j;
            for (std::size_t c = 0; c < v.size(); ++c) j[columns()[c]] = v[c];
            out_ << (first_ ? "\n  " : ",\n  ") << j.dump();
        } else {
            for (std::size_t c = 0; c < v.size(); ++c) out_ << (c ? "," : "") << csv_cell(v[c]);
            out_ << '\n';
        }
        first_ = false;
    }
    void finish() { out_ << (json_ ? "\n]\n" : "") << std::flush; }

  private:
    std::ostream& out_;
    bool json_, first_ = true;
};

Point run_point(const Algorithm& algorithm, const Options& o) {
    const Request request = resolve(o, algorithm);
    Point p{{&algorithm, request.problem, choose_tiling(algorithm, request.problem, request.given, request.gpu),
             request.gpu},
            std::nullopt};
    try {
        p.report = count(p.experiment, &control());
    } catch (const OutOfChipMemory&) {
        return p;
    }
    if (!choose_mode(o, request, {*p.report}).numeric) return p;
    const Inputs inputs = inputs_for(o, request, algorithm, &control());
    p.report = with_way_back(algorithm, o,
                             [&] { return execute(p.experiment, inputs, static_cast<int>(o.threads), &control()); });
    p.report->errors = compare_with_reference(*algorithm.computes, request.problem, inputs, {p.report->outputs},
                                              static_cast<int>(o.threads), &control())[0];
    return p;
}

struct SweepRequest {
    Options options;
    std::vector<std::string> algorithms, vary;
    std::string out;
};

/// The options of the n-th point: the last key varies fastest.
Options point_options(const Options& base, const std::vector<SweepAxis>& axes, std::size_t n) {
    Options o = base;
    for (std::size_t k = axes.size(); k-- > 0;) {
        set_flag(o, axes[k].key, axes[k].values[n % axes[k].values.size()]);
        n /= axes[k].values.size();
    }
    return o;
}

void sweep(const SweepRequest& s) {
    std::vector<const Algorithm*> list;
    for (const std::string& n : s.algorithms) list.push_back(&chosen_algorithm(n));
    std::vector<SweepAxis> axes;
    double points = static_cast<double>(list.size());
    for (const std::string& v : s.vary) {
        axes.push_back(parse_axis(v));
        points *= static_cast<double>(axes.back().values.size());
    }
    if (points > most_points)
        throw UsageError("--vary: " + text::number(points) + " runs; at most 1000000, use fewer values");
    // Every point is checked before the first one runs.
    const std::size_t per_algorithm = static_cast<std::size_t>(points) / list.size();
    for (const Algorithm* a : list)
        for (std::size_t n = 0; n < per_algorithm; ++n) {
            check_stop(&control());
            resolve(point_options(s.options, axes, n), *a);
        }

    std::atomic<std::size_t> done{0};
    const Progress progress([&] { return std::to_string(done) + " of " + text::count(points) + " runs"; });
    std::optional<AtomicFile> file;
    if (!s.out.empty()) file.emplace(s.out);
    RowWriter writer(file ? file->stream() : std::cout, s.options.json);
    for (const Algorithm* a : list)
        for (std::size_t n = 0; n < per_algorithm; ++n, ++done)
            writer.add(run_point(*a, point_options(s.options, axes, n)));
    writer.finish();
    if (file) file->commit();
}

}  // namespace

void add_sweep(CLI::App& app) {
    static SweepRequest request;
    CLI::App* sub = app.add_subcommand("sweep", "Vary sizes, tiles or the machine; CSV, one row per run");
    sub->add_option("ALGO", request.algorithms, "Algorithms (see `tilescope list`)")->required();
    sub->add_option("--vary", request.vary, "KEY=first:last:xFACTOR, KEY=first:last:+STEP or KEY=v1,v2,...; repeatable")
        ->required()
        ->take_all()
        ->allow_extra_args(false);
    sub->add_option("-o,--output", request.out, "Write to a file instead of standard output")->type_name("FILE");
    request.options.mode = "count";
    add_problem_options(*sub, request.options);
    add_numeric_options(*sub, request.options);
    add_json_option(*sub, request.options);
    sub->footer("Keys: " + text::join(settable_flags(), ", ") +
                "\n"
                "Examples:\n"
                "  tilescope sweep standard flash_v1 flash_v2 --vary seq=256:16384:x2 -o sweep.csv\n"
                "  tilescope sweep flash_v1 --vary bc=64,128,256,512 --br 64 --seq 1024\n"
                "  tilescope sweep flash_v2 --vary sram=16:256:x2 --vary dim=64,128 --causal\n"
                "A tiling that does not fit is a row with fits=false.");
    sub->callback([] { sweep(request); });
}

}  // namespace tilescope::cli
