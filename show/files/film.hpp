// A film of the view that plays: from which operation to which, how long it is, and what is said of it.
#pragma once

#include <string>
#include <vector>

#include "show/state/state.hpp"

namespace tilescope::show {

/// What the user asks for in the window.
struct FilmOrder {
    std::string path;
    Index from = 0, to = 0;  ///< operations
    bool caption = true;

    friend bool operator==(const FilmOrder&, const FilmOrder&) = default;
};

/// Whether a file of this name is a film: .mp4 or .gif, in capitals or not.
bool is_film(const std::string& path);
/// The usual film: from the present position to the end of what is played; where the position is at the end, all of
/// what is played.
FilmOrder usual_film(const Playback& playback);
/// Throws UsageError where the run has no such operations.
void check_film(const FilmOrder& order, Index length);
/// Throws RunError without the program that makes films.
void require_film_writer();

/// How many pictures a film of these operations has at this speed; the session's pace says how long each move is.
Index film_pictures(const Session& session, Index from, Index to, double steps_per_second, Index pictures_a_second);
/// The arguments, without the program's name, that write this film of the state's view alone.
std::vector<std::string> film_command(State state, const FilmOrder& order, Index width, Index height);

/// "A film of 22.5 s: 90 operations at 4 operations/s, as it plays."; empty where the run has no such operations.
std::string film_length_text(const Session& session, const FilmOrder& order, double steps_per_second);
/// "film.mp4: picture 12 of 340"; before the first picture, what happens until then.
std::string filming_text(const std::string& path, Index done, Index all);
/// The text about a film that was cancelled.
std::string not_filmed_text(const std::string& path);
/// What the dialog says of the endings of file names.
std::string about_endings();

}  // namespace tilescope::show
