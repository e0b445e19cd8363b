#include "gui/shell/status.hpp"

#include <cmath>
#include <nlohmann/json.hpp>

#include "gui/draw/typeface.hpp"
#include "show/state/state.hpp"

namespace tilescope::gui::shell {
namespace {

/// The size of the smallest letters of the frame, and a text in this size.
std::optional<std::pair<float, std::string>> smallest_type(const Notes& notes) {
    std::map<const ImFont*, float> ems;
    std::optional<std::pair<float, std::string>> smallest;
    for (const auto& [panel, texts] : notes.panels())
        for (const Note& n : texts) {
            const auto [em, is_new] = ems.try_emplace(n.font);
            if (is_new) em->second = typeface_of(n.font).em;
            if (!smallest || em->second < smallest->first) smallest.emplace(em->second, n.text);
        }
    return smallest;
}

}  // namespace

std::string status(const App& app) {
    using Json = nlohmann::ordered_json;
    const Session& s = app.shown.session;
    const ImVec2 size = ImGui::GetIO().DisplaySize, mouse = ImGui::GetIO().MousePos;
    Json j{{"step", app.shown.playback.position()},
           {"of", app.shown.playback.length()},
           {"playing", app.shown.playback.playing()},
           {"settled", app.shown.playback.fraction() >= 1 && !app.shown.session.busy() && !app.derived.explorer.busy()},
           {"algorithm", s.setup().algorithm},
           {"command", words_json(command_line(app.shown.state()))},
           {"problem", s.problem()},
           {"overflows", s.overflow().has_value()},
           {"tour", app.shown.view.tour},
           {"size", {size.x, size.y}},
           {"mouse", {mouse.x, mouse.y}},
           {"inputs", app.input.count}};
    if (const Run* run = s.run()) {
        const Counters& c = run->counted().counters;
        Json counters;
        for (const auto& [name, member] : Counters::fields) counters[name] = c.*member;
        j["counters"] = std::move(counters);
        j["line"] = run->moment().sms.empty() ? 0 : run->moment().sms[static_cast<std::size_t>(app.shown.view.sm)].line;
    }
    Json places = Json::object();
    for (const auto& [name, at] : app.screen.places) places[name] = {at.x, at.y, at.z, at.w};
    j["places"] = std::move(places);
    Json texts = Json::object();
    for (const auto& [panel, notes] : app.screen.notes.panels()) {
        Json& list = texts[panel] = Json::array();
        for (const Note& n : notes) list.push_back({n.text, std::round(n.at.x), std::round(n.at.y)});
    }
    j["texts"] = std::move(texts);
    if (const auto smallest = smallest_type(app.screen.notes)) j["smallest"] = {smallest->first, smallest->second};
    return j.dump(-1, ' ', false, Json::error_handler_t::replace);  // texts may hold names of files, with any bytes
}

}  // namespace tilescope::gui::shell
