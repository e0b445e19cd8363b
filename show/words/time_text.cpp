#include "show/words/time_text.hpp"

#include <algorithm>
#include <cmath>

#include "core/text/message.hpp"
#include "core/text/numbers.hpp"
#include "core/text/words.hpp"
#include "lab/report/metric.hpp"
#include "show/words/modelled.hpp"

namespace tilescope::show {
using text::message;
namespace {

std::string now_text(const Session& s, const Run& run, Index tick) {
    return run.counted().time ? text::microseconds(s.seconds(run, tick) * 1e6) : message("time.none");
}

/// "450 µs of 900 µs"
std::string of_run(const Session& s, const Run& run, Index tick, bool says_when_it_ends) {
    const std::string now = now_text(s, run, tick);
    return run.counted().time && (says_when_it_ends || tick == run.ticks())
               ? message("time.of_run", now, text::microseconds(run.counted().time->us()))
               : now;
}

}  // namespace

std::string positions_text(const Session& s, Index number) {
    return message(s.rival() ? "time.moments" : "time.operations", number);
}

std::string step_text(const Session& s, Index position) {
    if (!s.run()) return message("time.nothing_to_play");
    return message(s.rival() ? "time.moment_of" : "time.operation_of", position, s.length());
}

std::vector<std::string> modelled_times(const Session& s, Index position, bool says_when_it_ends) {
    if (!s.run()) return {""};
    const auto [tick, rival_tick] = s.ticks_at(position);
    const std::string time = of_run(s, *s.run(), tick, says_when_it_ends), now = now_text(s, *s.run(), tick);
    if (!s.rival()) return {message("time.modelled", time), message("time.modelled", now), message("time.brief", now)};
    const std::string rival_now = now_text(s, *s.rival(), rival_tick);
    return {message("time.race_modelled", time, of_run(s, *s.rival(), rival_tick, says_when_it_ends)),
            message("time.race_now_modelled", now, rival_now), message("time.race_brief", now, rival_now)};
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
    return message("modelled.of_run", s.run()->algorithm().name, about_time(*s.run(), true)) + "\n" +
           message("modelled.of_run", s.rival()->algorithm().name, about_time(*s.rival(), true));
}

std::string speed_text(const Session& s, double speed) {
    if (s.setup().pace == Pace::time && s.run() && s.length() > 0) {
        const auto [a, b] = s.ticks_at(s.length());
        const double all = std::max(s.seconds(*s.run(), a), s.rival() ? s.seconds(*s.rival(), b) : 0.0);
        if (all > 0) return message("time.speed", duration(all * speed / static_cast<double>(s.length())));
    }
    return message(s.rival() ? "time.moments_a_second" : "time.operations_a_second",
                   speed < 10 ? text::number(speed) : text::grouped(std::lround(speed)));
}

Traffic moved_between(const Session& s, Index from, Index to) {
    const Run& run = *s.run();
    const Index a = s.ticks_at(from).first, b = s.ticks_at(to).first;
    return {run.hbm_read(b) - run.hbm_read(a), run.hbm_sent(b) - run.hbm_sent(a)};
}

std::string about_position(const Session& s, Index position, Index sm) {
    std::vector<std::string> lines = {step_text(s, position)};
    if (position > 0) {
        const Traffic m = moved_between(s, position - 1, position), all = moved_between(s, 0, position);
        const std::string so_far = text::bytes(all.read + all.write);
        lines.push_back(message("time.moves", text::bytes(m.read), text::bytes(m.write)));
        lines.push_back(s.rival() ? message("time.moved_so_far_of", so_far, s.run()->algorithm().name)
                                  : message("time.moved_so_far", so_far));
    }
    lines.insert(lines.end(), {" ", message("time.about_bar", std::to_string(sm))});
    return text::join(lines, "\n");
}

std::string tick_text(const Run& run, Index tick) { return message("time.tick_of", tick, run.ticks()); }

std::string traffic_title(double most, std::optional<double> most_of_rival) {
    return most_of_rival ? message("time.race_traffic_title", text::bytes(most), text::bytes(*most_of_rival))
                         : message("time.traffic_title", text::bytes(most));
}

std::string about_tick(const Run& run, Index tick) {
    const Index before = std::max<Index>(0, tick - 1);
    const auto line = [](const char* key, Bytes n) {
        return message("time.traffic", lab::find_metric(key)->title, text::bytes(n));
    };
    return text::join({tick_text(run, tick), line("hbm_read_bytes", run.hbm_read(tick) - run.hbm_read(before)),
                       line("hbm_write_bytes", run.hbm_sent(tick) - run.hbm_sent(before)), message("time.about_tick"),
                       message("time.click_tick")},
                      "\n");
}

}  // namespace tilescope::show
