#include "show/files/film.hpp"

#include <algorithm>
#include <filesystem>

#include "core/machine/error.hpp"
#include "core/text/message.hpp"
#include "core/text/numbers.hpp"
#include "core/text/words.hpp"
#include "lab/system/child.hpp"
#include "show/words/time_text.hpp"

namespace tilescope::show {
using namespace lab;
using text::message;
namespace {

constexpr Index pictures_a_second = 30;

}  // namespace

bool is_film(const std::string& path) {
    std::string ending = std::filesystem::path(path).extension().string();
    for (char& c : ending)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return ending == ".mp4" || ending == ".gif";
}

FilmOrder usual_film(const Playback& playback) {
    const Index now = playback.position();
    const Index end = now < playback.last() ? playback.last() : playback.length();
    return {"", now < end ? now : playback.first(), end};
}

void check_film(const FilmOrder& order, Index length) {
    if (order.to < 1 || order.to > length)
        throw UsageError(
            message("film.to_beyond", std::to_string(order.to), text::grouped(length), std::to_string(length)));
    if (order.from < 0 || order.from >= order.to)
        throw UsageError(message("film.from_beyond", std::to_string(order.from), std::to_string(order.to)));
}

void require_film_writer() {
    if (!on_path("ffmpeg")) throw RunError(message("film.needs_ffmpeg"));
}

Index film_pictures(const Session& session, Index from, Index to, double steps_per_second, Index a_second) {
    double moves = 1;
    for (Index p = from; p < to; ++p) moves += session.weight(p + 1);
    return static_cast<Index>(moves / steps_per_second * static_cast<double>(a_second)) + 1;
}

std::vector<std::string> film_command(State state, const FilmOrder& order, Index width, Index height) {
    state.loop = false;
    state.stretch = {order.from, order.to};
    std::vector<std::string> words = command_line(state);
    for (const std::string& word : {"--export=" + order.path, "--fps=" + std::to_string(pictures_a_second),
                                    "--size=" + std::to_string(width) + "x" + std::to_string(height)})
        words.push_back(word);
    if (order.caption) words.emplace_back("--caption");
    return words;
}

std::string film_length_text(const Session& s, const FilmOrder& o, double steps_per_second) {
    if (o.from < 0 || o.from >= o.to || o.to > s.length()) return "";
    const Index pictures = film_pictures(s, o.from, o.to, steps_per_second, pictures_a_second);
    return message(s.rival() ? "film.length_of_race" : "film.length",
                   duration(static_cast<double>(pictures) / static_cast<double>(pictures_a_second)), o.to - o.from,
                   speed_text(s, steps_per_second));
}

std::string filming_text(const std::string& path, Index done, Index all) {
    const std::string name = text::shown(std::filesystem::path(path).filename().string());
    return all == 0 ? message("film.counting", name) : message("film.picture", name, done, all);
}

std::string not_filmed_text(const std::string& path) { return message("film.cancelled", text::shown(path)); }

std::string about_endings() { return message("film.endings"); }

}  // namespace tilescope::show
