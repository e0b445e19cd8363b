#include "show/words/time_text.hpp"

#include <algorithm>
#include <cmath>

#include "core/text/numbers.hpp"
#include "lab/report/metric.hpp"
#include "show/words/modelled.hpp"

namespace tilescope::show {
namespace {

std::string now_text(const Session& s, const Run& run, Index tick) {
    return run.counted().time ? text::microseconds(s.seconds(run, tick) * 1e6) : "no time";
}

/// "450 µs of 900 µs"
std::string of_run(const Session& s, const Run& run, Index tick, bool says_when_it_ends) {
    const std::string now = now_text(s, run, tick);
    return run.counted().time && (says_when_it_ends || tick == run.ticks())
               ? now + " of " + text::microseconds(run.counted().time->us())
               : now;
}

}  // namespace

const char* position_word(const Session& s) { return s.rival() ? "moment" : "operation"; }

std::string step_text(const Session& s, Index position) {
    if (!s.run()) return "nothing to play";
    return position_word(s) + (' ' + text::grouped(position)) + " of " + text::grouped(s.length());
}

std::vector<std::string> modelled_times(const Session& s, Index position, bool says_when_it_ends) {
    if (!s.run()) return {""};
    const auto [tick, rival_tick] = s.ticks_at(position);
    std::string time = of_run(s, *s.run(), tick, says_when_it_ends), now = now_text(s, *s.run(), tick);
    if (s.rival())
        time += " and " + of_run(s, *s.rival(), rival_tick, says_when_it_ends),
            now += ", " + now_text(s, *s.rival(), rival_tick);
    return {time + " modelled", now + " modelled", "~" + now};
}

std::vector<std::string> step_and_times(const Session& s, Index position, bool says_when_it_ends) {
    const std::string step = step_text(s, position);
    std::vector<std::string> texts;
    for (const std::string& time : modelled_times(s, position, says_when_it_ends))
        if (!time.empty()) texts.push_back(step + " · " + time);
    texts.push_back(step);
    return texts;
}

std::string about_modelled_time(const Session& s) {
    if (!s.run()) return "";
    if (!s.rival()) return about_time(*s.run(), false);
    return std::string(s.run()->algorithm().name) + ": " + about_time(*s.run(), true) + "\n" +
           s.rival()->algorithm().name + ": " + about_time(*s.rival(), true);
}

std::string speed_text(const Session& s, double speed) {
    if (s.setup().pace == Pace::time && s.run() && s.length() > 0) {
        const auto [a, b] = s.ticks_at(s.length());
        const double all = std::max(s.seconds(*s.run(), a), s.rival() ? s.seconds(*s.rival(), b) : 0.0);
        if (all > 0) return duration(all * speed / static_cast<double>(s.length())) + "/s";
    }
    return (speed < 10 ? text::number(speed) : text::grouped(std::lround(speed))) + ' ' + position_word(s) + "s/s";
}

Traffic moved_between(const Session& s, Index from, Index to) {
    const Run& run = *s.run();
    const Index a = s.ticks_at(from).first, b = s.ticks_at(to).first;
    return {run.hbm_read(b) - run.hbm_read(a), run.hbm_sent(b) - run.hbm_sent(a)};
}

std::string about_position(const Session& s, Index position, Index sm) {
    std::string text = step_text(s, position);
    if (position > 0) {
        const Traffic m = moved_between(s, position - 1, position), all = moved_between(s, 0, position);
        text += "\nloads " + text::bytes(m.read) + ", stores " + text::bytes(m.write) + " here";
        text += "\n" + text::bytes(all.read + all.write) + " of SM traffic so far" +
                (s.rival() ? std::string(", of ") + s.run()->algorithm().name : "");
    }
    return text + "\n \nAbove the middle: loads. Below: stores. Ticks: SM " + std::to_string(sm) +
           " takes a thread block.";
}

std::string tick_text(const Run& run, Index tick) {
    return "tick " + text::grouped(tick) + " of " + text::grouped(run.ticks());
}

std::string traffic_title(double most, std::optional<double> most_of_rival) {
    return "SM ↑ read ↓ written, up to " + text::bytes(most) +
           (most_of_rival ? " and " + text::bytes(*most_of_rival) : "") + " a tick";
}

std::string about_tick(const Run& run, Index tick) {
    const Index before = std::max<Index>(0, tick - 1);
    const auto line = [](const char* key, Bytes n) {
        return std::string("\n") + lab::find_metric(key)->title + ": " + text::bytes(n);
    };
    return tick_text(run, tick) + line("hbm_read_bytes", run.hbm_read(tick) - run.hbm_read(before)) +
           line("hbm_write_bytes", run.hbm_sent(tick) - run.hbm_sent(before)) +
           "\nSM traffic is what crosses an SM's boundary: the L2 catches part of it.\nClick to go there.";
}

}  // namespace tilescope::show
