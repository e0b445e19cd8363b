#include "show/state/scenes.hpp"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "core/text/embedded.hpp"
#include "core/text/message.hpp"
#include "core/text/page.hpp"
#include "core/text/words.hpp"
#include "lab/system/text_file.hpp"

namespace tilescope::show {

std::span<const EmbeddedFile> embedded_scenes();

namespace {

using namespace lab;
using text::message;

/// Throws a json::exception where the text is no scene.
Scene scene_of(const std::string& name, const std::string& file) {
    const auto j = nlohmann::ordered_json::parse(file);
    const auto known = {"title", "caption", "question", "answer", "notes", "tilescope-gui"};
    for (const auto& [key, value] : j.items())
        if (std::find(known.begin(), known.end(), key) == known.end())
            throw UsageError(message("scenes.unknown_key", text::shown(key)));
    const auto words = [&](const char* key) { return j.contains(key) ? j.at(key).get<std::string>() : std::string(); };
    return {name,
            j.at("title").get<std::string>(),
            words("caption"),
            words("question"),
            words("answer"),
            words("notes"),
            state_in(file)};
}

/// "05-columns-and-rows.json" is columns-and-rows.
std::string name_of_file(std::string_view file) {
    return std::string(file.substr(3, file.size() - 3 - std::string_view(".json").size()));
}

/// The scene of a file, or UsageError: what was asked for, and what is wrong with it.
Scene scene_in(const std::string& asked, const std::string& path, const std::string& file) {
    try {
        return scene_of(path, file);
    } catch (const nlohmann::json::parse_error&) {
        throw UsageError(message("scenes.not_json", asked));
    } catch (const nlohmann::json::type_error&) {
        throw UsageError(message("scenes.is_no_text", asked));
    } catch (const nlohmann::json::exception&) {
        throw UsageError(message("scenes.lacks", asked));
    } catch (const UsageError& e) {
        throw UsageError(message("scenes.in_file", asked, e.what()));
    }
}

std::string read_scene(const std::string& asked, const std::string& path) {
    try {
        return read_text(path);
    } catch (const Unreadable& e) {
        throw UsageError(message("scenes.unreadable", asked, e.why));
    }
}

/// Flags that decide a run, by name, with their values; a switch that is off is left out.
std::map<std::string, std::string> flags_by_name(const Setup& s) {
    std::map<std::string, std::string> flags;
    std::string* value = nullptr;
    for (const std::string& word : flags_of(s.options))
        if (word.starts_with("--"))
            value = word.ends_with("=false") ? nullptr : &flags[word.substr(2)];
        else if (value)
            *value = word;
    if (!s.rival.empty()) flags["race"] = s.rival, flags["pace"] = name_of(s.pace);
    return flags;
}

}  // namespace

const std::vector<Scene>& scenes() {
    static const std::vector<Scene> all = [] {
        std::vector<Scene> read;
        for (const EmbeddedFile& file : embedded_scenes())
            read.push_back(scene_of(name_of_file(file.name), std::string(file.text)));
        return read;
    }();
    return all;
}

Scene scene_named(const std::string& name) {
    std::vector<std::string> names;
    for (const Scene& s : scenes()) {
        if (s.name == name) return s;
        names.push_back(s.name);
    }
    const std::string flag = "--scene " + text::shown(name);
    if (!name.ends_with(".json")) {
        const auto meant = text::nearest(name, names);
        throw UsageError(meant ? message("scenes.unknown_near", text::shown(name), *meant)
                               : message("scenes.unknown", text::shown(name)));
    }
    return scene_in(flag, name, read_scene(flag, name));
}

int scene_number(const Scene& scene) {
    for (std::size_t k = 0; k < scenes().size(); ++k)
        if (scenes()[k].name == scene.name) return static_cast<int>(k);
    return -1;
}

std::string scene_title(const Scene& scene) {
    const int number = scene_number(scene);
    if (number < 0) return scene.title;
    return message("scenes.title", number + 1, scenes().size(), scene.title);
}

std::vector<std::string> changes_of(const Scene& scene, const Setup& now) {
    if (now.recording != scene.state.setup.recording && !now.recording.empty()) return {text::shown(now.recording)};
    std::vector<std::string> changes;
    if (now.algorithm != scene.state.setup.algorithm) changes.push_back(text::shown(now.algorithm));
    const auto was = flags_by_name(scene.state.setup), is = flags_by_name(now);
    for (const auto& [flag, value] : is)
        if (const auto at = was.find(flag); at == was.end() || at->second != value)
            changes.push_back(flag + (value.empty() ? "" : ' ' + text::shown(value)));
    for (const auto& [flag, value] : was)
        if (!is.contains(flag)) changes.push_back(message("scenes.without", flag));
    return changes;
}

Scene worded_for(const Scene& scene, const Setup& now) {
    constexpr std::size_t most = 3;
    std::vector<std::string> changes = changes_of(scene, now);
    if (changes.empty()) return scene;
    if (changes.size() > most) {
        const std::size_t more = changes.size() - most + 1;
        changes.resize(most - 1);
        changes.push_back(message("scenes.flags_more", more));
    }
    Scene marked = scene;
    marked.title = message("scenes.title_changed", text::join(changes, ", "), scene.title);
    for (std::string* words : {&marked.caption, &marked.question, &marked.answer, &marked.notes})
        if (!words->empty()) *words = message("scenes.before_changes", *words);
    return marked;
}

void save_shown(const State& state, const Scene* scene, const std::string& path) {
    auto said = nlohmann::ordered_json::object();
    if (scene) {
        const Scene s = worded_for(*scene, state.setup);
        said["title"] = s.title;
        for (const auto& [key, words] : {std::pair("caption", &s.caption), std::pair("question", &s.question),
                                         std::pair("answer", &s.answer), std::pair("notes", &s.notes)})
            if (!words->empty()) said[key] = *words;
    }
    save_state(state, path, said);
}

Saved read_saved(const std::string& path) {
    Saved saved{read_state(path), {}};
    if (is_recording(path)) return saved;
    const std::string asked = text::shown(path), file = read_scene(asked, path);
    if (nlohmann::ordered_json::parse(file).contains("title")) saved.scene = scene_in(asked, path, file);
    return saved;
}

void print_notes(std::ostream& out, const Scene& scene) {
    out << scene_title(scene) << '\n';
    const auto say = [&](const std::string& words) {
        if (!words.empty()) text::print_wrapped(out, words, "  ");
    };
    say(scene.caption), say(scene.notes);
    if (!scene.question.empty()) say(message("scenes.question", scene.question));
    if (!scene.answer.empty()) say(message("scenes.answer", scene.answer));
}

}  // namespace tilescope::show
