#include "show/words/tables.hpp"

#include <algorithm>
#include <cstdio>

#include "core/text/numbers.hpp"
#include "lab/report/metric.hpp"
#include "show/words/modelled.hpp"

namespace tilescope::show {
using namespace lab;
namespace {

/// In the order of the rows: what crosses an SM's boundary comes first.
constexpr const char* counted_keys[] = {
    "hbm_read_bytes",   "hbm_write_bytes", "hbm_reduce_bytes", "sram_read_bytes",
    "sram_write_bytes", "register_bytes",  "matmul_flops",     "exps",
    "other_flops",      "launches",        "thread_blocks",    "arithmetic_intensity"};

std::string short_text(const Metric& m, double value) {
    if (m.unit == MetricUnit::bytes) return text::bytes(value);
    if (m.unit == MetricUnit::flops_per_byte) return value > 0 ? text::number(value) : "–";
    // Few enough to be counted one by one.
    return value < 100'000 && m.unit == MetricUnit::none ? text::grouped(static_cast<Count>(value))
                                                         : text::count(value);
}

double value_of(const Metric& m, const Counters& c) { return *number_in(m.of_counters(c)); }

TableCell cell(const Metric& m, const Counters& c) {
    const MetricValue value = m.of_counters(c);
    const Count* whole = std::get_if<Count>(&value);
    const double number = *number_in(value);
    return {short_text(m, number),
            std::string(m.title) + ": " + (whole ? text::grouped(*whole) : text::number(number)) +
                (m.unit == MetricUnit::none ? "" : std::string(" ") + name_of(m.unit)) + "\n" + m.meaning};
}

double share(Bytes part, Bytes all) { return all > 0 ? double(part) / double(all) : 0.0; }

/// The share that is done, for bytes of HBM: their number at the end is known.
std::optional<double> progress(const char* key, const Run& run) {
    const Index end = run.ticks(), now = run.tick();
    if (key == counted_keys[0]) return share(run.hbm_read(now), run.hbm_read(end));
    if (key == counted_keys[1]) return share(run.hbm_sent(now), run.hbm_sent(end));
    return std::nullopt;
}

std::string role_text(Role role) {
    return role == Role::input ? "input" : role == Role::output ? "output" : "scratch: exists for this algorithm only";
}

std::string all_bytes(Bytes n) { return text::grouped(n) + " B"; }

TensorRow::Amount traffic(const std::string& what, Bytes bytes, Bytes most) {
    return {{text::bytes(bytes), what + ": " + all_bytes(bytes)}, share(bytes, most), bytes > 0};
}

/// The traffic so far of all recorded tensors with this name.
Traffic traffic_so_far(const Run& run, const std::string& name) {
    const auto& recorded = run.trace().tensors();
    const auto& states = run.player().state().tensors;
    Traffic sum;
    for (std::size_t k = 0; k < std::min(recorded.size(), states.size()); ++k)
        if (recorded[k].name == name) sum += states[k].traffic;
    return sum;
}

/// `prefix` begins the explanation of every number.
TensorRow row(const std::string& prefix, const TensorReport& r, Traffic so_far, Bytes most) {
    TensorRow row;
    row.meaning = r.meaning;
    row.read = traffic(prefix + "read so far", so_far.read, r.traffic.read);
    row.written = traffic(prefix + "written so far", so_far.sent(), r.traffic.sent());
    row.all_reads = traffic(prefix + "read in the whole run", r.traffic.read, most);
    row.all_writes = traffic(prefix + "written in the whole run", r.traffic.sent(), most);
    return row;
}

}  // namespace

std::string ratio_text(double other, double own) {
    if (own == 0) return "";
    const double ratio = other / own;
    char buffer[32];
    std::snprintf(buffer, sizeof buffer, ratio >= 9.95 ? "×%.0f" : ratio >= 0.995 ? "×%.1f" : "×%.2g", ratio);
    return buffer;
}

std::array<TableCell, 5> counter_header(const Run& run, const std::string& other_name) {
    return {TableCell{run.algorithm().name, ""},
            {"so far", "up to tick " + text::grouped(run.tick()) + ", of what is recorded" +
                           (run.shortened().empty() ? "" : ".\n" + run.shortened())},
            {"whole run", "all heads and thread blocks, recorded or not; counted, but where a row says otherwise"},
            {other_name, "the whole run of " + other_name},
            {"ratio", "the other algorithm's whole run : this one's"}};
}

std::vector<CounterRow> counter_rows(const Run& run, const std::string& other_name, const Report* other) {
    std::vector<CounterRow> rows;
    for (const char* key : counted_keys) {
        const Metric& m = *find_metric(key);
        const Counters& whole = run.counted().counters;
        if (key == counted_keys[2] && whole.hbm_reduce == 0) continue;  // as in most programs
        CounterRow row{m.title,
                       m.brief,
                       std::string(m.title) + ": " + m.meaning,
                       cell(m, run.player().state().total),
                       cell(m, whole),
                       // What does not fit has no numbers.
                       {"does not fit", other_name + " does not fit on chip with this tiling"},
                       "",
                       progress(key, run)};
        if (other) {
            row.other = cell(m, other->counters);
            row.ratio = ratio_text(value_of(m, other->counters), value_of(m, whole));
        }
        rows.push_back(std::move(row));
    }
    // After the bytes that cross an SM's boundary: which part of them reaches DRAM, and the modelled time.
    std::vector<CounterRow> modelled = modelled_rows(run, other_name, other);
    rows.insert(rows.begin() + 2, std::make_move_iterator(modelled.begin()), std::make_move_iterator(modelled.end()));
    return rows;
}

std::array<TableCell, 6> tensor_header() {
    const std::string so_far = "SM traffic so far, of what is recorded; the bar is the share of the whole run";
    const std::string all = "SM traffic in the whole run; the bars compare the tensors";
    return {TableCell{"HBM", "tensors in HBM"},
            {"size", "bytes of the whole tensor"},
            {"read", so_far},
            {"written", so_far},
            {"all reads", all},
            {"all writes", all}};
}

std::vector<TensorRow> tensor_rows(const Run& run) {
    Bytes most = 1;
    for (const TensorReport& r : run.counted().tensors) most = std::max({most, r.traffic.read, r.traffic.sent()});
    std::vector<TensorRow> rows;
    for (const TensorReport& r : run.counted().tensors) {
        TensorRow& each = rows.emplace_back(row(r.name + ", ", r, traffic_so_far(run, r.name), most));
        each.name = {r.name, r.name + ": " + role_text(r.role)};
        each.size = {text::bytes(r.bytes), r.name + " in HBM: " + all_bytes(r.bytes) + ", " + role_text(r.role)};
    }
    return rows;
}

TensorRow tensor_total(const Run& run) {
    TensorReport all{"total", Role::scratch, Meaning::other, false, 0, {}};
    Traffic so_far;
    for (const TensorReport& r : run.counted().tensors)
        all.bytes += r.bytes, all.traffic += r.traffic, so_far += traffic_so_far(run, r.name);
    TensorRow total = row("", all, so_far, std::max<Bytes>(1, std::max(all.traffic.read, all.traffic.sent())));
    total.name = {all.name, ""};
    total.size = {text::bytes(all.bytes), "all tensors in HBM: " + all_bytes(all.bytes)};
    return total;
}

}  // namespace tilescope::show
