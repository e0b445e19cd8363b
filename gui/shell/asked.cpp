#include "gui/shell/asked.hpp"

#include <CLI/CLI.hpp>
#include <utility>

#include "core/text/message.hpp"

namespace tilescope::gui::shell {
using namespace show;
using text::message;

void add_asked_options(CLI::App& app, Asked& asked) {
    add_state_options(app, asked.state);
    app.add_option("--scene", asked.scene, message("window_flags.scene"))->type_name("NAME|FILE.json");
    app.add_flag("--answer", asked.answer, message("window_flags.answer"));
    app.add_option_function<std::string>(
           "--caption", [&asked](const std::string& text) { asked.caption = text; }, message("window_flags.caption"))
        ->expected(0, 1)
        ->type_name("[TEXT]");
    app.add_flag("--no-tour", asked.no_tour, message("window_flags.no_tour"));
}

void look_at_typed(const CLI::App& app, Asked& asked, bool shows_something_else) {
    asked.typed = typed_of_state(app);
    if (app.count("ALGO") == 0 && asked.scene.empty() && !shows_something_else)
        asked.state = first_state(std::move(asked.state), app.count("--step") > 0);
}

State state_asked(const Asked& asked, const Scene& scene) { return changed(scene.state, asked.typed); }

}  // namespace tilescope::gui::shell
