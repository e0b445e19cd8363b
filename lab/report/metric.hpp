// The numbers that a run has: the one list behind CSV columns, JSON keys, tables, counter panels and the axes of
// figures.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "lab/run/experiment.hpp"

namespace tilescope::lab {

/// Where a number comes from.
enum class Evidence : std::uint8_t {
    counted,   ///< exact, by construction
    computed,  ///< from real numbers
    modelled,  ///< docs/time.md
};
const char* name_of(Evidence evidence);

/// The unit of a metric's numbers. Plain numbers, shares and words have none.
enum class MetricUnit : std::uint8_t { none, bytes, microseconds, megahertz, flops, flops_per_byte, flops_per_second };
/// As JSON and lists write it: "B", "us", "FLOP/B"; empty for none.
const char* name_of(MetricUnit unit);

/// Monostate where a run has no such value: no time if it does not fit in HBM, no error if it was only counted.
using MetricValue = std::variant<std::monostate, Count, double, bool, std::string>;

/// A launch of a run, as it was counted and, where there is a time, as it was timed.
struct Launch {
    const LaunchInfo& counted;
    const LaunchTime* time;
};
std::vector<Launch> launches_of(const Report& report);

struct Metric {
    const char *key, *title;
    const char* brief;  ///< the title where there is little room
    MetricUnit unit;
    const char* meaning;
    Evidence evidence;
    MetricValue (*of)(const Report&);
    /// The value for a part of a run (a line, or all that has happened so far); nullptr where a part has no such value.
    MetricValue (*of_counters)(const Counters&) = nullptr;
    /// The value for one launch; nullptr where a launch has no such value.
    MetricValue (*of_launch)(const Launch&) = nullptr;
    bool share = false;           ///< a share of 1, written in percent
    bool among_counters = false;  ///< whether JSON writes it among the counters, or else beside them
};

/// All metrics, in the order of the CSV columns.
std::span<const Metric> metrics();
/// The metric of that key; nullptr where there is none.
const Metric* find_metric(std::string_view key);
/// The metric of that key, which `flag` gave. Throws UsageError, with the nearest key, where there is none.
const Metric& metric_named(const std::string& flag, const std::string& key);

/// Whether a larger value is better (true) or a smaller one (false); nullopt where neither is.
std::optional<bool> more_is_better(const Metric& metric);
/// The run's value as a number; nullopt where the value is a word, or where the run has none.
std::optional<double> number_of(const Metric& metric, const Report& report);
std::optional<double> number_in(const MetricValue& value);
/// The value for people to read, with its unit: "3.4 GB", "900 µs", "12%"; "–" where there is none.
std::string shown(const Metric& metric, const MetricValue& value);
/// The value at which a scale of colours ends, for values from `least` to `most`. It lies far enough from `least` that
/// values which are nearly the same get nearly the same colour.
double end_of_shades(const Metric& metric, double least, double most);

}  // namespace tilescope::lab
