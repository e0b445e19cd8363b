#include "gui/shell/stage_file.hpp"

#include <utility>

#include "core/text/message.hpp"
#include "gui/shell/capture.hpp"
#include "gui/shell/vectors.hpp"
#include "lab/flags/ending.hpp"
#include "lab/system/atomic_file.hpp"
#include "lab/system/signals.hpp"
#include "show/words/setup_text.hpp"

namespace tilescope::gui::shell {
using namespace lab;
using text::message;

void settle(App& app, Window& window) {
    app.derived.explorer.finish(app.shown.session, app.shown.view);
    for (int k = 0; k < 3; ++k) {
        check_stop(&control());
        window.lay_out(app, 0);
    }
}

void write_picture(App& app, Window& window, const std::string& ending, std::ostream& out) {
    if (ending != ".svg" && ending != ".pdf") {
        const Picture picture = window.picture(app, 0);
        check_stop(&control());
        return write_png(picture, out);
    }
    const std::string svg = as_svg(app.shown, app.screen, [&] { window.lay_out(app, 0); });
    check_stop(&control());
    ending == ".pdf" ? write_pdf(svg, out) : static_cast<void>(out << svg);
}

std::string export_stage(App& app, Window& window) {
    const std::string path = std::exchange(app.files.stage_file.path, {});
    if (path.empty()) return "";
    const std::string caption = app.files.stage_file.caption ? app.shown.caption() : "";
    app.screen.alone = Alone{caption, app.files.stage_file.transparent};
    std::string news = written_text(path);
    try {
        AtomicFile file(path);
        settle(app, window);
        write_picture(app, window, check_ending(message("export.name"), path, {".svg", ".pdf", ".png"}), file.stream());
        file.commit();
    } catch (const std::runtime_error& e) {
        news = e.what();
    }
    app.screen.alone.reset();
    return news;
}

}  // namespace tilescope::gui::shell
