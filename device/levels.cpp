#include "device/levels.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>

#include "algorithms/contract/registry.hpp"
#include "core/text/message.hpp"
#include "core/text/numbers.hpp"
#include "lab/model/laned.hpp"
#include "lab/model/published_tiles.hpp"

namespace tilescope::device {
using namespace lab;
using text::message;
namespace {

// A sector, the lanes of a warp, and the FLOPs of a multiply-add.
constexpr double sector = 32, warp_lanes = 32, fma = 2;

double as_double(Count n) { return static_cast<double>(n); }

/// FLOPs of a warp's instruction on tensor cores: of an mma.m16n8k16, which both flash_v2's kernel here and PyTorch's
/// FlashAttention-2 issue. Kernels with lanes issue a warp's part of wgmma, 16 rows and 16 deep, which has as many
/// columns as a tile of S or of O: on average over both.
double flops_of_instruction(const Experiment& e) {
    constexpr double rows = 16, columns_of_mma = 8;
    const double deep = 32 / as_double(size_of(e.problem.query_type()));
    const auto dim = as_double(e.problem.dim), dim_v = as_double(e.problem.dim_v), keys = as_double(e.tiling.bc);
    const double columns = has_timed_lanes(e) ? keys * (dim + dim_v) / (dim + keys) : columns_of_mma;
    return 2 * rows * deep * columns;
}

class Comparison {
  public:
    Comparison(const Report& report, std::span<const NcuLaunch> launches, Index runs)
        : report_(report), launches_(launches), runs_(runs) {}

    void count(Compared what, const char* metric, double factor, Count model, std::optional<Counted> counted) {
        Level* l = add(what, metric, factor, true, as_double(model));
        if (l && counted) l->causes = causes_of(*counted, report_.experiment, l->beyond());
    }
    /// nullptr where it was not measured.
    Level* model(Compared what, const char* metric, double factor, double number) {
        return add(what, metric, factor, false, number);
    }
    bool has(const char* metric) const { return sum_of(metric, launches_).has_value(); }

    Levels levels;

  private:
    Level* add(Compared what, const char* metric, double factor, bool counted, double number) {
        const auto all = sum_of(metric, launches_);
        if (!all) return levels.missing.push_back({what, metric, why_missing(metric)}), nullptr;
        const double measured = factor * (*all / static_cast<double>(runs_));
        return &levels.there.emplace_back(Level{what, metric, factor, counted, number, measured, {}, {}});
    }

    std::string why_missing(const char* metric) const {
        const auto there = std::ranges::count_if(launches_, [&](auto& l) { return l.metrics.contains(metric); });
        if (there > 0)
            return message("levels.in_some_launches", std::to_string(there), std::to_string(launches_.size()));
        const bool empty = std::ranges::any_of(launches_, [&](auto& l) { return l.not_available.contains(metric); });
        return message(empty ? "levels.not_available" : "levels.not_in_file");
    }

