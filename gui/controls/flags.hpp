// What is asked for by flags, and rows that change one of them.
#pragma once

#include <optional>

#include "gui/app.hpp"
#include "gui/draw/widgets.hpp"
#include "lab/flags/request.hpp"

namespace tilescope::gui::controls {

/// Changes the flags and runs again.
template <class F>
void change(App& app, F&& what) {
    Setup s = app.session.setup();
    what(s.options);
    app.session.ask(s);
}

inline const lab::Options& options(const App& app) { return app.session.setup().options; }

/// Typed numbers may be anything; what they mean is checked when the run is made.
Index typed(double x);
/// A number of the problem; what is wrong with it is said where the run would be.
void index_row(App& app, NumberRow row, std::optional<Index> lab::Options::*member);
void number_flag_row(App& app, NumberRow row, std::optional<double> lab::Options::*member);
/// What the flags came to; nullptr while that is not known, or where they are wrong.
const lab::Request* asked_request(const App& app);
/// What is asked for, also where it is wrong.
Problem asked(const App& app);

}  // namespace tilescope::gui::controls
