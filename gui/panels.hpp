// The panels, one wing each. A panel draws itself into the current ImGui window or child, fills it, and changes nothing
// but session, playback and view. No panel knows another.
#pragma once

#include "gui/app.hpp"

namespace tilescope::gui {

namespace wall {
void panel(App& app, Run& run, const char* title);  ///< the score matrix of one run with its painters; two in a race
}
namespace machine {
void panel(App& app, Run& run, const char* title);  ///< SMs, L2 and HBM of one run; two of them in a race
void overflow_panel(App& app);                      ///< where the tiles would have been
void making_panel(App& app, ImVec2 corner);         ///< over the panel, while another run is in the making
}  // namespace machine
namespace row {
void panel(App& app, Run& run, const char* title);  ///< one query's scores, and the sums that they go into
}
namespace gantt {
void panel(App& app);  ///< the thread blocks of whole runs in time
}
namespace explore {
void panel(App& app);  ///< what view.stage says, in the place of memory
}
namespace code {
void panel(App& app);
}
namespace detail {
void values_panel(App& app);
void counters_panel(App& app);
}  // namespace detail
namespace controls {
void panel(App& app);
}
namespace transport {
void panel(App& app);
}

/// In a hall, below the stage: a few lines of code, what happens, and what opens the drawers. `width`: its own.
float strip_height(const App& app, float width);
void strip(App& app);

/// The button that writes the view that is shown to a file, with its dialog: right of the item before it.
void export_control(App& app);
/// How far the film is that is being written, with its lower right corner at `corner`.
void filming_panel(App& app, ImVec2 corner);

/// The words of the scene, below the stage; 0 high where there is no scene. `width`: of the panel.
float scene_height(const App& app, float width);
void scene_panel(App& app);

void tour(App& app);  ///< over everything, when view.tour >= 0

}  // namespace tilescope::gui
