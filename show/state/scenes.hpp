// Scenes of a lecture: a state of the window, what to see in it, and a question. A scene is a file of JSON: what the
// window saves, with "title", "caption", "question", "answer" and "notes" beside it (docs/gui.md).
#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "show/state/state.hpp"

namespace tilescope::show {

struct Scene {
    std::string name;     ///< of the file, without number and ending
    std::string title;    ///< what it is about
    std::string caption;  ///< its point, in a sentence or two
    std::string question, answer;
    std::string notes;  ///< what a lecturer says, in about a minute; the window never shows it
    State state;
};

/// The scenes that come with the program, in the order of a lecture.
const std::vector<Scene>& scenes();
/// The scene of this name among scenes(), or the scene in the file of this name. UsageError names the flag, and the
/// nearest name.
Scene scene_named(const std::string& name);
/// The number of a scene among those that come with the program, from 0; -1: none of them.
int scene_number(const Scene& scene);
/// "5 of 13 · Columns and rows".
std::string scene_title(const Scene& scene);

/// How a setup differs from the scene's: "heads 128", "without causal", "race flash_v1".
std::vector<std::string> changes_of(const Scene& scene, const Setup& now);
/// The scene, worded for a setup. Where this is not the scene's setup, the title lists the changes, and the other words
/// say that they are about the setup before the changes.
Scene worded_for(const Scene& scene, const Setup& now);

/// Saves what is shown to a file: with the words of the scene, if there is one.
void save_shown(const State& state, const Scene* scene, const std::string& path);
/// The contents of a saved file: its state, as read_state() reads it, and a scene with its own words, if it has any.
struct Saved {
    State state;
    std::optional<Scene> scene;
};
Saved read_saved(const std::string& path);

/// Prints all words of a scene, for the lecturer.
void print_notes(std::ostream& out, const Scene& scene);

}  // namespace tilescope::show
