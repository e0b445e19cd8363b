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
    /// The same for a part of a run (a line, or all that has happened so far); nullptr where a part has no such value.
    MetricValue (*of_counters)(const Counters&) = nullptr;
    /// The same for one launch; nullptr where a launch has no such value.
    MetricValue (*of_launch)(const Launch&) = nullptr;
    bool share = false;           ///< a share of 1, written in percent
    bool among_counters = false;  ///< whether JSON writes it among the counters, or else beside them
};

/// In the order of the columns.
std::span<const Metric> metrics();
/// nullptr where there is none.
const Metric* find_metric(std::string_view key);
/// Throws UsageError, with the nearest key, where there is none; `flag`: the flag that asked for it.
const Metric& metric_named(const std::string& flag, const std::string& key);

/// Whether a larger value is better (true) or a smaller one (false); nothing where neither is.
std::optional<bool> more_is_better(const Metric& metric);
/// The run's value as a number; nothing where it is a word, or where the run has none.
std::optional<double> number_of(const Metric& metric, const Report& report);
std::optional<double> number_in(const MetricValue& value);
/// For people, with its unit: "3.4 GB", "900 µs", "12%"; "–" for nothing.
std::string shown(const Metric& metric, const MetricValue& value);
/// The value at which a scale of colours ends, for values from `least` to `most`. It lies far enough from `least` that
/// values which are nearly the same get nearly the same colour.
double end_of_shades(const Metric& metric, double least, double most);

}  // namespace tilescope::lab
