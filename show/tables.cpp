#include "show/tables.hpp"

#include <algorithm>
#include <cstdio>

#include "core/text/numbers.hpp"

namespace tilescope::show {
using namespace lab;
namespace {

/// A number that can be read off any set of counters.
struct Metric {
    const char *name, *brief;
    const char* unit;  // "B": bytes
    double (*value)(const Counters&);
    const char* meaning;
};

double intensity(const Counters& c) {
    return c.hbm() > 0 ? static_cast<double>(c.flops()) / static_cast<double>(c.hbm()) : 0;
}

constexpr Metric metrics[] = {
    {"HBM read", "HBM rd", "B", [](const Counters& c) { return double(c.hbm_read); }, "bytes from HBM to the SMs"},
    {"HBM written", "HBM wr", "B", [](const Counters& c) { return double(c.hbm_write); }, "bytes from the SMs to HBM"},
    {"SRAM read", "SRAM rd", "B", [](const Counters& c) { return double(c.sram_read); },
     "bytes of operands in shared memory"},
    {"SRAM written", "SRAM wr", "B", [](const Counters& c) { return double(c.sram_write); },
     "bytes of results in shared memory"},
    {"registers", "regs", "B", [](const Counters& c) { return double(c.register_read + c.register_write); },
     "bytes of operands and results in registers"},
    {"matmul FLOPs", "matmul", "FLOP", [](const Counters& c) { return double(c.matmul_flops); },
     "2 m n k for every product of tiles"},
    {"exponentials", "exp", "", [](const Counters& c) { return double(c.exps); }, "exponentials"},
    {"other FLOPs", "other", "FLOP", [](const Counters& c) { return double(c.other_flops); },
     "every other floating-point operation"},
    {"launches", "launch", "", [](const Counters& c) { return double(c.launches); }, "kernels launched"},
    {"thread blocks", "blocks", "", [](const Counters& c) { return double(c.thread_blocks); }, "thread blocks run"},
    {"FLOPs per byte", "FLOP/B", "FLOP/B", intensity,
     "operations for every byte between HBM and the SMs: arithmetic intensity"},
};

std::string short_text(const Metric& m, double value) {
    const std::string_view unit = m.unit;
    if (unit == "B") return text::bytes(value);
    if (unit == "FLOP/B") return value > 0 ? text::number(value) : "–";
    // Few enough to be counted one by one.
    return value < 100'000 && unit.empty() ? text::grouped(static_cast<Count>(value)) : text::count(value);
}

TableCell cell(const Metric& m, double value) {
    const bool whole = m.value != intensity;
    const std::string digits = whole ? text::grouped(static_cast<Count>(value)) : text::number(value);
    return {short_text(m, value),
            std::string(m.name) + ": " + digits + (*m.unit ? std::string(" ") + m.unit : "") + "\n" + m.meaning};
}

double share(Bytes part, Bytes all) { return all > 0 ? double(part) / double(all) : 0.0; }

/// Of the bytes it is known how many there will be in the end.
std::optional<double> progress(const Metric& m, const Run& run) {
    const Index end = run.ticks(), now = run.tick();
    if (&m == &metrics[0]) return share(run.hbm_read(now), run.hbm_read(end));
    if (&m == &metrics[1]) return share(run.hbm_write(now), run.hbm_write(end));
    return std::nullopt;
}

std::string role_text(Role role) {
    return role == Role::input ? "input" : role == Role::output ? "output" : "scratch: exists for this algorithm only";
}

std::string short_bytes(Bytes n) { return text::bytes(static_cast<double>(n)); }
std::string all_bytes(Bytes n) { return text::grouped(n) + " B"; }

TensorRow::Amount traffic(const std::string& what, Bytes bytes, Bytes most) {
    return {{short_bytes(bytes), what + ": " + all_bytes(bytes)}, share(bytes, most), bytes > 0};
}

/// So far, by name: of what is recorded.
Traffic traffic_so_far(const Run& run, const std::string& name) {
    const auto& recorded = run.trace().tensors();
    const auto& states = run.player().state().tensors;
    Traffic sum;
    for (std::size_t k = 0; k < std::min(recorded.size(), states.size()); ++k)
        if (recorded[k].name == name) sum += states[k].traffic;
    return sum;
}

/// `prefix` is before what is said of every number.
TensorRow row(const std::string& prefix, const TensorReport& r, Traffic so_far, Bytes most) {
    TensorRow row;
    row.meaning = r.meaning;
    row.read = traffic(prefix + "read so far", so_far.read, r.traffic.read);
    row.written = traffic(prefix + "written so far", so_far.write, r.traffic.write);
    row.all_reads = traffic(prefix + "read in the whole run", r.traffic.read, most);
    row.all_writes = traffic(prefix + "written in the whole run", r.traffic.write, most);
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
            {"whole run", "all heads and thread blocks, recorded or not"},
            {other_name, "the whole run of " + other_name},
            {"ratio", "the other algorithm's whole run : this one's"}};
}

std::vector<CounterRow> counter_rows(const Run& run, const std::string& other_name, const Report* other) {
    std::vector<CounterRow> rows;
    for (const Metric& m : metrics) {
        const double whole = m.value(run.counted().counters);
        CounterRow row{m.name,
                       m.brief,
                       std::string(m.name) + ": " + m.meaning,
                       cell(m, m.value(run.player().state().total)),
                       cell(m, whole),
                       // What does not fit has no numbers.
                       {"does not fit", other_name + " does not fit on chip with this tiling"},
                       "",
                       progress(m, run)};
        if (other) {
            const double theirs = m.value(other->counters);
            row.other = cell(m, theirs), row.ratio = ratio_text(theirs, whole);
        }
        rows.push_back(std::move(row));
    }
    return rows;
}

std::array<TableCell, 6> tensor_header() {
    const std::string so_far = "so far, of what is recorded; the bar is the share of the whole run";
    const std::string all = "in the whole run; the bars compare the tensors";
    return {TableCell{"HBM", "tensors in HBM"},
            {"size", "bytes of the whole tensor"},
            {"read", so_far},
            {"written", so_far},
            {"all reads", all},
            {"all writes", all}};
}

std::vector<TensorRow> tensor_rows(const Run& run) {
    Bytes most = 1;
    for (const TensorReport& r : run.counted().tensors) most = std::max({most, r.traffic.read, r.traffic.write});
    std::vector<TensorRow> rows;
    for (const TensorReport& r : run.counted().tensors) {
        TensorRow& each = rows.emplace_back(row(r.name + ", ", r, traffic_so_far(run, r.name), most));
        each.name = {r.name, r.name + ": " + role_text(r.role)};
        each.size = {short_bytes(r.bytes), r.name + " in HBM: " + all_bytes(r.bytes) + ", " + role_text(r.role)};
    }
    return rows;
}

TensorRow tensor_total(const Run& run) {
    TensorReport all{"total", Role::scratch, Meaning::other, false, 0, {}};
    Traffic so_far;
    for (const TensorReport& r : run.counted().tensors)
        all.bytes += r.bytes, all.traffic += r.traffic, so_far += traffic_so_far(run, r.name);
    TensorRow total = row("", all, so_far, std::max<Bytes>(1, std::max(all.traffic.read, all.traffic.write)));
    total.name = {all.name, ""};
    total.size = {short_bytes(all.bytes), "all tensors in HBM: " + all_bytes(all.bytes)};
    return total;
}

}  // namespace tilescope::show
