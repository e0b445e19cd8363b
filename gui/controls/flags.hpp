// What is asked for by flags, and rows that change one of them.
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

/// A typed number as a whole one. Its value is checked when the run is made.
Index typed(double x);
/// A row for a number of the problem; its error is shown where the run would be.
void index_row(Shown& shown, Screen& screen, NumberRow row, std::optional<Index> lab::Options::*member);
void number_flag_row(Shown& shown, Screen& screen, NumberRow row, std::optional<double> lab::Options::*member);
/// The request that the flags make; nullptr while that is not known, or where they are wrong.
const lab::Request* asked_request(const Shown& shown);
/// The problem that is asked for, even where it is wrong.
Problem asked(const Shown& shown);

}  // namespace tilescope::gui::controls
