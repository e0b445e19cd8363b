// The panels, one wing each. A panel draws itself into the current ImGui window or child, fills it, and takes only the
// parts of App that it uses. Of Shown it changes session, playback and view only, except the controls of scenes. No
// panel knows another.
#pragma once

#include "gui/app.hpp"

namespace tilescope::gui {

namespace wall {
/// The score matrix of one run with its painters; two in a race.
void panel(Shown& shown, Derived& derived, Screen& screen, Input& input, Run& run, const char* title);
}  // namespace wall
namespace machine {
/// SMs, L2 and HBM of one run; two of them in a race.
void panel(Shown& shown, Derived& derived, Screen& screen, Run& run, const char* title);
void overflow_panel(Shown& shown, Screen& screen);               ///< what does not fit, in place of the figure
void making_panel(Shown& shown, Screen& screen, ImVec2 corner);  ///< over the panel, while another run is in the making
}  // namespace machine
namespace row {
/// One query's scores, and the sums that they go into.
void panel(Shown& shown, Derived& derived, Screen& screen, Run& run, const char* title);
}  // namespace row
namespace gantt {
/// The thread blocks of whole runs in time; or, where view.lanes asks for them, the lanes of a thread block.
void panel(Shown& shown, Derived& derived, Screen& screen);
/// Moves the cursor of the lanes. Returns whether they are shown and the key moves it.
bool moves_cursor(Shown& shown, Derived& derived, Key key);
}  // namespace gantt
namespace explore {
/// The plane of tiles, the roofline or bytes against N, as view.stage says.
void panel(Shown& shown, Derived& derived, Screen& screen, Input& input);
}  // namespace explore
namespace code {
void panel(Shown& shown, Screen& screen);
}
namespace detail {
void values_panel(Shown& shown, Screen& screen);
void counters_panel(Shown& shown, Screen& screen);
}  // namespace detail
namespace controls {
void panel(Shown& shown, Screen& screen, Files& files, Host& host);
}
namespace transport {
void panel(Shown& shown, Screen& screen);
}

/// In a hall, below the stage: a few lines of code, what happens, and what opens the drawers. `width`: of the strip.
float strip_height(const Shown& shown, const Screen& screen, float width);
void strip(Shown& shown, Screen& screen);

/// Right of the last item: the button that exports the view to a file, and its dialog.
void export_control(const Shown& shown, Derived& derived, Screen& screen, Files& files, const Host& host);
/// The progress of the film that is being written. `corner`: the lower right corner of the panel.
void filming_panel(Screen& screen, Filming& film, ImVec2 corner);

/// The words of the scene, below the stage; 0 high where there is no scene. `width`: of the panel.
float scene_height(const Shown& shown, const Screen& screen, float width);
void scene_panel(Shown& shown, Screen& screen);

void tour(Shown& shown, Screen& screen);  ///< over everything, when view.tour >= 0

}  // namespace tilescope::gui
