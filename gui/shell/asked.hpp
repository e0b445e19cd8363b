// What can be asked for both by the window's command line and by the page's address: a state or a scene, and with it an
// answer, a caption, or no tour.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "show/state/scenes.hpp"
#include "show/state/state.hpp"

namespace CLI {
class App;
}

namespace tilescope::gui::shell {

struct Asked {
    show::State state;
    std::string scene;
    bool answer = false, no_tour = false;
    std::optional<std::string> caption;  ///< nullopt: no caption; empty: the setup's
    std::vector<std::string> typed;      ///< flags of the state, as typed
};

/// Adds ALGO, all flags that describe a state, and --scene, --answer, --caption and --no-tour.
void add_asked_options(CLI::App& app, Asked& asked);
/// To be called after parsing: sets asked.typed. Where the flags name neither an algorithm nor a scene, asked.state
/// becomes first_state(), unless `shows_something_else`: another flag, such as --open, says what to show.
void look_at_typed(const CLI::App& app, Asked& asked, bool shows_something_else = false);
/// The state of `scene`, changed by the flags in asked.typed. Throws UsageError.
show::State state_asked(const Asked& asked, const show::Scene& scene);

}  // namespace tilescope::gui::shell
