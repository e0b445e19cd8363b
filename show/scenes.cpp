#include "show/scenes.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/text/embedded.hpp"
#include "core/text/page.hpp"
#include "core/text/words.hpp"
#include "lab/text_file.hpp"

namespace tilescope::show {

std::span<const EmbeddedFile> embedded_scenes();

namespace {

using namespace lab;

/// Throws a json::exception where the text is no scene.
Scene scene_of(const std::string& name, const std::string& file) {
    const auto j = nlohmann::ordered_json::parse(file);
    const auto known = {"title", "caption", "question", "answer", "notes", "tilescope-gui"};
    for (const auto& [key, value] : j.items())
        if (std::find(known.begin(), known.end(), key) == known.end())
            throw UsageError("has " + text::shown(key) +
                             ", which is nothing of a scene; try title, caption, question, answer or notes");
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
    const auto meant = text::nearest(name, names);
    if (!name.ends_with(".json"))
        throw UsageError(flag + ": there is no such scene; try " + (meant ? "--scene " + *meant + ", or " : "") +
                         "--scenes for all of them");
    try {
        return scene_of(name, read_text(name));
    } catch (const Unreadable& e) {
        throw UsageError(flag + ": " + e.why + "; docs/gui.md shows what a scene looks like");
    } catch (const nlohmann::json::parse_error&) {
        throw UsageError(flag + ": is not JSON; docs/gui.md shows what a scene looks like");
    } catch (const nlohmann::json::type_error&) {
        throw UsageError(flag + ": something in it is not text; docs/gui.md shows what a scene looks like");
    } catch (const nlohmann::json::exception&) {
        throw UsageError(flag + ": has no title or no state; docs/gui.md shows what a scene looks like");
    } catch (const UsageError& e) {
        throw UsageError(flag + ": " + e.what());
    }
}

int scene_number(const Scene& scene) {
    for (std::size_t k = 0; k < scenes().size(); ++k)
        if (scenes()[k].name == scene.name) return static_cast<int>(k);
    return -1;
}

std::string scene_title(const Scene& scene) {
    const int number = scene_number(scene);
    if (number < 0) return scene.title;
    return std::to_string(number + 1) + " of " + std::to_string(scenes().size()) + " · " + scene.title;
}

void print_notes(std::ostream& out, const Scene& scene) {
    out << scene_title(scene) << '\n';
    const auto say = [&](const char* what, const std::string& words) {
        if (!words.empty()) text::print_wrapped(out, what + words, "  ");
    };
    say("", scene.caption), say("", scene.notes);
    say("Question: ", scene.question), say("Answer: ", scene.answer);
}

}  // namespace tilescope::show
