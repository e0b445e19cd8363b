// `tilescope replay FILE`: carries out again what a recording says, and compares every step.
#include <iostream>

#include "cli/commands.hpp"
#include "cli/json.hpp"
#include "cli/progress.hpp"
#include "cli/said.hpp"
#include "core/text/message.hpp"
#include "core/text/words.hpp"
#include "lab/flags/options.hpp"
#include "lab/report/recording.hpp"

namespace tilescope::cli {
using namespace lab;
using text::message;
namespace {

/// Prints the result as JSON. Makes the path and the difference printable, but does not cut them.
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
        const Progress progress([&] { return message("replay.reading", path); });
        return read_recording(path, &control());
    }();
    const std::string name = recording.experiment.algorithm->name;
    const std::string different = [&] {
        const Progress progress = Progress::blocks(message("replay.replaying"));
        return replay(recording, &control());
    }();
    if (json) print_json(path, recording, different);
    if (!different.empty()) throw RunError(message("replay.differs", text::shown(path), name, different));
    if (json) return;
    std::cout << message(recording.trace.has_values() ? "replay.same_to_the_bit" : "replay.same_without_contents",
                         text::shown(path), recording.trace.size(), name)
              << '\n';
}

}  // namespace

void add_replay(CLI::App& app) {
    static std::string path;
    static Options options;
    CLI::App* sub = app.add_subcommand("replay", message("replay.command"));
    sub->add_option("FILE", path, message("replay.file"))->required();
    add_json_option(*sub, options);
    sub->footer(message("replay.footer") + '\n' + examples({"replay.example_trace", "replay.example"}));
    sub->callback([] { in_memory(message("replay.needs_less"), [] { replay_file(path, options.json); }); });
}

}  // namespace tilescope::cli
