// What the window computes for a frame, without a window: session, layout and draw lists, with Dear ImGui alone.
// docs/performance.md says what the numbers should be and records what they were.
#include <benchmark/benchmark.h>

#include <chrono>
#include <random>

#include "tests/support/headless.hpp"

namespace tilescope::gui {
using namespace lab;
namespace {

using Flags = std::vector<std::pair<const char*, const char*>>;
const Flags largest = {{"seq", "16384"}, {"heads", "64"}};  ///< the largest setup at which the window has to stay quick

/// The standard problem (N = 1024, d = 64, 8 heads) with these flags, Br = Bc = 64.
Setup setup(const char* algorithm, const Flags& flags = {}) {
    Setup s;
    s.algorithm = algorithm;
    for (const char* flag : {"br", "bc"}) set_flag(s.options, flag, "64");
    for (const auto& [flag, value] : flags) set_flag(s.options, flag, value);
    return s;
}

/// A frame while 30 steps a second are played.
void playing_frame(benchmark::State& state, const Setup& asked, Stage stage, Detail detail = Detail::values) {
    Headless h;
    h.app.shown.session.ask(asked);
    h.app.shown.session.finish();
    h.app.shown.view.detail = detail;
    h.app.shown.view.stage = stage;
    h.app.shown.playback.loop = true;
    h.app.shown.playback.set_speed(30);
    h.app.shown.playback.set_length(h.app.shown.session.length());
    h.app.shown.playback.seek(h.app.shown.session.length() / 2);
    h.app.shown.playback.play();
    for (auto _ : state) h.draw(1.0 / 60);
}
Setup race() {
    Setup s = setup("flash_v1");
    s.rival = "flash_v2";
    return s;
}
#define PLAYING(name, ...) BENCHMARK_CAPTURE(playing_frame, name, __VA_ARGS__)->Unit(benchmark::kMillisecond)
PLAYING(wall, setup("flash_v2"), Stage::wall);
PLAYING(wall_counters, setup("flash_v2"), Stage::wall, Detail::counters);
PLAYING(machine, setup("flash_v2"), Stage::machine);
PLAYING(time, setup("flash_v2"), Stage::time);
PLAYING(row, setup("flash_v2"), Stage::row);
PLAYING(wall_largest, setup("flash_v2", largest), Stage::wall);
PLAYING(machine_largest, setup("flash_v2", largest), Stage::machine);
PLAYING(time_largest, setup("flash_v2", largest), Stage::time);
PLAYING(row_largest, setup("flash_v2", largest), Stage::row);
PLAYING(standard, setup("standard"), Stage::wall);
PLAYING(race, race(), Stage::time, Detail::counters);

/// A jump to a random step and the frame that shows it.
void scrubbing(benchmark::State& state, const Setup& asked) {
    Headless h;
    h.app.shown.session.ask(asked);
    h.app.shown.session.finish();
    h.draw(0);
    std::mt19937 random(1);
    std::uniform_int_distribution<Index> anywhere(0, h.app.shown.session.length());
    for (auto _ : state) {
        h.app.shown.playback.seek(anywhere(random));
        h.draw(0);
    }
}
BENCHMARK_CAPTURE(scrubbing, flash_v2, setup("flash_v2"))->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(scrubbing, flash_v2_largest, setup("flash_v2", largest))->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(scrubbing, standard, setup("standard"))->Unit(benchmark::kMillisecond);

/// A slider moves: the run is made again, the benchmark waits for it and draws it.
void changing(benchmark::State& state, const char* algorithm) {
    Headless h;
    h.app.shown.session.ask(setup(algorithm));
    h.draw(0);
    Index sms = 100;
    for (auto _ : state) {
        h.app.shown.session.set("sms", std::to_string(sms = sms == 100 ? 101 : 100));
        h.app.shown.session.finish();
        h.draw(0);
    }
}
BENCHMARK_CAPTURE(changing, flash_v1, "flash_v1")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(changing, flash_v2, "flash_v2")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(changing, standard, "standard")->Unit(benchmark::kMillisecond);

/// Asks for a long setup and draws frames until it is ready. `longest` is the longest frame in milliseconds, including
/// the frame that asks.
void waiting(benchmark::State& state, const Flags& flags) {
    Headless h;
    h.app.shown.session.ask(setup("flash_v2"));
    h.app.shown.session.finish();
    h.draw(0);
    double longest = 0;
    Index frames = 0;
    for (auto _ : state) {
        const Setup s = setup("flash_v2", flags);
        const auto timed = [&](auto&& work) {
            const auto begin = std::chrono::steady_clock::now();
            work();
            const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
            longest = std::max(longest, took.count());
            ++frames;
        };
        timed([&] { h.app.shown.session.ask(s), h.draw(0); });
        while (h.app.shown.session.busy()) timed([&] { h.draw(1.0 / 60); });
        state.PauseTiming();
        h.app.shown.session.ask(setup("flash_v2"));
        h.app.shown.session.finish();
        state.ResumeTiming();
    }
    state.counters["longest"] = longest;
    state.counters["frames"] = benchmark::Counter(static_cast<double>(frames), benchmark::Counter::kAvgIterations);
}
BENCHMARK_CAPTURE(waiting, causal_20_million,
                  Flags{{"seq", "20000000"}, {"heads", "1"}, {"dim", "16"}, {"causal", "true"}})
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(waiting, tiles_of_one,
                  Flags{{"seq", "4194304"}, {"heads", "1"}, {"dim", "1"}, {"br", "1"}, {"bc", "1"}})
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace tilescope::gui

BENCHMARK_MAIN();
