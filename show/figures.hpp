// The views that are explored, as figures: what `tilescope plot` would be asked for.
#pragma once

#include "lab/figure/kinds.hpp"
#include "show/making.hpp"
#include "show/view.hpp"

namespace tilescope::show {

/// Of a view other than memory.
const lab::FigureKind& figure_kind_of(Stage stage);

/// The run's algorithm among those that people compare, its rival, and its problem; without its tiles, which the
/// figures choose or vary. On one thread.
lab::FigureRequest figure_request(const Setup& setup, const Problem& problem, Stage stage);

/// The line that draws it again, with the version, as captions have it. `vary`: as that flag has it.
std::string figure_command(const lab::FigureRequest& request, Stage stage, const std::vector<std::string>& vary,
                           lab::Theme theme, const std::string& file);

}  // namespace tilescope::show
