// The files that a page in a browser writes, without other programs: pictures of the stage, films of it that the
// browser records while it plays, and the numbers of the views that are explored.
#pragma once

#include <string>

#include "show/run/session.hpp"
#include "show/state/view.hpp"

namespace tilescope::show {

/// "wall.svg", "tiles.csv": the name of a view's file where the user gives none.
std::string usual_page_file(Stage stage);
/// What the export button does.
std::string about_page_export(Stage stage);
/// What the dialog says of the endings of file names.
std::string about_page_endings();
/// What the dialog says of films.
std::string about_page_films();
/// Whether a file of this name is a film: .webm or .mp4, in capitals or not.
bool is_page_film(const std::string& path);
/// Throws UsageError where the page cannot write the stage to a file of this name.
void check_page_file(const Session& session, Stage stage, const std::string& path);

}  // namespace tilescope::show
