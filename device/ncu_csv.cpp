// Nsight Compute's CSV: the raw page has a column for each metric, the details page a line. Without --print-units base,
// units follow a number's size. The details page has names for people. Other programs save both pages in their own way.
#include <algorithm>
#include <set>

#include "core/machine/error.hpp"
#include "core/text/message.hpp"
#include "core/text/words.hpp"
#include "device/csv.hpp"
#include "device/ncu.hpp"

namespace tilescope::device {
using text::message;
namespace {

enum class Quantity : std::uint8_t { count, bytes, nanoseconds, bytes_a_second, hertz };

/// A metric that is read from a profile: its name, its quantity, and its name on the details page.
struct Readable {
    const char* metric;
    Quantity quantity;
    const char* on_page = "";
};
constexpr Readable readables[] = {
    {NcuMetric::sm_read, Quantity::bytes},
    {NcuMetric::sm_write_sectors, Quantity::count},
    {NcuMetric::sm_reduce_sectors, Quantity::count},
    {NcuMetric::dram_read, Quantity::bytes},
    {NcuMetric::dram_write, Quantity::bytes},
    {NcuMetric::dram, Quantity::bytes},
    {NcuMetric::dram_rate, Quantity::bytes_a_second, "Memory Throughput"},
    {NcuMetric::xu, Quantity::count},
    {NcuMetric::ffma, Quantity::count},
    {NcuMetric::tensor, Quantity::count},
    {NcuMetric::shared_wavefronts, Quantity::count},
    {NcuMetric::shared_conflicts, Quantity::count},
    {NcuMetric::cycles, Quantity::count, "Elapsed Cycles"},
    {NcuMetric::time, Quantity::nanoseconds, "Duration"},
    {NcuMetric::limit_shared, Quantity::count, "Block Limit Shared Mem"},
    {NcuMetric::limit_registers, Quantity::count, "Block Limit Registers"},
    {NcuMetric::limit_warps, Quantity::count, "Block Limit Warps"},
    {NcuMetric::limit_blocks, Quantity::count, "Block Limit SM"},
    {NcuMetric::waves, Quantity::count, "Waves Per SM"},
    {NcuMetric::sms, Quantity::count, "# SMs"},
    {NcuMetric::clock, Quantity::hertz, "SM Frequency"},
    {NcuMetric::spills, Quantity::count},
};

/// nullptr for a metric that is not read. On the details page a share (in %) may have the same name as a rate.
const Readable* readable(std::string_view name, std::string_view unit) {
    for (const Readable& r : readables)
        if (name == r.metric || (name == r.on_page && !name.empty() && unit != "%")) return &r;
    return nullptr;
}

/// The factor of a prefix, of SI or a power of 1024: 1e3 for "Kbyte" where "byte" is a name. 0 where no name fits.
double prefixed(std::string_view unit, std::initializer_list<std::string_view> names) {
    constexpr std::pair<std::string_view, double> prefixes[] = {{"", 1},       {"K", 1e3},       {"k", 1e3},
                                                                {"M", 1e6},    {"G", 1e9},       {"T", 1e12},
                                                                {"Ki", 1024.}, {"Mi", 1048576.}, {"Gi", 1073741824.}};
    for (const auto& [prefix, factor] : prefixes)
        if (unit.starts_with(prefix) &&
            std::find(names.begin(), names.end(), unit.substr(prefix.size())) != names.end())
            return factor;
    return 0;
}

double in_nanoseconds(std::string_view unit) {
    constexpr std::pair<std::string_view, double> units[] = {
        {"nsecond", 1},   {"ns", 1},        {"usecond", 1e3},    {"us", 1e3}, {"\xC2\xB5s", 1e3}, {"\xCE\xBCs", 1e3},
        {"msecond", 1e6}, {"ms", 1e6},      {"second", 1e9},     {"s", 1e9},  {"nanosecond", 1},  {"microsecond", 1e3},
        {"sec", 1e9},     {"seconds", 1e9}, {"millisecond", 1e6}};
    for (const auto& [name, factor] : units)
        if (unit == name) return factor;
    return 0;
}

double in_hertz(std::string_view unit) {
    if (const std::size_t over = unit.find('/'); over != unit.npos) {  // "cycle/usecond"
        const double ns = in_nanoseconds(unit.substr(over + 1));
        return ns > 0 ? prefixed(unit.substr(0, over), {"cycle", "cycles"}) * 1e9 / ns : 0;
    }
    return prefixed(unit, {"hz", "Hz"});
}

/// The factor from the unit to the quantity's own unit; 0 where the unit is unknown.
double factor_of(std::string_view unit, Quantity quantity) {
    switch (quantity) {
        case Quantity::bytes:
            return prefixed(unit, {"byte", "bytes", "B"});
        case Quantity::bytes_a_second:
            return prefixed(unit, {"byte/second", "bytes/second", "byte/s", "B/s"});
        case Quantity::nanoseconds:
            return in_nanoseconds(unit);
        case Quantity::hertz:
            return in_hertz(unit);
        case Quantity::count:
            break;
    }
    return prefixed(unit, {"", "inst", "SM", "sector", "sectors", "request", "cycle", "cycles", "block", "blocks",
                           "warp", "thread", "wavefront", "wavefronts"});
}

std::string_view trimmed(std::string_view s) {
    while (!s.empty() && (s.front() == ' ' || s.front() == '\t')) s.remove_prefix(1);
    while (!s.empty() && (s.back() == ' ' || s.back() == '\t')) s.remove_suffix(1);
    return s;
}

/// Cells of a value, as they stand: a launch, a metric and its name in the file, a unit and a number.
struct Cell {
    std::size_t launch;
    const Readable* what;
    std::string name, unit, value;
    bool has_unit;
};

/// Whether a cell says that there is no number: "n/a", "(!) nan", and what other programs write instead when they save
/// a table again.
bool is_not_available(std::string_view cell) {
    std::string word(cell);
    for (char& c : word) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    return word.empty() || word == "-" || word == "null" || word == "none" || word == "#n/a" || word == "<na>" ||
           word == "na" || word.find("n/a") != word.npos || word.find("nan") != word.npos;
}

class Page {
  public:
    explicit Page(char separator) : separator_(separator), numbers_(separator) {}

