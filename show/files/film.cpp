#include "show/files/film.hpp"

#include <algorithm>
#include <filesystem>

#include "core/machine/error.hpp"
#include "core/text/numbers.hpp"
#include "core/text/words.hpp"
#include "lab/system/child.hpp"
#include "show/words/time_text.hpp"

namespace tilescope::show {
using namespace lab;
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
    const std::string steps = "the run has " + text::grouped(length) + " operations; try ";
    if (order.to < 1 || order.to > length)
        throw UsageError("to operation " + std::to_string(order.to) + ": " + steps + std::to_string(length));
    if (order.from < 0 || order.from >= order.to)
        throw UsageError("from operation " + std::to_string(order.from) + ": must be below operation " +
                         std::to_string(order.to) + ", where the film ends; try 0");
}

void require_film_writer() {
    if (!on_path("ffmpeg"))
        throw RunError(
            "a film needs ffmpeg; install it (apt-get install ffmpeg), or write a picture: a name that ends in .png");
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
    return "A film of " + duration(static_cast<double>(pictures) / static_cast<double>(pictures_a_second)) + ": " +
           text::counted(o.to - o.from, position_word(s)) + " at " + speed_text(s, steps_per_second) + ", as it plays.";
}

std::string filming_text(const std::string& path, Index done, Index all) {
    const std::string name = text::shown(std::filesystem::path(path).filename().string());
    if (all == 0) return name + ": counting and recording";
    return name + ": picture " + text::grouped(done) + " of " + text::grouped(all);
}

std::string not_filmed_text(const std::string& path) { return "Cancelled: " + text::shown(path) + " is not written"; }

std::string about_endings() { return "A picture where the name ends in .svg, .pdf or .png; a film in .mp4 or .gif."; }

}  // namespace tilescope::show
