// `tilescope replay FILE`: carries out again what a recording says, and compares every step.
#include <iostream>

#include "cli/commands.hpp"
#include "cli/json.hpp"
#include "cli/progress.hpp"
#include "core/text/numbers.hpp"
#include "core/text/words.hpp"
#include "lab/flags/options.hpp"
#include "lab/report/recording.hpp"

namespace tilescope::cli {
using namespace lab;
namespace {

/// The path and the difference are made printable, but are not cut.
void print_json(const std::string& path, const Recording& r, const std::string& different) {
    constexpr std::size_t whole = 10'000;
    const Json j = {{"schema", "tilescope.replay/1"},
                    {"file", text::shown(path, whole)},
                    {"algorithm", r.experiment.algorithm->name},
                    {"operations", r.trace.size()},
                    {"has_values", r.trace.has_values()},
                    {"as_recorded", different.empty()},
                    {"difference", different}};
    std::cout << j.dump(2) << '\n';
}

void replay_file(const std::string& path, bool json) {
    const Recording recording = [&] {
        const Progress progress([&] { return "reading " + path; });
        return read_recording(path, &control());
    }();
    const std::string name = recording.experiment.algorithm->name;
    const std::string different = [&] {
        const Progress progress = Progress::blocks("replaying");
        return replay(recording, &control());
    }();
    if (json) print_json(path, recording, different);
    if (!different.empty())
        throw RunError(text::shown(path) + ": differs from what " + name + " does today: " + different);
    if (json) return;
    std::cout << text::shown(path) << ": " << text::grouped(recording.trace.size()) << " operations of " << name
              << ", all as recorded"
              << (recording.trace.has_values() ? ", every number to the bit\n" : "; without contents of tiles\n");
}

}  // namespace

void add_replay(CLI::App& app) {
    static std::string path;
    static Options options;
    CLI::App* sub = app.add_subcommand("replay", "Run again what a trace says, and compare every operation");
    sub->add_option("FILE", path, "What `tilescope trace` wrote")->required();
    add_json_option(*sub, options);
    sub->footer(
        "Ends with 1, and the first operation that differs, where one does.\n"
        "Examples:\n"
        "  tilescope trace flash_v2 --gpu toy --seq 16 --dim 4 --heads 1 --br 4 --bc 4 -o flash.json\n"
        "  tilescope replay flash.json");
    sub->callback(
        [] { in_memory("record fewer thread blocks, or no values", [] { replay_file(path, options.json); }); });
}

}  // namespace tilescope::cli
