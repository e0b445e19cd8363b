// Everything that a frame needs, and the frame. Dear ImGui only: no window, no OpenGL.
#pragma once

#include <imgui.h>

#include <map>
#include <optional>

#include "gui/draw/notes.hpp"
#include "gui/draw/theme.hpp"
#include "show/files/export.hpp"
#include "show/files/film.hpp"
#include "show/run/playback.hpp"
#include "show/run/session.hpp"
#include "show/stage/explorer.hpp"
#include "show/stage/firsts.hpp"
#include "show/stage/l2_shown.hpp"
#include "show/stage/row.hpp"
#include "show/stage/softmaxes.hpp"
#include "show/stage/wall.hpp"
#include "show/state/history.hpp"
#include "show/state/scenes.hpp"
#include "show/state/state.hpp"
#include "show/state/view.hpp"
#include "show/words/setup_text.hpp"

namespace tilescope::gui {

using namespace show;  // the story that the window shows

/// The keys that mean something everywhere.
enum class Key : std::uint8_t {
    space,
    left,
    right,
    operation_back,
    operation_on,
    home,
    end,
    escape,
    tab,
    code,
    values,
    zoom,
    enter,
    page_up,
    page_down,
    blank,
    full_screen,
    undo,
    redo,
    one,
    two,
    three,
    four,
    five,
    six,
    seven,
    up,
    down
};

/// What a dialog for a file holds: a path, kept for the next time, and what was wrong with it.
struct PathDialog {
    char path[1024] = "tilescope.json";
    std::string error;
    std::string replaces = {};  ///< a file that is there, and may be replaced
};

/// The stage without anything around it, for a picture of it.
struct Alone {
    std::string caption = {};  ///< below it; empty: none
    bool transparent = false;  ///< nothing is drawn behind it
};

/// What is asked of a picture of the stage in a file, beside its path.
struct StageFile {
    std::string path = {};  ///< asked for, and not written yet; empty: none
    bool caption = true, transparent = false;
};

/// A film that is written beside the frames.
struct Filming {
    FilmOrder order;
    State state;              ///< what the film shows
    Index done = 0, all = 0;  ///< pictures; 0: not known yet
    bool cancelled = false;   ///< asked for
};

/// Only where frames are drawn in the page of a browser.
struct InPage {
    std::string address;  ///< of the page, without # and what follows: what links begin with
    bool opens = false;   ///< asked for: the browser's dialog for a file
};

/// What is shown: the runs, where playing is in them, how they are looked at, and the scene that this began with.
struct Shown {
    Shown() = default;
    explicit Shown(const RecordingLimits& limits) : session(limits) {}

    Session session;
    Playback playback;
    View view;
    std::optional<Scene> scene;  ///< what is shown began with it, and may have been changed since
    bool revealed = false;       ///< its answer is shown
    History history;

    /// The run and its tick that the focus was chosen for; none for a focus that was asked for anew.
    std::optional<std::pair<std::uint64_t, Index>> followed;
    Setup stretched;                 ///< the setup that the playback's stretch is of
    std::optional<Index> wanted_sm;  ///< the focus of a restored state, until its run is there
    double waited = 0;               ///< seconds that a run has been waited for
    std::uint64_t drawn = 0;         ///< the version of the session that the last frame drew

