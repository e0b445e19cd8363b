#include "lab/report/metric.hpp"

#include <algorithm>
#include <cmath>

#include "core/machine/error.hpp"
#include "core/text/numbers.hpp"
#include "core/text/words.hpp"

namespace tilescope::lab {
namespace {

template <Bytes Report::*member>
MetricValue bytes(const Report& r) {
    return r.*member;
}

template <class T>
MetricValue or_nothing(const std::optional<T>& value) {
    return value ? MetricValue(*value) : MetricValue();
}

/// A value of a run's time; nothing for a run without one.
template <auto value>
MetricValue timed(const Report& r) {
    return r.time ? MetricValue(value(*r.time)) : MetricValue();
}

/// A number of the DRAM traffic of a run or of a launch; nothing where there is none.
template <Bytes DramTraffic::*member>
MetricValue of_dram(const std::optional<DramTraffic>& dram) {
    return dram ? MetricValue((*dram).*member) : MetricValue();
}

template <Bytes DramTraffic::*member>
MetricValue of_dram_of_launch(const Launch& l) {
    return of_dram<member>(l.time ? l.time->dram : std::nullopt);
}

template <double OutputError::*member>
MetricValue error(const Report& r) {
    const OutputError* e = r.error();
    return e && e->tells() ? MetricValue(e->*member) : MetricValue();
}

using enum Evidence;

/// A metric of any counters: a sum, which JSON lists among the counters, or a value that follows from several.
template <auto value>
constexpr Metric of_counters(const char* key, const char* title, const char* brief, MetricUnit unit,
                             const char* meaning, bool sum = true) {
    return {.key = key,
            .title = title,
            .brief = brief,
            .unit = unit,
            .meaning = meaning,
            .evidence = counted,
            .of = [](const Report& r) { return MetricValue(value(r.counters)); },
            .of_counters = [](const Counters& c) { return MetricValue(value(c)); },
            .among_counters = sum};
}

/// One of the counters, by the name that it has everywhere.
template <Count Counters::*member>
constexpr Metric counter(const char* title, const char* brief, MetricUnit unit, const char* meaning) {
    const char* key = nullptr;
    for (const Counters::Field& f : Counters::fields)
        if (f.member == member) key = f.name;
    return of_counters<[](const Counters& c) { return c.*member; }>(key, title, brief, unit, meaning);
}

/// A metric of a launch; for a run, the value of its longest launch.
template <auto value>
constexpr Metric of_launch(const char* key, const char* title, const char* brief, MetricUnit unit,
                           const char* meaning) {
    return {.key = key,
            .title = title,
            .brief = brief,
            .unit = unit,
            .meaning = meaning,
            .evidence = modelled,
            .of = timed<[](const RunTime& t) { return value(t.longest()); }>,
            .of_launch = [](const Launch& l) { return l.time ? MetricValue(value(*l.time)) : MetricValue(); }};
}

/// The metric, with a value for single launches, too.
constexpr Metric with_launch(Metric m, MetricValue (*of)(const Launch&)) {
    m.of_launch = of;
    return m;
}

constexpr Metric as_share(Metric m) {
    m.share = true;
    return m;
}

constexpr Metric among_counters(Metric m) {
    m.among_counters = true;
    return m;
}

constexpr Metric
    all_metrics
        [] =
            {
                counter<&Counters::hbm_read>("SM read", "SM rd", MetricUnit::bytes,
                                             "bytes that SMs read across their boundary, whether the L2 has them or "
                                             "not; the papers' HBM accesses"),
                counter<&Counters::hbm_write>("SM written", "SM wr", MetricUnit::bytes,
                                              "bytes that SMs write across their boundary; the papers' HBM accesses"),
                counter<&Counters::hbm_reduce>("SM reduced", "SM red", MetricUnit::bytes,
                                               "bytes that SMs send across their boundary, one way, to be added to "
                                               "what is there, neither read nor written"),
                counter<&Counters::sram_read>("SRAM read", "SRAM rd", MetricUnit::bytes,
                                              "read from SRAM by operations"),
                counter<&Counters::sram_write>("SRAM written", "SRAM wr", MetricUnit::bytes, "written to SRAM"),
                counter<&Counters::register_read>("registers read", "regs rd", MetricUnit::bytes,
                                                  "read from tiles in registers"),
                counter<&Counters::register_write>("registers written", "regs wr", MetricUnit::bytes,
                                                   "written to tiles in registers"),
                counter<&Counters::matmul_flops>("matmul FLOPs", "matmul", MetricUnit::flops,
                                                 "of matrix products; a multiply-add is 2"),
                counter<&Counters::exps>("exponentials", "exp", MetricUnit::none, "exponentials"),
                counter<&Counters::other_flops>("other FLOPs", "other", MetricUnit::flops, "all other arithmetic"),
                counter<&Counters::launches>("launches", "launch", MetricUnit::none, "kernel launches"),
                with_launch(counter<&Counters::thread_blocks>("thread blocks", "blocks", MetricUnit::none,
                                                              "thread blocks of all launches"),
                            [](const Launch& l) { return MetricValue(l.counted.thread_blocks); }),
                with_launch({"sram_peak_bytes", "SRAM of a thread block", "SRAM", MetricUnit::bytes,
                             "most SRAM that a thread block uses at once, over all launches", counted,
                             bytes<&Report::sram_peak>},
                            [](const Launch& l) { return MetricValue(l.counted.sram_peak); }),
                with_launch({"register_peak_bytes", "registers of a thread block", "registers", MetricUnit::bytes,
                             "most registers that the tiles of a thread block use at once, over all launches", counted,
                             bytes<&Report::register_peak>},
                            [](const Launch& l) { return MetricValue(l.counted.register_peak); }),
                {"hbm_footprint_bytes", "HBM footprint", "footprint", MetricUnit::bytes,
                 "all tensors: inputs, outputs and scratch", counted, bytes<&Report::hbm_footprint>},
                {"hbm_extra_bytes", "extra memory", "extra", MetricUnit::bytes,
                 "tensors beyond the inputs and the output that the computation defines", counted,
                 bytes<&Report::hbm_extra>},
                of_counters<lab::arithmetic_intensity>(
                    "arithmetic_intensity", "FLOPs per SM byte", "FLOP/SM B", MetricUnit::flops_per_byte,
                    "all FLOPs (matrix, exponentials, other) over the bytes of SM traffic", false),
                among_counters(
                    {"compulsory_bytes", "compulsory", "compuls.", MetricUnit::bytes,
                     "inputs read once and outputs written once: what every algorithm has to move", counted,
                     [](const Report& r) { return MetricValue(r.compulsory_read() + r.compulsory_written()); }}),
                {"fits_hbm", "fits in HBM", "fits", MetricUnit::none,
                 "whether all tensors have room in the GPU's memory; without, there is no time", counted,
                 [](const Report& r) { return MetricValue(r.fits_hbm()); }},
                with_launch(among_counters({"dram_read_bytes", "DRAM read", "DRAM rd", MetricUnit::bytes,
                                            "what the L2 lacks of what SMs read", modelled,
                                            [](const Report& r) { return of_dram<&DramTraffic::read>(r.dram()); }}),
                            of_dram_of_launch<&DramTraffic::read>),
                with_launch(among_counters(
                                {"dram_write_bytes", "DRAM written", "DRAM wr", MetricUnit::bytes,
                                 "what leaves the L2 for DRAM; what stays there when a launch ends is not counted",
                                 modelled, [](const Report& r) { return of_dram<&DramTraffic::written>(r.dram()); }}),
                            of_dram_of_launch<&DramTraffic::written>),
                as_share(among_counters({"l2_hit_rate", "L2 hits", "L2 hits", MetricUnit::none,
                                         "share of the bytes that SMs read which the L2 has", modelled,
                                         [](const Report& r) { return or_nothing(r.l2_hit_rate()); }})),
                {"dram_intensity", "FLOPs per DRAM byte", "FLOP/DRAM", MetricUnit::flops_per_byte,
                 "all FLOPs over the bytes of DRAM traffic", modelled,
                 [](const Report& r) { return or_nothing(r.dram_intensity()); }},
                with_launch(
                    {"time_us", "time", "time", MetricUnit::microseconds, "of the whole run, launch after launch",
                     modelled, timed<[](const RunTime& t) { return t.us(); }>},
                    [](const Launch& l) { return l.time ? MetricValue(l.time->us) : MetricValue(); }),
                {"time_basis", "basis", "basis", MetricUnit::none,
                 "what the time rests on: own_style, other_style or assumed", modelled,
                 timed<[](const RunTime& t) { return std::string(name_of(t.basis)); }>},
                of_launch<[](const LaunchTime& l) { return std::string(name_of(l.bound)); }>(
                    "bound", "bound", "bound", MetricUnit::none, "what the longest launch waits for"),
                of_launch<[](const LaunchTime& l) { return Count{l.residency.blocks}; }>(
                    "blocks_per_sm", "blocks on an SM", "blocks/SM", MetricUnit::none,
                    "thread blocks resident on an SM, in that launch"),
                of_launch<[](const LaunchTime& l) { return l.waves; }>(
                    "waves", "waves", "waves", MetricUnit::none,
                    "its thread blocks over those that are resident on all SMs"),
                of_launch<[](const LaunchTime& l) { return Count{l.sms}; }>(
                    "sms_in_use", "SMs in use",
                    "SMs used", MetricUnit::none,
                    "SMs that have one of them at all"),
                {"max_abs_error", "max error", "max error", MetricUnit::none,
                 "largest difference from the double-precision reference, of the main output (O or Y)", computed,
                 error<&OutputError::max_abs>},
                {"rms_error", "RMS error", "RMS error", MetricUnit::none,
                 "root of the mean square of these differences", computed, error<&OutputError::rms>},
                of_counters<[](const Counters& c) { return c.hbm(); }>(
                    "hbm_bytes", "SM traffic",
                    "SM traffic", MetricUnit::bytes,
                    "bytes that cross an SM's boundary, whether the L2 has them or not; the papers' HBM accesses"),
                among_counters({"dram_bytes", "DRAM traffic",
                                "DRAM", MetricUnit::bytes, "DRAM traffic, read and written", modelled,
                                [](const Report& r) {
                                    const auto dram = r.dram();
                                    return dram ? MetricValue(dram->total()) : MetricValue();
                                }}),
                {"flops_per_s", "FLOP/s", "FLOP/s", MetricUnit::flops_per_second,
                 "FLOPs of matrix products over the time, of the tiles that are computed", modelled,
                 [](const Report& r) {
                     return r.time ? MetricValue(static_cast<double>(r.counters.matmul_flops) / r.time->us() * 1e6)
                                   : MetricValue();
                 }},
                of_launch<[](const LaunchTime& l) { return std::string(name_of(l.residency.limit)); }>(
                    "limited_by", "limited by", "limited by", MetricUnit::none,
                    "what keeps more thread blocks off an SM, in the longest launch"),
                as_share(of_launch<[](const LaunchTime& l) { return l.tail; }>(
                    "tail", "tail", "tail", MetricUnit::none,
                    "share of the SMs' slots that is empty once the last thread block has started, in the longest "
                    "launch")),
                of_counters<[](const Counters& c) { return c.register_read + c.register_write; }>(
                    "register_bytes", "registers", "regs", MetricUnit::bytes, "tiles in registers, read and written"),
                among_counters({"compulsory_read_bytes", "compulsory, read", "comp. rd", MetricUnit::bytes,
                                "inputs, read once", counted,
                                [](const Report& r) { return MetricValue(r.compulsory_read()); }}),
                among_counters({"compulsory_write_bytes", "compulsory, written", "comp. wr", MetricUnit::bytes,
                                "outputs, written once", counted,
                                [](const Report& r) { return MetricValue(r.compulsory_written()); }}),
                of_launch<[](const LaunchTime& l) { return l.compiled; }>(
                    "registers_compiled", "registers compiled", "compiled", MetricUnit::none,
                    "whether registers are those of a compiled kernel, in the longest launch; else a rule's"),
                of_launch<[](const LaunchTime& l) { return l.imbalance; }>(
                    "imbalance", "imbalance", "imbalance", MetricUnit::none,
                    "time of its longest thread block over the mean"),
                of_launch<[](const LaunchTime& l) { return l.resident; }>("resident_blocks", "blocks on an SM, mean",
                                                                          "mean/SM", MetricUnit::none,
                                                                          "its thread blocks on an SM, on average"),
                of_launch<[](const LaunchTime& l) { return l.clock_mhz; }>("clock_mhz", "clock", "clock",
                                                                           MetricUnit::megahertz, "at which it runs"),
                of_launch<[](const LaunchTime& l) { return l.steps; }>(
                    "steps", "loop steps", "steps", MetricUnit::none,
                    "turns of its main loop that a thread block has, on average"),
                of_launch<[](const LaunchTime& l) { return Count{l.warps}; }>(
                    "warps", "warps of a thread block", "warps", MetricUnit::none, "of its thread blocks"),
                of_launch<[](const LaunchTime& l) { return Count{l.registers}; }>(
                    "registers_per_thread", "registers of a thread", "regs/thr", MetricUnit::none,
                    "in the longest launch: as compiled, or by a rule; at most 255"),
                with_launch({"would_spill", "would spill", "spills", MetricUnit::none,
                             "whether a thread would need more registers than there are: no kernel would run like that",
                             modelled, timed<[](const RunTime& t) { return t.spills(); }>},
                            [](const Launch& l) { return l.time ? MetricValue(l.time->spills) : MetricValue(); }),
                {"useful_flops", "useful FLOPs", "useful", MetricUnit::flops,
                 "FLOPs that the problem needs, the same for all algorithms: of its matrix products, for queries and "
                 "keys that the mask leaves; of a softmax, three an element",
                 counted, [](const Report& r) { return MetricValue(r.useful_flops()); }},
                {"useful_flops_per_s", "useful FLOP/s", "useful/s", MetricUnit::flops_per_second,
                 "useful FLOPs over the time: what texts and the roofline call TFLOP/s", modelled,
                 [](const Report& r) { return or_nothing(r.useful_flops_per_s()); }},
};

}  // namespace

const char* name_of(Evidence evidence) {
    constexpr const char* names[] = {"counted", "computed", "modelled"};
    return names[static_cast<std::size_t>(evidence)];
}

const char* name_of(MetricUnit unit) {
    constexpr const char* names[] = {"", "B", "us", "MHz", "FLOP", "FLOP/B", "FLOP/s"};
    return names[static_cast<std::size_t>(unit)];
}

std::vector<Launch> launches_of(const Report& r) {
    std::vector<Launch> launches;
    for (std::size_t k = 0; k < r.launches.size(); ++k)
        launches.push_back({r.launches[k], r.time ? &r.time->launches[k] : nullptr});
    return launches;
}

std::span<const Metric> metrics() { return all_metrics; }

const Metric* find_metric(std::string_view key) {
    for (const Metric& m : all_metrics)
        if (m.key == key) return &m;
    return nullptr;
}

const Metric& metric_named(const std::string& flag, const std::string& key) {
    if (const Metric* m = find_metric(key)) return *m;
    std::vector<std::string> keys;
    for (const Metric& m : all_metrics) keys.emplace_back(m.key);
    throw UsageError(flag + " " + text::shown(key) + ": is not a metric" + text::did_you_mean("; ", key, keys, ";") +
                     " `tilescope list --metrics` has all of them");
}

std::optional<bool> more_is_better(const Metric& m) {
    const std::string_view key = m.key;
    for (const char* more :
         {"arithmetic_intensity", "dram_intensity", "l2_hit_rate", "flops_per_s", "useful_flops_per_s", "sms_in_use"})
        if (key == more) return true;
    for (const char* less : {"hbm_read_bytes", "hbm_write_bytes", "hbm_reduce_bytes", "hbm_bytes", "dram_read_bytes",
                             "dram_write_bytes", "dram_bytes", "time_us", "tail"})
        if (key == less) return false;
    return std::nullopt;
}

std::optional<double> number_of(const Metric& metric, const Report& report) {
    const MetricValue v = metric.of(report);
    return number_in(v);
}

std::optional<double> number_in(const MetricValue& v) {
    if (const Count* n = std::get_if<Count>(&v)) return static_cast<double>(*n);
    if (const double* x = std::get_if<double>(&v)) return *x;
    return std::nullopt;
}

double end_of_shades(const Metric& m, double least, double most) {
    constexpr double least_contrast = 1.5;
    return !m.share && least > 0 && most >= least ? std::max(most, least_contrast * least) : most;
}

std::string shown(const Metric& m, const MetricValue& value) {
    const auto with_unit = [&](double x) {
        if (m.share) return text::percent(x);
        switch (m.unit) {
            case MetricUnit::bytes:
                return text::bytes(x);
            case MetricUnit::microseconds:
                return text::microseconds(x);
            case MetricUnit::flops:
            case MetricUnit::flops_per_second:
                return text::count(x) + (x < 1000 ? " " : "") + name_of(m.unit);
            default:
                return (x < 1000 ? text::number(x) : text::grouped(std::llround(x))) +
                       (m.unit == MetricUnit::megahertz ? " MHz" : "");
        }
    };
    if (const Count* n = std::get_if<Count>(&value)) return with_unit(static_cast<double>(*n));
    if (const double* x = std::get_if<double>(&value)) return with_unit(*x);
    if (const bool* b = std::get_if<bool>(&value)) return *b ? "yes" : "no";
    if (const std::string* s = std::get_if<std::string>(&value)) return *s;
    return "–";
}

}  // namespace tilescope::lab
