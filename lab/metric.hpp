// What a run can be asked for: the one list behind CSV columns, JSON keys, tables, counter panels and the axes of
// figures.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "lab/experiment.hpp"

namespace tilescope::lab {

/// Where a number comes from.
enum class Evidence : std::uint8_t {
    counted,   ///< exact, by construction
    computed,  ///< from real numbers
    modelled,  ///< docs/time.md
};
const char* name_of(Evidence evidence);

/// What a metric's numbers are of; plain ones, shares and words have none.
enum class MetricUnit : std::uint8_t { none, bytes, microseconds, megahertz, flops, flops_per_byte, flops_per_second };
/// As JSON and lists have it: "B", "us", "FLOP/B"; empty for none.
const char* name_of(MetricUnit unit);

/// Nothing where a run has no such value: no time of what does not fit in HBM, no error of what was only counted.
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
    /// Of a part of a run, too: of a line, or of what has happened so far; else nullptr.
    MetricValue (*of_counters)(const Counters&) = nullptr;
    /// Of one launch, too; else nullptr.
    MetricValue (*of_launch)(const Launch&) = nullptr;
    bool share = false;           ///< of 1, to be written in percent
    bool among_counters = false;  ///< where JSON has it: among the counters, or beside them
};

/// In the order of the columns.
std::span<const Metric> metrics();
/// nullptr where there is none.
const Metric* find_metric(std::string_view key);
/// Throws UsageError, with the nearest key, where there is none; `flag` is what asked.
const Metric& metric_named(const std::string& flag, const std::string& key);

/// Whether more of it is better, or less; nothing where neither is.
std::optional<bool> more_is_better(const Metric& metric);
/// Nothing where it is a word, or where the run has none.
std::optional<double> number_of(const Metric& metric, const Report& report);
std::optional<double> number_in(const MetricValue& value);
/// For people, with its unit: "3.4 GB", "900 µs", "12%"; "–" for nothing.
std::string shown(const Metric& metric, const MetricValue& value);
/// Where a scale of colours ends, if the metric's values go from the least to the most: what is nearly the same has
/// nearly the same colour.
double end_of_shades(const Metric& metric, double least, double most);

}  // namespace tilescope::lab