    /// What the SM in focus does; nullptr without a run.
    const SmState* focus() const;
    /// Whether playing goes on, or the last move is still under way.
    bool moves() const { return playback.playing() || playback.fraction() < 1; }
    /// For below a picture: the algorithm, the problem, the GPU.
    std::string caption() const { return caption_text(session, view.stage == Stage::time); }
    State state() const { return state_of(session, playback, view); }
    void restore(const State& state) {
        show::restore(state, session, playback, view);
        wanted_sm = state.view.sm, stretched = session.setup();
    }
    /// One step, as far as the stride says; paused. A step on is shown as a move.
    void step_on();
    void step_back();
    /// Shows a scene, or a changed state of it, in the light and the size of type that there are.
    void open_scene(const Scene& opened) { open_scene(opened, opened.state); }
    void open_scene(const Scene& opened, State state);
    /// The scene, with its words as far as they fit what is shown; nullopt: there is none.
    std::optional<Scene> told_scene() const;
    /// Shows what was saved, with its own words.
    void open(const Saved& saved);
    /// The next scene (1), or the one before (-1); where there is none, the first, or the last.
    void turn_scene(int by);
};

/// What views show beside the runs themselves. It is worked out from the runs, and kept for the next frames.
struct Derived {
    Explorer explorer;
    Walls walls;
    L2sShown l2s;
    RowStories rows;
    Firsts firsts;
    SoftmaxesOfRows softmaxes;
};

/// What panels draw with, and what they leave for others: places, notes, a message.
struct Screen {
    Theme theme;
    Notes notes;  ///< what the last frame said
    /// Where controls are on the screen, by name: for scripts and tests that use a mouse (--log).
    std::map<std::string, ImVec4> places;  // x, y, width, height
    std::string message;                   ///< of the last thing done (saved, copied, ...), shown beside the transport
    double message_until = 0;
    std::optional<Alone> alone;  ///< asked for: a frame of the stage alone
    bool blank = false;          ///< nothing is drawn

    /// Names the item that was submitted last.
    void place(const std::string& name);
    void say(std::string text, double for_seconds = 4);
};

/// What keys and mouse ask for, beyond what Dear ImGui knows.
struct Input {
    std::vector<Key> keys;                    ///< pressed since the last frame
    Index count = 0;                          ///< keys, characters and mouse buttons that frames were told of
    bool zooms = false;                       ///< asked for: zoom in on what the mouse points at
    bool grabs = false;                       ///< the mouse went down in a zoomed view, on nothing that can be clicked
    std::optional<Spot> grabbed;              ///< `zoom` of the view when a drag began
    std::optional<std::size_t> hovered_cell;  ///< of the plane of tiles, in this frame

    /// Zooms in on a spot; across and down, 0 to 1.
    void zoom_in(View& view, float x, float y);
    /// Moves a zoomed view: with the mouse where it `drags`, and by its wheel. `whole`: size of the whole zoomed
    /// picture; `seen`: size of the part of it that is seen.
    void pan(View& view, const Theme& theme, ImVec2 whole, ImVec2 seen, bool drags);
};

/// Files that the window reads and writes: the dialogs that ask for a path, what is asked for, and how far it is.
struct Files {
    Export exporting;
    PathDialog dialog, export_dialog{"", {}, {}};
    StageFile stage_file;
    FilmOrder film;                  ///< in the dialog
    std::optional<Filming> filming;  ///< asked for, and not done yet
};

/// The window, or the page of a browser, that shows the frames, and what is asked of it.
struct Host {
    std::optional<InPage> page;  ///< none in a window
    bool full_screen = false;    ///< wanted of the window
    bool working = false;        ///< there is work to do beside what is drawn: frames should keep coming
};

/// Everything that a frame needs. A panel takes only the parts that it uses.
struct App {
    App() = default;
    explicit App(const RecordingLimits& limits) : shown(limits) {}

    Shown shown;
    Derived derived;
    Screen screen;
    Input input;
    Files files;
    Host host;
};

/// The reader that the layout is for: a hall as soon as that is asked for, even before its fonts are set.
Reader reader_of(const Shown& shown, const Screen& screen);
/// The panel that is open beside the stage where not all are: never `automatic`.
Drawer drawer_of(const Shown& shown, const Screen& screen);
/// Opens one, or closes it where it is open.
void turn(Shown& shown, const Screen& screen, Drawer which);

/// Fits playback to the run that is there now, takes the run to its position, and the focus to an SM that works.
void follow(Shown& shown);

/// Takes the runs to where playback is, lets `seconds` pass, handles keys and draws all panels.
void frame(App& app, double seconds);

}  // namespace tilescope::gui
