#include "show/words/tables.hpp"

#include <algorithm>
#include <cstdio>

#include "core/text/message.hpp"
#include "core/text/numbers.hpp"
#include "lab/report/metric.hpp"
#include "show/words/modelled.hpp"

namespace tilescope::show {
using namespace lab;
using text::message;
namespace {

/// In the order of the rows: what crosses an SM's boundary comes first.
constexpr const char* counted_keys[] = {
    "hbm_read_bytes",   "hbm_write_bytes", "hbm_reduce_bytes", "sram_read_bytes",
    "sram_write_bytes", "register_bytes",  "matmul_flops",     "exps",
    "other_flops",      "launches",        "thread_blocks",    "arithmetic_intensity"};

std::string short_text(const Metric& m, double value) {
    if (m.unit == MetricUnit::bytes) return text::bytes(value);
    if (m.unit == MetricUnit::flops_per_byte) return value > 0 ? text::number(value) : "–";
    // Below 100,000 a count is written in full.
    return value < 100'000 && m.unit == MetricUnit::none ? text::grouped(static_cast<Count>(value))
                                                         : text::count(value);
}

double value_of(const Metric& m, const Counters& c) { return *number_in(m.of_counters(c)); }

TableCell cell(const Metric& m, const Counters& c) {
    const MetricValue value = m.of_counters(c);
    const Count* whole = std::get_if<Count>(&value);
    const double number = *number_in(value);
    const std::string digits = whole ? text::grouped(*whole) : text::number(number);
    const std::string unit = m.unit == MetricUnit::none ? "" : std::string(" ") + name_of(m.unit);
    return {short_text(m, number), message("tables.value", m.title, digits + unit) + "\n" + m.meaning};
}

double share(Bytes part, Bytes all) { return all > 0 ? double(part) / double(all) : 0.0; }

/// The share of HBM bytes that the recording has moved so far; nullopt for other counters, whose number at the end is
/// not known.
std::optional<double> progress(const char* key, const Run& run) {
    const Index end = run.ticks(), now = run.tick();
    if (key == counted_keys[0]) return share(run.hbm_read(now), run.hbm_read(end));
    if (key == counted_keys[1]) return share(run.hbm_sent(now), run.hbm_sent(end));
    return std::nullopt;
}

std::string role_text(Role role) {
    return message(role == Role::input ? "tables.input" : role == Role::output ? "tables.output" : "tables.scratch");
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

/// `name`: of the tensor; empty for the sum of all.
TensorRow row(const std::string& name, const TensorReport& r, Traffic so_far, Bytes most) {
    const auto amount = [&](const std::string& what, Bytes bytes, Bytes of) -> TensorRow::Amount {
        const std::string all =
            name.empty() ? message("tables.sum", what, bytes) : message("tables.of_tensor", name, what, bytes);
        return {{text::bytes(bytes), all}, share(bytes, of), bytes > 0};
    };
    TensorRow row;
    row.meaning = r.meaning;
    row.read = amount(message("tables.read_so_far"), so_far.read, r.traffic.read);
    row.written = amount(message("tables.written_so_far"), so_far.sent(), r.traffic.sent());
    row.all_reads = amount(message("tables.read_in_whole_run"), r.traffic.read, most);
    row.all_writes = amount(message("tables.written_in_whole_run"), r.traffic.sent(), most);
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
    const std::string& part = run.shortened();
    return {TableCell{run.algorithm().name, ""},
            {message("tables.so_far"), part.empty() ? message("tables.up_to_tick", run.tick())
                                                    : message("tables.up_to_tick_of_part", run.tick()) + "\n" + part},
            {message("tables.whole_run"), message("tables.about_whole_run")},
            {other_name, message("tables.about_other", other_name)},
            {message("tables.ratio"), message("tables.about_ratio")}};
}

std::vector<CounterRow> counter_rows(const Run& run, const std::string& other_name, const Report* other) {
    std::vector<CounterRow> rows;
    for (const char* key : counted_keys) {
        const Metric& m = *find_metric(key);
        const Counters& whole = run.counted().counters;
        if (key == counted_keys[2] && whole.hbm_reduce == 0) continue;  // most programs reduce nothing
        CounterRow row{m.title,
                       m.brief,
                       message("tables.metric", m.title, m.meaning),
                       cell(m, run.player().state().total),
                       cell(m, whole),
                       // What does not fit has no numbers.
                       {message("tables.does_not_fit"), message("tables.about_does_not_fit", other_name)},
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
    const std::string so_far = message("tables.about_traffic_so_far"), all = message("tables.about_traffic");
    return {TableCell{message("tables.hbm"), message("tables.about_hbm")},
            {message("tables.size"), message("tables.about_size")},
            {message("tables.read"), so_far},
            {message("tables.written"), so_far},
            {message("tables.all_reads"), all},
            {message("tables.all_writes"), all}};
}

std::vector<TensorRow> tensor_rows(const Run& run) {
    Bytes most = 1;
    for (const TensorReport& r : run.counted().tensors) most = std::max({most, r.traffic.read, r.traffic.sent()});
    std::vector<TensorRow> rows;
    for (const TensorReport& r : run.counted().tensors) {
        TensorRow& each = rows.emplace_back(row(r.name, r, traffic_so_far(run, r.name), most));
        each.name = {r.name, message("tables.tensor", r.name, role_text(r.role))};
        each.size = {text::bytes(r.bytes), message("tables.tensor_in_hbm", r.name, r.bytes, role_text(r.role))};
    }
    return rows;
}

TensorRow tensor_total(const Run& run) {
    TensorReport all{message("tables.total"), Role::scratch, Meaning::other, false, 0, {}};
    Traffic so_far;
    for (const TensorReport& r : run.counted().tensors)
        all.bytes += r.bytes, all.traffic += r.traffic, so_far += traffic_so_far(run, r.name);
    TensorRow total = row("", all, so_far, std::max<Bytes>(1, std::max(all.traffic.read, all.traffic.sent())));
    total.name = {all.name, ""};
    total.size = {text::bytes(all.bytes), message("tables.all_in_hbm", all.bytes)};
    return total;
}

}  // namespace tilescope::show