    const Report& report_;
    std::span<const NcuLaunch> launches_;
    Index runs_;
};

/// Whether a ratio is more than the tiles and masks of one problem explain.
bool off_by_much(double ratio) {
    constexpr double most = 1.3;
    return ratio > most || ratio < 1 / most;
}

/// To a hundredth: "3.98", "0.25".
std::string hundredths(double x) { return text::number(std::round(x * 100) / 100); }

/// A doubt about a kernel that ran with several grids; empty where each kernel has one.
std::string about_grids(std::span<const NcuLaunch> launches) {
    std::map<std::string, std::vector<std::string>> grids;
    for (const NcuLaunch& l : launches)
        if (auto& of = grids[l.kernel]; !l.grid.empty() && std::find(of.begin(), of.end(), l.grid) == of.end())
            of.push_back(text::shown(l.grid, 40));
    for (const auto& [kernel, of] : grids)
        if (of.size() > 1) return message("levels.several_grids", text::shown(kernel, 60), text::listed(of));
    return "";
}

/// The algorithm that a word of a kernel's name begins with: "standard_scores" is of standard; nullptr: none.
const Algorithm* word_of(std::string_view word) {
    const Algorithm* of = nullptr;
    std::size_t longest = 0;  // kernels of flash_v2_backward are not flash_v2's
    for (const Algorithm& a : algorithms()) {
        const std::string_view name = a.name;
        const bool begins = word.starts_with(name) && (word.size() == name.size() || word[name.size()] == '_');
        if (begins && name.size() > longest) of = &a, longest = name.size();
    }
    return of;
}

/// The algorithm that the first telling word of a kernel's name names, as in TileScope's own kernels; nullptr: none.
const Algorithm* named_after(std::string_view kernel) {
    constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    for (std::size_t at = 0, end; (at = kernel.find_first_of(letters, at)) != kernel.npos; at = end) {
        end = std::min(kernel.find_first_not_of(letters, at), kernel.size());
        if (const Algorithm* of = word_of(kernel.substr(at, end - at))) return of;
    }
    return nullptr;
}

/// The whole numbers among the template arguments of what begins at `at`: "64" and "128" of "traits<64, half_t,
/// (int)128>".
std::vector<Index> template_numbers(std::string_view kernel, std::size_t at) {
    at = std::min(kernel.find('<', at), kernel.size());
    const std::size_t end = std::min(kernel.find(">(", at), kernel.size());
    std::vector<Index> numbers;
    while (at < end) {
        const std::size_t next = std::min(kernel.find_first_of(",<>", at + 1), end);
        std::string_view argument = kernel.substr(at + 1, next - at - 1);
        at = next;
        while (argument.starts_with(' ')) argument.remove_prefix(1);
        if (argument.starts_with("(int)")) argument.remove_prefix(5);
        std::int64_t value = 0;
        if (argument.find_first_not_of("0123456789") == argument.npos && text::to_whole(argument, value) == std::errc())
            numbers.push_back(value);
    }
    return numbers;
}

/// The tiles that a kernel's name has: of FlashAttention-2's library d, Br and Bc in "Flash_fwd_kernel_traits<64, 128,
/// 128, 4, ..."; of TileScope's own forward kernels Br, Bc and a head dimension.
std::optional<Tiling> tiles_in_name(std::string_view kernel, const Algorithm& asked) {
    if (const std::size_t traits = kernel.find("kernel_traits<"); traits != kernel.npos) {
        const std::vector<Index> numbers = template_numbers(kernel, traits);
        return numbers.size() > 2 ? std::optional(Tiling{numbers[1], numbers[2]}) : std::nullopt;
    }
    if (named_after(kernel) != &asked || asked.computes != &computation::attention) return std::nullopt;
    const std::vector<Index> numbers = template_numbers(kernel, kernel.find(asked.name));
    return numbers.size() > 2 ? std::optional(Tiling{numbers[0], numbers[1]}) : std::nullopt;
}

/// A doubt about a kernel that is named after another algorithm; empty where none is.
std::string about_names(const Algorithm& asked, std::span<const NcuLaunch> launches) {
    for (const NcuLaunch& l : launches)
        if (const Algorithm* of = named_after(l.kernel); of && of != &asked)
            return message("levels.named_otherwise", text::shown(l.kernel, 60), of->name);
    return "";
}

/// Thread blocks of "(8, 16, 1)"; nullopt where that is no grid.
std::optional<Count> blocks_of(std::string_view grid) {
    Count product = 1;
    int sides = 0;
    for (std::size_t at = 0; (at = grid.find_first_of("0123456789", at)) != grid.npos; ++sides) {
        const std::size_t end = std::min(grid.find_first_not_of("0123456789", at), grid.size());
        std::int64_t side = 0;
        if (text::to_whole(grid.substr(at, end - at), side) != std::errc() || side < 1 || side > 0x7fff'ffff)
            return std::nullopt;
        if (product > std::numeric_limits<std::int64_t>::max() / side) return std::nullopt;
        product *= side, at = end;
    }
    return sides == 3 ? std::optional(product) : std::nullopt;
}

/// A doubt about launches with more or fewer thread blocks than the model's, where each is one of the model's; else
/// empty. A kernel may deal work out otherwise, so this is asked only where FLOPs do not tell.
std::string about_blocks(const Report& r, std::span<const NcuLaunch> launches) {
    if (launches.size() % r.launches.size() != 0) return "";
    for (std::size_t k = 0; k < launches.size(); ++k) {
        const auto blocks = blocks_of(launches[k].grid);
        const std::size_t of_run = k % r.launches.size();
        const Count modelled = r.time ? started(r.time->launches[of_run]) : r.launches[of_run].thread_blocks;
        if (blocks && *blocks != modelled)
            return message("levels.other_blocks", text::shown(launches[k].kernel, 60), *blocks, modelled);
    }
    return "";
}

std::string size_of_tiles(const Tiling& t) { return text::grouped(t.br) + " x " + text::grouped(t.bc); }

/// A doubt about a kernel with other tiles than the run: its name says so, or equal FLOPs with other bytes; or empty.
std::string about_tiles(const Experiment& e, std::span<const NcuLaunch> launches, std::optional<double> flops,
                        std::optional<double> reads) {
    const std::string asked = size_of_tiles(e.tiling);
    for (const NcuLaunch& l : launches)
        if (const auto tiles = tiles_in_name(l.kernel, *e.algorithm);
            tiles && cut_to(e.problem, *tiles) != cut_to(e.problem, e.tiling))
            return message("levels.other_tiles_in_name", size_of_tiles(*tiles), asked, std::to_string(tiles->br),
                           std::to_string(tiles->bc));
    if (!flops || !reads || off_by_much(*flops) || !off_by_much(*reads)) return "";
    return message("levels.other_tiles", hundredths(*reads), asked);
}

/// Reasons to doubt that the file is of this run.
std::vector<std::string> doubts(const Report& r, std::span<const NcuLaunch> launches,
                                const std::vector<Level>& levels) {
    std::vector<std::string> said;
    const GpuSpec& gpu = r.experiment.gpu;
    const Measured m = combine(launches);
    for (const NcuLaunch& l : launches)
        if (!l.compute_capability.empty() && l.compute_capability != gpu.compute_capability &&
            gpu.compute_capability != "none") {
            said.push_back(message("levels.other_capability", text::shown(l.compute_capability, 20), gpu.name,
                                   gpu.compute_capability));
            break;
        }
    if (said.empty() && m.sms && std::llround(*m.sms) != gpu.sms)
        said.push_back(message("levels.other_gpu", std::llround(*m.sms), gpu.name, gpu.sms));
    if (const auto kernels = kernels_of({launches.begin(), launches.end()}).size(); kernels > r.launches.size())
        said.push_back(message("levels.other_kernels", std::to_string(kernels), r.experiment.algorithm->name,
                               std::to_string(r.launches.size())));
    if (const std::string of_grids = about_grids(launches); !of_grids.empty()) said.push_back(of_grids);
    const auto of_model = [&](Compared what) -> std::optional<double> {
        const auto l = std::ranges::find(levels, what, &Level::what);
        return l != levels.end() && l->model > 0 ? std::optional(l->measured / l->model) : std::nullopt;
    };
    const auto flops = of_model(Compared::matrix_flops);
    if (flops && *flops == 0)
        said.push_back(message("levels.no_flops"));
    else if (flops && off_by_much(*flops))
        said.push_back(message(*flops > 1 ? "levels.more_flops" : "levels.fewer_flops", hundredths(*flops)));
    const auto add = [&](const std::string& words) {
        if (!words.empty()) said.push_back(words);
        return !words.empty();
    };
    // If the kernel is another algorithm's, its tiles and thread blocks tell nothing.
    if (!add(about_names(*r.experiment.algorithm, launches)) &&
        !add(about_tiles(r.experiment, launches, flops, of_model(Compared::sm_read))) && !flops && said.empty())
        add(about_blocks(r, launches));
    return said;
}

/// Compares DRAM bytes read and written apart, or their sum where a profile has only that.
void compare_dram(Comparison& c, const DramTraffic& dram) {
    const bool apart = c.has(NcuMetric::dram_read) || c.has(NcuMetric::dram_write);
    for (const char* together : {NcuMetric::dram, NcuMetric::dram_by_rate})
        if (!apart && c.has(together)) {
            c.model(Compared::dram_both, together, 1, as_double(dram.total()));
            return;
        }
    c.model(Compared::dram_read, NcuMetric::dram_read, 1, as_double(dram.read));
    c.model(Compared::dram_written, NcuMetric::dram_write, 1, as_double(dram.written));
}

std::vector<NcuLaunch> all_launches(const std::string& path) {
    if (path.ends_with(".ncu-rep")) throw UsageError(message("levels.is_report", text::shown(path)));
    constexpr std::size_t most = std::size_t{64} << 20;  // a profile of hundreds of kernels has tens of MiB
    const std::string text = read_text(path, most);
    std::vector<NcuLaunch> launches = parse_ncu(text);
    if (!launches.empty()) return launches;
    const std::string problem = ncu_problem(text);
    throw UsageError(problem.empty() ? message("levels.no_launches") : problem);
}

}  // namespace

const char* name_of(Compared what) {
    constexpr const char* names[] = {"SM traffic, read", "SM traffic, written", "SM traffic, to be added",
                                     "DRAM, read",       "DRAM, written",       "DRAM, both ways",
                                     "exponentials",     "matrix FLOPs",        "time"};
    return names[static_cast<std::size_t>(what)];
}

const char* unit_of(Compared what) {
    if (what == Compared::time) return "microseconds";
    return what == Compared::exponentials || what == Compared::matrix_flops ? "operations" : "bytes";
}

double Level::left() const {
    double left = beyond();
    for (const Cause& c : causes) left -= as_double(c.amount);
    return left;
}

std::optional<double> Level::percent(double amount) const {
    return model != 0 ? std::optional(100 * amount / model) : std::nullopt;
}

Levels levels_of(const Report& r, std::span<const NcuLaunch> launches, Index runs) {
    const Counters& c = r.counters;
    Comparison compared(r, launches, runs);
    compared.count(Compared::sm_read, NcuMetric::sm_read, 1, c.hbm_read, Counted::reads);
    compared.count(Compared::sm_written, NcuMetric::sm_write_sectors, sector, c.hbm_write, Counted::writes);
    if (c.hbm_reduce > 0)
        compared.count(Compared::sm_reduced, NcuMetric::sm_reduce_sectors, sector, c.hbm_reduce, std::nullopt);
    if (const auto dram = r.dram()) compare_dram(compared, *dram);
    compared.count(Compared::exponentials, NcuMetric::xu, warp_lanes, c.exps, Counted::exponentials);
    if (c.matmul_flops > 0 && r.experiment.problem.query_type() == Dtype::f32)
        compared.count(Compared::matrix_flops, NcuMetric::ffma, fma, c.matmul_flops, Counted::fma_flops);
    else if (c.matmul_flops > 0)
        compared.count(Compared::matrix_flops, NcuMetric::tensor, flops_of_instruction(r.experiment), c.matmul_flops,
                       std::nullopt);
    if (r.time)
        if (Level* time = compared.model(Compared::time, NcuMetric::time, 1e-3, r.time->us()))
            time->time_causes = time_causes(r, launches, runs);
    if (compared.levels.there.empty())
        throw UsageError(message("levels.no_metrics",
                                 text::join({NcuMetric::sm_read, NcuMetric::dram_read, NcuMetric::time}, ", ")));
    compared.levels.notes = doubts(r, launches, compared.levels.there);
    if (const auto spills = combine(launches).spills; spills && *spills > 0)
        compared.levels.notes.push_back(message("levels.spills", std::llround(*spills / static_cast<double>(runs))));
    return std::move(compared.levels);
}

Json to_json(const Level& l) {
    const auto percent = [&](double amount) {
        const auto p = l.percent(amount);
        return p ? Json(*p) : Json(nullptr);
    };
    Json j = {{"name", name_of(l.what)},
              {"metric", l.metric},
              {"factor", l.factor},
              {"unit", unit_of(l.what)},
              {"basis", l.counted ? "counted" : "modelled"},
              {"model", l.model},
              {"measured", l.measured},
              {"off_percent", percent(l.beyond())},
              {"causes", Json::array()},
              {"time_causes", Json::array()},
              {"left_percent", l.causes.empty() ? Json(nullptr) : percent(l.left())}};
    for (const Cause& c : l.causes)
        j["causes"].push_back({{"name", c.name}, {"amount", c.amount}, {"percent", percent(as_double(c.amount))}});
    for (const TimeCause& c : l.time_causes)
        j["time_causes"].push_back({{"name", c.name}, {"what", c.words}, {"us", c.us}});
    return j;
}

std::vector<std::string> kernels_of(const std::vector<NcuLaunch>& launches) {
    std::vector<std::string> names;
    for (const NcuLaunch& l : launches)
        if (std::ranges::find(names, l.kernel) == names.end()) names.push_back(l.kernel);
    return names;
}

std::vector<NcuLaunch> read_launches(const std::string& path, const std::string& only) {
    std::vector<NcuLaunch> launches = all_launches(path);
    std::vector<std::string> shown;
    for (const std::string& name : kernels_of(launches)) shown.push_back(text::shown(name, 60));
    std::erase_if(launches, [&](const NcuLaunch& l) { return l.kernel.find(only) == std::string::npos; });
    if (launches.empty()) throw UsageError(message("levels.none_called", text::shown(only), text::join(shown, ", ")));
    return launches;
}

}  // namespace tilescope::device
