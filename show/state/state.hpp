// The state of the window that can be saved, opened and typed: one list of flags describes all of it.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "show/run/playback.hpp"
#include "show/run/session.hpp"
#include "show/state/view.hpp"

namespace CLI {
class App;
}

namespace tilescope::show {

struct State {
    Setup setup;
    Index step = 0;  ///< the position in time
    Stretch stretch;
    double speed = 4;  ///< operations a second
    bool loop = false;
    View view;
    std::vector<std::string> remarks;  ///< on former names that were typed or saved, with today's names

    friend bool operator==(const State&, const State&) = default;
};

State state_of(const Session& session, const Playback& playback, const View& view);
void restore(const State& state, Session& session, Playback& playback, View& view);

/// The state to begin with where no algorithm is named: first_setup() of the setup asked for. Where nothing is asked
/// for and no step is given, its step is one in which much of the first lesson can be seen.
State first_state(State asked, bool step_given);

/// Adds the ALGO argument and all flags that describe a state.
void add_state_options(CLI::App& app, State& state);
/// The options of add_state_options() that the user typed, as arguments again.
std::vector<std::string> typed_of_state(const CLI::App& app);
/// The state after these arguments have replaced parts of it.
State changed(State state, std::vector<std::string> arguments);
/// The arguments, without the program's name, that add_state_options() reads back to an equal state.
std::vector<std::string> command_line(const State& state);
/// command_line() as one line for a shell, with the program's name.
std::string shell_command(const State& state);

/// Words as JSON: strings, or lists of bytes where they are not UTF-8, as names of files may not be.
nlohmann::ordered_json words_json(const std::vector<std::string>& words);
/// A state file is JSON: the members of `said`, and {"tilescope-gui": [arguments]}. RunError when it cannot be written.
void save_state(const State& state, const std::string& path, const nlohmann::ordered_json& said);
void save_state(const State& state, const std::string& path);
/// Whether the file begins as a recording does, and not as a state.
bool is_recording(const std::string& path);
/// A saved state or, for a file that `tilescope trace` wrote, a state at the beginning of its recording. UsageError,
/// which names the file, when it is neither.
State read_state(const std::string& path);
/// The state in a file's text. Throws a json::exception where it has no state, UsageError where the state is wrong.
State state_in(const std::string& text);
/// "wall": as --view has it.
std::string name_of(Stage stage);
/// "Saved to tilescope.json".
std::string saved_text(const std::string& path);
/// "tilescope.json is there already; once more replaces it".
std::string replacing_text(const std::string& path);
/// "Opened tilescope.json", with what there is to remark on it.
std::string opened_text(const std::string& path, const State& state);

}  // namespace tilescope::show
