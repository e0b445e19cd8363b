#include "lab/report/metric.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <iterator>

#include "core/machine/error.hpp"
#include "core/text/message.hpp"
#include "core/text/numbers.hpp"
#include "core/text/words.hpp"

namespace tilescope::lab {
using text::message;
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

/// All metrics, with ids of messages as title, brief and meaning.
constexpr Metric all_metrics[] = {
    counter<&Counters::hbm_read>("metric.hbm_read_bytes", "metric.hbm_read_bytes_brief", MetricUnit::bytes,
                                 "metric.hbm_read_bytes_about"),
    counter<&Counters::hbm_write>("metric.hbm_write_bytes", "metric.hbm_write_bytes_brief", MetricUnit::bytes,
                                  "metric.hbm_write_bytes_about"),
    counter<&Counters::hbm_reduce>("metric.hbm_reduce_bytes", "metric.hbm_reduce_bytes_brief", MetricUnit::bytes,
                                   "metric.hbm_reduce_bytes_about"),
    counter<&Counters::multicast>("metric.multicast_bytes", "metric.multicast_bytes_brief", MetricUnit::bytes,
                                  "metric.multicast_bytes_about"),
    counter<&Counters::sram_read>("metric.sram_read_bytes", "metric.sram_read_bytes_brief", MetricUnit::bytes,
                                  "metric.sram_read_bytes_about"),
    counter<&Counters::sram_write>("metric.sram_write_bytes", "metric.sram_write_bytes_brief", MetricUnit::bytes,
                                   "metric.sram_write_bytes_about"),
    counter<&Counters::register_read>("metric.register_read_bytes", "metric.register_read_bytes_brief",
                                      MetricUnit::bytes, "metric.register_read_bytes_about"),
    counter<&Counters::register_write>("metric.register_write_bytes", "metric.register_write_bytes_brief",
                                       MetricUnit::bytes, "metric.register_write_bytes_about"),
    counter<&Counters::matmul_flops>("metric.matmul_flops", "metric.matmul_flops_brief", MetricUnit::flops,
                                     "metric.matmul_flops_about"),
    counter<&Counters::exps>("metric.exps", "metric.exps_brief", MetricUnit::none, "metric.exps_about"),
    counter<&Counters::other_flops>("metric.other_flops", "metric.other_flops_brief", MetricUnit::flops,
                                    "metric.other_flops_about"),
    counter<&Counters::launches>("metric.launches", "metric.launches_brief", MetricUnit::none, "metric.launches_about"),
    with_launch(counter<&Counters::thread_blocks>("metric.thread_blocks", "metric.thread_blocks_brief",
                                                  MetricUnit::none, "metric.thread_blocks_about"),
                [](const Launch& l) { return MetricValue(l.counted.thread_blocks); }),
    with_launch({"sram_peak_bytes", "metric.sram_peak_bytes", "metric.sram_peak_bytes_brief", MetricUnit::bytes,
                 "metric.sram_peak_bytes_about", counted, bytes<&Report::sram_peak>},
                [](const Launch& l) { return MetricValue(l.counted.sram_peak); }),
    with_launch({"register_peak_bytes", "metric.register_peak_bytes", "metric.register_peak_bytes_brief",
                 MetricUnit::bytes, "metric.register_peak_bytes_about", counted, bytes<&Report::register_peak>},
                [](const Launch& l) { return MetricValue(l.counted.register_peak); }),
    {"hbm_footprint_bytes", "metric.hbm_footprint_bytes", "metric.hbm_footprint_bytes_brief", MetricUnit::bytes,
     "metric.hbm_footprint_bytes_about", counted, bytes<&Report::hbm_footprint>},
    {"hbm_extra_bytes", "metric.hbm_extra_bytes", "metric.hbm_extra_bytes_brief", MetricUnit::bytes,
     "metric.hbm_extra_bytes_about", counted, bytes<&Report::hbm_extra>},
    of_counters<lab::arithmetic_intensity>("arithmetic_intensity", "metric.arithmetic_intensity",
                                           "metric.arithmetic_intensity_brief", MetricUnit::flops_per_byte,
                                           "metric.arithmetic_intensity_about", false),
    among_counters({"compulsory_bytes", "metric.compulsory_bytes", "metric.compulsory_bytes_brief", MetricUnit::bytes,
                    "metric.compulsory_bytes_about", counted,
                    [](const Report& r) { return MetricValue(r.compulsory_read() + r.compulsory_written()); }}),
    {"fits_hbm", "metric.fits_hbm", "metric.fits_hbm_brief", MetricUnit::none, "metric.fits_hbm_about", counted,
     [](const Report& r) { return MetricValue(r.fits_hbm()); }},
    with_launch(among_counters({"dram_read_bytes", "metric.dram_read_bytes", "metric.dram_read_bytes_brief",
                                MetricUnit::bytes, "metric.dram_read_bytes_about", modelled,
                                [](const Report& r) { return of_dram<&DramTraffic::read>(r.dram()); }}),
                of_dram_of_launch<&DramTraffic::read>),
    with_launch(among_counters({"dram_write_bytes", "metric.dram_write_bytes", "metric.dram_write_bytes_brief",
                                MetricUnit::bytes, "metric.dram_write_bytes_about", modelled,
                                [](const Report& r) { return of_dram<&DramTraffic::written>(r.dram()); }}),
                of_dram_of_launch<&DramTraffic::written>),
    as_share(among_counters({"l2_hit_rate", "metric.l2_hit_rate", "metric.l2_hit_rate", MetricUnit::none,
                             "metric.l2_hit_rate_about", modelled,
                             [](const Report& r) { return or_nothing(r.l2_hit_rate()); }})),
    {"dram_intensity", "metric.dram_intensity", "metric.dram_intensity_brief", MetricUnit::flops_per_byte,
     "metric.dram_intensity_about", modelled, [](const Report& r) { return or_nothing(r.dram_intensity()); }},
    with_launch({"time_us", "metric.time_us", "metric.time_us", MetricUnit::microseconds, "metric.time_us_about",
                 modelled, timed<[](const RunTime& t) { return t.us(); }>},
                [](const Launch& l) { return l.time ? MetricValue(l.time->us) : MetricValue(); }),
    {"time_basis", "metric.time_basis", "metric.time_basis", MetricUnit::none, "metric.time_basis_about", modelled,
     timed<[](const RunTime& t) { return std::string(name_of(t.basis)); }>},
    of_launch<[](const LaunchTime& l) { return std::string(name_of(l.bound)); }>(
        "bound", "metric.bound", "metric.bound", MetricUnit::none, "metric.bound_about"),
    of_launch<[](const LaunchTime& l) { return Count{l.residency.blocks}; }>(
        "blocks_per_sm", "metric.blocks_per_sm", "metric.blocks_per_sm_brief", MetricUnit::none,
        "metric.blocks_per_sm_about"),
    of_launch<[](const LaunchTime& l) { return l.waves; }>("waves", "metric.waves", "metric.waves", MetricUnit::none,
                                                           "metric.waves_about"),
    of_launch<[](const LaunchTime& l) { return Count{l.sms}; }>(
        "sms_in_use", "metric.sms_in_use", "metric.sms_in_use_brief", MetricUnit::none, "metric.sms_in_use_about"),
    {"max_abs_error", "metric.max_abs_error", "metric.max_abs_error", MetricUnit::none, "metric.max_abs_error_about",
     computed, error<&OutputError::max_abs>},
    {"rms_error", "metric.rms_error", "metric.rms_error", MetricUnit::none, "metric.rms_error_about", computed,
     error<&OutputError::rms>},
    of_counters<[](const Counters& c) { return c.hbm(); }>("hbm_bytes", "metric.hbm_bytes", "metric.hbm_bytes",
                                                           MetricUnit::bytes, "metric.hbm_bytes_about"),
    among_counters({"dram_bytes", "metric.dram_bytes", "metric.dram_bytes_brief", MetricUnit::bytes,
                    "metric.dram_bytes_about", modelled,
                    [](const Report& r) {
                        const auto dram = r.dram();
                        return dram ? MetricValue(dram->total()) : MetricValue();
                    }}),
    {"flops_per_s", "metric.flops_per_s", "metric.flops_per_s", MetricUnit::flops_per_second,
     "metric.flops_per_s_about", modelled,
     [](const Report& r) {
         return r.time ? MetricValue(static_cast<double>(r.counters.matmul_flops) / r.time->us() * 1e6) : MetricValue();
     }},
    of_launch<[](const LaunchTime& l) { return std::string(name_of(l.residency.limit)); }>(
        "limited_by", "metric.limited_by", "metric.limited_by", MetricUnit::none, "metric.limited_by_about"),
    as_share(of_launch<[](const LaunchTime& l) { return l.tail; }>("tail", "metric.tail", "metric.tail",
                                                                   MetricUnit::none, "metric.tail_about")),
    of_counters<[](const Counters& c) { return c.register_read + c.register_write; }>(
        "register_bytes", "metric.register_bytes", "metric.register_bytes_brief", MetricUnit::bytes,
        "metric.register_bytes_about"),
    among_counters({"compulsory_read_bytes", "metric.compulsory_read_bytes", "metric.compulsory_read_bytes_brief",
                    MetricUnit::bytes, "metric.compulsory_read_bytes_about", counted,
                    [](const Report& r) { return MetricValue(r.compulsory_read()); }}),
    among_counters({"compulsory_write_bytes", "metric.compulsory_write_bytes", "metric.compulsory_write_bytes_brief",
                    MetricUnit::bytes, "metric.compulsory_write_bytes_about", counted,
                    [](const Report& r) { return MetricValue(r.compulsory_written()); }}),
    of_launch<[](const LaunchTime& l) { return l.compiled; }>("registers_compiled", "metric.registers_compiled",
                                                              "metric.registers_compiled_brief", MetricUnit::none,
                                                              "metric.registers_compiled_about"),
    of_launch<[](const LaunchTime& l) { return l.imbalance; }>("imbalance", "metric.imbalance", "metric.imbalance",
                                                               MetricUnit::none, "metric.imbalance_about"),
    of_launch<[](const LaunchTime& l) { return l.resident; }>("resident_blocks", "metric.resident_blocks",
                                                              "metric.resident_blocks_brief", MetricUnit::none,
                                                              "metric.resident_blocks_about"),
    of_launch<[](const LaunchTime& l) { return l.persistent; }>("persistent_blocks", "metric.persistent_blocks",
                                                                "metric.persistent_blocks_brief", MetricUnit::none,
                                                                "metric.persistent_blocks_about"),
    of_launch<[](const LaunchTime& l) { return l.clock_mhz; }>("clock_mhz", "metric.clock_mhz", "metric.clock_mhz",
                                                               MetricUnit::megahertz, "metric.clock_mhz_about"),
    of_launch<[](const LaunchTime& l) { return l.sustained_mhz; }>(
        "sustained_clock_mhz", "metric.sustained_clock_mhz", "metric.sustained_clock_mhz", MetricUnit::megahertz,
        "metric.sustained_clock_mhz_about"),
    of_launch<[](const LaunchTime& l) { return l.steps; }>("steps", "metric.steps", "metric.steps_brief",
                                                           MetricUnit::none, "metric.steps_about"),
    of_launch<[](const LaunchTime& l) { return Count{l.warps}; }>("warps", "metric.warps", "metric.warps_brief",
                                                                  MetricUnit::none, "metric.warps_about"),
    of_launch<[](const LaunchTime& l) { return Count{l.registers}; }>(
        "registers_per_thread", "metric.registers_per_thread", "metric.registers_per_thread_brief", MetricUnit::none,
        "metric.registers_per_thread_about"),
    with_launch({"would_spill", "metric.would_spill", "metric.would_spill_brief", MetricUnit::none,
                 "metric.would_spill_about", modelled, timed<[](const RunTime& t) { return t.spills(); }>},
                [](const Launch& l) { return l.time ? MetricValue(l.time->spills) : MetricValue(); }),
    {"useful_flops", "metric.useful_flops", "metric.useful_flops_brief", MetricUnit::flops, "metric.useful_flops_about",
     counted, [](const Report& r) { return MetricValue(r.useful_flops()); }},
    {"useful_flops_per_s", "metric.useful_flops_per_s", "metric.useful_flops_per_s_brief", MetricUnit::flops_per_second,
     "metric.useful_flops_per_s_about", modelled, [](const Report& r) { return or_nothing(r.useful_flops_per_s()); }},
};

/// The metrics with words in place of the ids of their messages.
std::vector<Metric> with_words() {
    static std::deque<std::string> words;  // a deque, because metrics point to its strings
    std::vector<Metric> all(std::begin(all_metrics), std::end(all_metrics));
    for (Metric& m : all)
        for (const char** id : {&m.title, &m.brief, &m.meaning}) *id = words.emplace_back(message(*id)).c_str();
    return all;
}

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

std::span<const Metric> metrics() {
    static const std::vector<Metric> all = with_words();
    return all;
}

const Metric* find_metric(std::string_view key) {
    for (const Metric& m : metrics())
        if (m.key == key) return &m;
    return nullptr;
}

const Metric& metric_named(const std::string& flag, const std::string& key) {
    if (const Metric* m = find_metric(key)) return *m;
    std::vector<std::string> keys;
    for (const Metric& m : metrics()) keys.emplace_back(m.key);
    const auto near = text::nearest(key, keys);
    throw UsageError(near ? message("metric.unknown_but_near", flag, text::shown(key), *near)
                          : message("metric.unknown", flag, text::shown(key)));
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
    if (const bool* b = std::get_if<bool>(&value)) return message(*b ? "metric.yes" : "metric.no");
    if (const std::string* s = std::get_if<std::string>(&value)) return *s;
    return "–";
}

}  // namespace tilescope::lab