    /// Whether a line names columns.
    static bool is_header(const std::vector<std::string>& cells) { return kernel_column(cells) < cells.size(); }

    char separator() const { return separator_; }

    void begin(std::vector<std::string> header, char separator) {
        header_ = std::move(header), separator_ = separator, units_.clear(), of_id_.clear();
        kernel_ = kernel_column(header_), id_ = place(header_, {"ID"});
        metric_ = place(header_, {"Metric Name"}), unit_ = place(header_, {"Metric Unit"});
        value_ = place(header_, {"Metric Value"}), capability_ = place(header_, {"CC"});
        grid_ = place(header_, {"Grid Size"});
    }

    void add(const std::vector<std::string>& cells) {
        if (metric_ < header_.size() && value_ < header_.size())
            add_metric(cells);
        else if (cells.size() == header_.size())
            trimmed(cells[kernel_]).empty() ? void(units_ = cells) : add_launch(cells);
    }

    std::vector<NcuLaunch> launches() {
        // A number in a unit that ncu chose is less than a thousand; a number in base units may be any.
        for (const Cell& c : cells_)
            if (!is_not_available(c.value)) numbers_.see(c.value, c.what->quantity != Quantity::count && factor(c) > 1);
        for (const Cell& c : cells_) {
            if (is_not_available(c.value))
                launches_[c.launch].not_available.insert(c.what->metric);
            else
                launches_[c.launch].metrics[c.what->metric] = number_of(c);
        }
        for (NcuLaunch& l : launches_) add_dram(l);
        return std::move(launches_);
    }

  private:
    static std::size_t place(const std::vector<std::string>& cells, std::initializer_list<std::string_view> names) {
        const auto found = std::find_if(cells.begin(), cells.end(), [&](const std::string& c) {
            return std::find(names.begin(), names.end(), trimmed(c)) != names.end();
        });
        return static_cast<std::size_t>(found - cells.begin());
    }

    static std::size_t kernel_column(const std::vector<std::string>& cells) {
        return place(cells, {"Kernel Name", "Function Name", "Demangled Name"});
    }

    void push_launch(const std::vector<std::string>& cells) {
        launches_.push_back({cells[kernel_]});
        if (capability_ < cells.size()) launches_.back().compute_capability = trimmed(cells[capability_]);
        if (grid_ < cells.size()) launches_.back().grid = trimmed(cells[grid_]);
    }

    /// A line of the raw page.
    void add_launch(const std::vector<std::string>& cells) {
        push_launch(cells);
        for (std::size_t k = 0; k < cells.size(); ++k) {
            std::string_view name = trimmed(header_[k]), unit = units_.empty() ? "" : trimmed(units_[k]);
            bool has_unit = !units_.empty();
            // Other programs write the row of units into the names, as "gpu__time_duration.sum [us]" or "(us)".
            if (const std::size_t at = name.find_first_of("[("); at != name.npos && at > 0)
                unit = trimmed(name.substr(at + 1, name.find_first_of("])") - at - 1)),
                name = trimmed(name.substr(0, at)), has_unit = true;
            take(name, unit, cells[k], has_unit, launches_.size() - 1);
        }
    }

