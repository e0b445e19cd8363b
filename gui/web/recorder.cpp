#include "gui/web/recorder.hpp"

#include <algorithm>
#include <utility>

#include "show/words/setup_text.hpp"

namespace tilescope::gui::web {

void Recorder::prepare(App& app) {
    before_ = Before{app.state(), app.alone};
    const FilmOrder& order = app.filming->order;
    app.alone = Alone{order.caption ? caption_text(app.session, app.view.stage == Stage::time) : "", false};
    app.view.breakpoints.clear(), app.view.play_through = true, app.playback.loop = false;  // a film does not stop
    app.playback.pause(), app.playback.seek(order.from);
}

void Recorder::begin(App& app, Tell tell) {
    tell("film", app.filming->order.path);
    app.playback.play();
}

void Recorder::work(App& app, double now, Tell tell) {
    if (!app.filming || !before_) return;
    if (app.filming->cancelled) return end(app, false, tell);
    const Index last = app.filming->order.to;
    if (!ends_ && (app.playback.position() >= last || !app.playback.playing())) {
        app.playback.pause(), app.playback.seek(std::min(app.playback.position(), last));
        ends_ = now + std::clamp(1000 / app.playback.speed(), 100.0, 2000.0);
    }
    if (ends_ && now >= *ends_) end(app, true, tell);
}

void Recorder::end(App& app, bool keep, Tell tell) {
    tell("filmed", keep ? "keep" : "");
    const std::string path = app.filming->order.path;
    const Before before = *std::exchange(before_, {});
    ends_.reset(), app.filming.reset();
    app.restore(before.state);
    app.alone = before.alone;
    app.say(keep ? written_text(path) : not_filmed_text(path));
}

}  // namespace tilescope::gui::web
