// Scenes of a lecture: a state of the window, what to see in it, and a question. A scene is a file of JSON: what the
// window saves, with "title", "caption", "question", "answer" and "notes" beside it (docs/gui.md).
#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "show/state.hpp"

namespace tilescope::show {

struct Scene {
    std::string name;     ///< of the file, without number and ending
    std::string title;    ///< what it is about
    std::string caption;  ///< its point, in a sentence or two
    std::string question, answer;
    std::string notes;  ///< what a lecturer says, in about a minute; the window never shows it
    State state;
};

/// Those that the program brings along, in the order of a lecture.
const std::vector<Scene>& scenes();
/// One of them, or one in a file; UsageError names the flag, and the nearest name.
Scene scene_named(const std::string& name);
/// Its place among those that the program brings along; -1: none of them.
int scene_number(const Scene& scene);
/// "5 of 13 · Columns and rows".
std::string scene_title(const Scene& scene);

/// What of a setup is not as the scene has it: "heads 128", "without causal", "race flash_v1".
std::vector<std::string> changes_of(const Scene& scene, const Setup& now);
/// The scene's words beside a setup. Where that is another one the title says what was changed, and the rest that it is
/// of what there was before.
Scene worded_for(const Scene& scene, const Setup& now);

/// What is shown, as a file: with the words of the scene, if there is one.
void save_shown(const State& state, const Scene* scene, const std::string& path);
/// What a file has that was saved: read_state(), with the words of its own, if there are any.
struct Saved {
    State state;
    std::optional<Scene> scene;
};
Saved read_saved(const std::string& path);

/// All that there is to say of a scene, for who shows it.
void print_notes(std::ostream& out, const Scene& scene);

}  // namespace tilescope::show
