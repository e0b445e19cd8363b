// What the window does between two pictures, without a window: session, layout and draw lists, by Dear ImGui alone.
// docs/performance.md says what the numbers should be and records what they were.
#include <benchmark/benchmark.h>

#include <chrono>
#include <random>

#include "tests/support/headless.hpp"

namespace tilescope::gui {
using namespace lab;
namespace {

Setup setup(const char* algorithm, const char* rival = "") {
    Setup s;
    s.algorithm = algorithm;
    s.rival = rival;
    for (const char* flag : {"br", "bc"}) set_flag(s.options, flag, "64");
    return s;
}

/// A frame while playing 30 steps a second. N = 1024, Br = Bc = 64, 8 heads (the standard problem).
void playing_frame(benchmark::State& state, const char* algorithm, const char* rival, Detail detail,
                   Stage stage = Stage::wall, const char* seq = "1024") {
    Headless h;
    Setup asked = setup(algorithm, rival);
    set_flag(asked.options, "seq", seq);
    h.app.session.ask(asked);
    h.app.session.finish();
    h.app.view.detail = detail;
    h.app.view.stage = stage;
    h.app.playback.loop = true;
    h.app.playback.set_speed(30);
    h.app.playback.set_length(h.app.session.length());
    h.app.playback.seek(h.app.session.length() / 2);
    h.app.playback.play();
    for (auto _ : state) h.draw(1.0 / 60);
}
BENCHMARK_CAPTURE(playing_frame, flash_v2_values, "flash_v2", "", Detail::values)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(playing_frame, flash_v2_counters, "flash_v2", "", Detail::counters)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(playing_frame, flash_v2_memory, "flash_v2", "", Detail::values, Stage::machine)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(playing_frame, flash_v2_time, "flash_v2", "", Detail::values, Stage::time, "16384")
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(playing_frame, flash_v2_16384, "flash_v2", "", Detail::counters, Stage::wall, "16384")
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(playing_frame, standard_values, "standard", "", Detail::values)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(playing_frame, race, "flash_v1", "flash_v2", Detail::counters)->Unit(benchmark::kMillisecond);

/// A jump to a random step and the frame that shows it.
void scrubbing(benchmark::State& state, const char* algorithm) {
    Headless h;
    h.app.session.ask(setup(algorithm));
    h.app.session.finish();
    h.draw(0);
    std::mt19937 random(1);
    std::uniform_int_distribution<Index> anywhere(0, h.app.session.length());
    for (auto _ : state) {
        h.app.playback.seek(anywhere(random));
        h.draw(0);
    }
}
BENCHMARK_CAPTURE(scrubbing, flash_v2, "flash_v2")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(scrubbing, standard, "standard")->Unit(benchmark::kMillisecond);

/// A slider moves: the run is made again, waited for and drawn.
void changing(benchmark::State& state, const char* algorithm) {
    Headless h;
    h.app.session.ask(setup(algorithm));
    h.draw(0);
    Index sms = 100;
    for (auto _ : state) {
        h.app.session.set("sms", std::to_string(sms = sms == 100 ? 101 : 100));
        h.app.session.finish();
        h.draw(0);
    }
}
BENCHMARK_CAPTURE(changing, flash_v1, "flash_v1")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(changing, flash_v2, "flash_v2")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(changing, standard, "standard")->Unit(benchmark::kMillisecond);

/// A long setup is asked for, and frames are drawn until it is there: `longest` is the longest of them, in
/// milliseconds, the one that asks included.
void waiting(benchmark::State& state, std::vector<std::pair<const char*, const char*>> flags) {
    Headless h;
    h.app.session.ask(setup("flash_v2"));
    h.app.session.finish();
    h.draw(0);
    double longest = 0;
    Index frames = 0;
    for (auto _ : state) {
        Setup s = setup("flash_v2");
        for (const auto& [flag, value] : flags) set_flag(s.options, flag, value);
        const auto timed = [&](auto&& work) {
            const auto begin = std::chrono::steady_clock::now();
            work();
            const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
            longest = std::max(longest, took.count());
            ++frames;
        };
        timed([&] { h.app.session.ask(s), h.draw(0); });
        while (h.app.session.busy()) timed([&] { h.draw(1.0 / 60); });
        state.PauseTiming();
        h.app.session.ask(setup("flash_v2"));
        h.app.session.finish();
        state.ResumeTiming();
    }
    state.counters["longest"] = longest;
    state.counters["frames"] = benchmark::Counter(static_cast<double>(frames), benchmark::Counter::kAvgIterations);
}
using Pairs = std::vector<std::pair<const char*, const char*>>;
BENCHMARK_CAPTURE(waiting, causal_20_million,
                  Pairs{{"seq", "20000000"}, {"heads", "1"}, {"dim", "16"}, {"causal", "true"}})
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(waiting, tiles_of_one,
                  Pairs{{"seq", "4194304"}, {"heads", "1"}, {"dim", "1"}, {"br", "1"}, {"bc", "1"}})
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace tilescope::gui

BENCHMARK_MAIN();