    /// A line of the details page: launches are told apart by number and kernel, or by a metric that comes again.
    void add_metric(const std::vector<std::string>& cells) {
        if (cells.size() <= std::max({kernel_, metric_, value_})) return;
        const std::string& metric = cells[metric_];
        const std::string id = (id_ < cells.size() ? cells[id_] : "") + '\n' + cells[kernel_];
        const auto known = of_id_.find(id);
        const bool again = known != of_id_.end() && id_ >= header_.size() && seen_.count({known->second, metric}) > 0;
        if (known == of_id_.end() || again) {
            of_id_[id] = launches_.size();
            push_launch(cells);
        }
        const std::size_t launch = of_id_[id];
        const bool has_unit = unit_ < cells.size();
        seen_.insert({launch, metric});
        take(trimmed(metric), has_unit ? trimmed(cells[unit_]) : "", cells[value_], has_unit, launch);
    }

    void take(std::string_view name, std::string_view unit, const std::string& value, bool has_unit,
              std::size_t launch) {
        if (const Readable* r = readable(name, unit))
            cells_.push_back({launch, r, std::string(name), std::string(unit), std::string(trimmed(value)), has_unit});
    }

    double number_of(const Cell& c) const {
        constexpr double most = 1e18;  // beyond this, 64-bit counters would have overflowed
        const auto number = numbers_.read(c.value);
        const auto refuse = [&](const char* why) -> double {
            throw UsageError(message(why, text::shown(c.value, 40), text::shown(c.name, 60)));
        };
        if (!number) return refuse("ncu.no_number");
        if (*number < 0) return refuse("ncu.negative");
        return *number * factor(c) < most ? *number * factor(c) : refuse("ncu.too_large");
    }

    static double factor(const Cell& c) {
        const double factor = factor_of(c.unit, c.what->quantity);
        if (factor > 0) return factor;
        if (!c.has_unit) throw UsageError(message("ncu.no_units", text::shown(c.name, 60)));
        throw UsageError(c.unit.empty() ? message("ncu.no_unit", text::shown(c.name, 60))
                                        : message("ncu.other_unit", text::shown(c.name, 60), text::shown(c.unit, 40)));
    }

    static void add_dram(NcuLaunch& l) {
        const auto rate = l.metrics.find(NcuMetric::dram_rate), time = l.metrics.find(NcuMetric::time);
        if (rate != l.metrics.end() && time != l.metrics.end())
            l.metrics.emplace(NcuMetric::dram_by_rate, rate->second * time->second * 1e-9);
    }

    char separator_;
    Numbers numbers_;
    std::vector<std::string> header_, units_;
    std::size_t kernel_ = 0, id_ = 0, metric_ = 0, unit_ = 0, value_ = 0, capability_ = 0,
                grid_ = 0;  // columns; beyond the last: not there
    std::map<std::string, std::size_t> of_id_;
    std::set<std::pair<std::size_t, std::string>> seen_;
    std::vector<NcuLaunch> launches_;
    std::vector<Cell> cells_;
};

/// The separator with which a line is a header; nullopt where there is none.
std::optional<char> separator_of(std::string_view line) {
    if (line.find("Name") == line.npos) return std::nullopt;
    for (const char separator : {',', ';', '\t'})
        if (Page::is_header(cells_of(line, separator))) return separator;
    return std::nullopt;
}

/// Whether a line has columns of a profile, none of which names the kernels.
bool lacks_kernels(std::string_view line) {
    for (const char separator : {',', ';', '\t'}) {
        const auto cells = cells_of(line, separator);
        const bool known = std::any_of(cells.begin(), cells.end(), [](std::string_view c) {
            c = trimmed(c);
            return c == "Metric Name" || readable(trimmed(c.substr(0, c.find_first_of("[("))), "");
        });
        if (cells.size() > 1 && known) return true;
    }
    return false;
}

}  // namespace

std::vector<NcuLaunch> parse_ncu(std::string_view bytes) {
    const std::string text = in_utf8(bytes);
    std::optional<Page> page;
    for (const std::string_view line : lines_of(text)) {
        if (line.starts_with("==") || line.starts_with('#')) continue;
        if (const auto separator = separator_of(line)) {
            if (!page) page.emplace(*separator);
            page->begin(cells_of(line, *separator), *separator);
        } else if (page) {
            page->add(cells_of(line, page->separator()));
        } else if (lacks_kernels(line)) {
            throw UsageError(message("ncu.no_kernel_names"));
        }
    }
    return page ? page->launches() : std::vector<NcuLaunch>();
}

}  // namespace tilescope::device
