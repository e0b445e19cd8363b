// The flags that say what to run, and rows of controls that change one of them.
#pragma once

#include <optional>

#include "gui/app.hpp"
#include "gui/draw/widgets.hpp"
#include "lab/flags/request.hpp"

namespace tilescope::gui::controls {

/// Changes the flags and runs again.
template <class F>
void change(Shown& shown, F&& what) {
    Setup s = shown.session.setup();
    what(s.options);
    shown.session.ask(s);
}

inline const lab::Options& options(const Shown& shown) { return shown.session.setup().options; }

/// A typed number, rounded to a whole one. Whether its value is allowed is checked when the run is made.
Index typed(double x);
/// A row for a number of the problem; its error is shown where the run would be.
void index_row(Shown& shown, Screen& screen, NumberRow row, std::optional<Index> lab::Options::*member);
void number_flag_row(Shown& shown, Screen& screen, NumberRow row, std::optional<double> lab::Options::*member);
/// The request that the flags make; nullptr while the session is busy, or where the flags are wrong.
const lab::Request* asked_request(const Shown& shown);
/// The problem that the flags ask for, even where they are wrong.
Problem asked(const Shown& shown);

}  // namespace tilescope::gui::controls
