#include "show/time_text.hpp"

#include <algorithm>
#include <cmath>

#include "core/text/numbers.hpp"

namespace tilescope::show {
namespace {

std::string bytes_text(Bytes n) { return text::bytes(static_cast<double>(n)); }

}  // namespace

std::string duration(double seconds) {
    if (seconds == 0) return "0 s";
    const std::pair<double, const char*> units[] = {{1, " s"}, {1e-3, " ms"}, {1e-6, " µs"}};
    for (const auto& [unit, name] : units)
        if (seconds >= unit) return text::number(seconds / unit) + name;
    return text::number(seconds / 1e-9) + " ns";
}

std::string step_text(const Session& s, Index position) {
    if (!s.run()) return "nothing to play";
    return "step " + text::grouped(position) + " of " + text::grouped(s.length());
}

std::string modelled_time_text(const Session& s, Index position) {
    if (!s.run()) return "";
    const auto [tick, rival_tick] = s.ticks_at(position);
    std::string time = duration(s.run()->seconds(tick));
    if (s.rival()) time += " and " + duration(s.rival()->seconds(rival_tick));
    return time + " modelled";
}

std::string speed_text(double speed) {
    return (speed < 10 ? text::number(speed) : text::grouped(std::lround(speed))) + " steps/s";
}

Traffic moved_between(const Session& s, Index from, Index to) {
    const Run& run = *s.run();
    const Index a = s.ticks_at(from).first, b = s.ticks_at(to).first;
    return {run.hbm_read(b) - run.hbm_read(a), run.hbm_write(b) - run.hbm_write(a)};
}

std::string about_position(const Session& s, Index position, Index sm) {
    std::string text = step_text(s, position);
    if (position > 0) {
        const Traffic m = moved_between(s, position - 1, position), all = moved_between(s, 0, position);
        text += "\nloads " + bytes_text(m.read) + ", stores " + bytes_text(m.write) + " here";
        text += "\n" + bytes_text(all.read + all.write) + " between HBM and the SMs so far" +
                (s.rival() ? std::string(", of ") + s.run()->algorithm().name : "");
    }
    return text + "\n \nBelow the middle: loads. Above: stores. Ticks: SM " + std::to_string(sm) +
           " takes a thread block.";
}

std::string tick_text(const Run& run, Index tick) {
    return "tick " + text::grouped(tick) + " of " + text::grouped(run.ticks());
}

std::string traffic_title(double most, std::optional<double> most_of_rival) {
    return "HBM ↑ read ↓ written, up to " + text::bytes(most) +
           (most_of_rival ? " and " + text::bytes(*most_of_rival) : "") + " a tick";
}

std::string about_tick(const Run& run, Index tick) {
    const Index before = std::max<Index>(0, tick - 1);
    return tick_text(run, tick) + "\nread from HBM: " + bytes_text(run.hbm_read(tick) - run.hbm_read(before)) +
           "\nwritten to HBM: " + bytes_text(run.hbm_write(tick) - run.hbm_write(before)) + "\nclick to go there";
}

}  // namespace tilescope::show
