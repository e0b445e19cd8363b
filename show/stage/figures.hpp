// The views that are explored, as figures: the request that `tilescope plot` would get.
#pragma once

#include "lab/figure/kinds.hpp"
#include "show/run/making.hpp"
#include "show/state/view.hpp"

namespace tilescope::show {

/// The kind of figure of a view that is explored.
const lab::FigureKind& figure_kind_of(Stage stage);

/// The figure shows the run's problem with its algorithm, its rival and the algorithms that people compare; in the view
/// `tiles` with its algorithm alone. The request leaves out the run's tiles, because figures choose or vary them, and
/// asks for one thread.
lab::FigureRequest figure_request(const Setup& setup, const Problem& problem, Stage stage);

/// The version, and the command that draws the figure again, as captions have them. `vary`: values of --vary.
std::string figure_command(const lab::FigureRequest& request, Stage stage, const std::vector<std::string>& vary,
                           lab::Theme theme, const std::string& file);

}  // namespace tilescope::show
