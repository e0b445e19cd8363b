// What the window's command line and the page's address both ask for: a state, or a scene, and what stands around it.
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
    std::optional<std::string> caption;  ///< empty: the setup's
    std::vector<std::string> typed;      ///< flags of the state, as typed
};

/// Adds ALGO, all flags that describe a state, and --scene, --answer, --caption and --no-tour.
void add_asked_options(CLI::App& app, Asked& asked);
/// After parsing: notes what was typed. Where no run is named, and neither a scene nor something else is shown, `state`
/// becomes what the window begins with.
void look_at_typed(const CLI::App& app, Asked& asked, bool shows_something_else = false);
/// The state of a scene that is asked for, with what was typed beside it. Throws UsageError.
show::State state_asked(const Asked& asked, const show::Scene& scene);

}  // namespace tilescope::gui::shell
