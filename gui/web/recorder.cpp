#include "gui/web/recorder.hpp"

#include <algorithm>
#include <utility>

#include "show/words/setup_text.hpp"

namespace tilescope::gui::web {

void Recorder::prepare(Shown& shown, Screen& screen, const Files& files) {
    before_ = Before{shown.state(), screen.alone};
    const FilmOrder& order = files.filming->order;
    screen.alone = Alone{order.caption ? shown.caption() : "", false};
    // A film does not stop.
    shown.view.breakpoints.clear(), shown.view.play_through = true, shown.playback.loop = false;
    shown.playback.pause(), shown.playback.seek(order.from);
}

void Recorder::begin(Shown& shown, const Files& files, Tell tell) {
    tell("film", files.filming->order.path);
    shown.playback.play();
}

void Recorder::work(Shown& shown, Screen& screen, Files& files, double now, Tell tell) {
    if (!files.filming || !before_) return;
    if (files.filming->cancelled) return end(shown, screen, files, false, tell);
    const Index last = files.filming->order.to;
    if (!ends_ && (shown.playback.position() >= last || !shown.playback.playing())) {
        shown.playback.pause(), shown.playback.seek(std::min(shown.playback.position(), last));
        ends_ = now + std::clamp(1000 / shown.playback.speed(), 100.0, 2000.0);
    }
    if (ends_ && now >= *ends_) end(shown, screen, files, true, tell);
}

void Recorder::end(Shown& shown, Screen& screen, Files& files, bool keep, Tell tell) {
    tell("filmed", keep ? "keep" : "");
    const std::string path = files.filming->order.path;
    const Before before = *std::exchange(before_, {});
    ends_.reset(), files.filming.reset();
    shown.restore(before.state);
    screen.alone = before.alone;
    screen.say(keep ? written_text(path) : not_filmed_text(path));
}

}  // namespace tilescope::gui::web
