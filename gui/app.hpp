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
#include "show/stage/lanes_shown.hpp"
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

/// What a key can mean, wherever the mouse is.
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
    std::string replaces = {};  ///< an existing file, which a second confirmation replaces
};

/// How a frame draws the stage alone, without the panels around it: for pictures.
struct Alone {
    std::string caption = {};  ///< below the stage; empty: none
    bool transparent = false;  ///< the stage has no background
};

/// A picture of the stage that the user wants in a file: the path, and how the picture looks.
struct StageFile {
    std::string path = {};  ///< of the picture still to be written; empty: none is wanted
    bool caption = true, transparent = false;
};

/// A film that is written while the frames go on.
struct Filming {
    FilmOrder order;
    State state;              ///< what the film shows
    Index done = 0, all = 0;  ///< pictures made, and of the whole film; all is 0 until it is known
    bool cancelled = false;   ///< the user asked to end it
};

/// What a frame needs to know where it is drawn in the page of a browser.
struct InPage {
    std::string address;  ///< of the page, up to its #: links begin with it
    bool opens = false;   ///< the user asked for the browser's dialog that opens a file
};

/// What is shown: the runs, the position in them, the view of them, and the scene that was opened.
struct Shown {
    Shown() = default;
    explicit Shown(const RecordingLimits& limits) : session(limits) {}

    Session session;
    Playback playback;
    View view;
    std::optional<Scene> scene;  ///< the last one opened; the user may have changed what it shows
    bool revealed = false;       ///< the scene's answer is shown
    History history;

    /// The run (by the session's version) and tick for which follow() chose the focus; nullopt: it chooses anew.
    std::optional<std::pair<std::uint64_t, Index>> followed;
    Setup stretched;                 ///< the setup for which the playback's stretch was set
    std::optional<Index> wanted_sm;  ///< the focus of a restored state, until its run is there
    double waited = 0;               ///< seconds that a run has been waited for
    std::uint64_t drawn = 0;         ///< the version of the session that the last frame drew

    /// The state of the SM in focus; nullptr without a run.
    const SmState* focus() const;
    /// Whether playing goes on, or the last move is still under way.
    bool moves() const { return playback.playing() || playback.fraction() < 1; }
    /// The caption below a picture: the algorithm, the problem, the GPU.
    std::string caption() const { return caption_text(session, view.stage == Stage::time); }
    State state() const { return state_of(session, playback, view); }
    void restore(const State& state) {
        show::restore(state, session, playback, view);
        wanted_sm = state.view.sm, stretched = session.setup();
    }
    /// Pauses, and goes one stride on or back. A step on is animated.
    void step_on();
    void step_back();
    /// Shows a scene, or a changed state of it. Light, projector mode, hidden controls and the drawer stay as they are.
    void open_scene(const Scene& opened) { open_scene(opened, opened.state); }
    void open_scene(const Scene& opened, State state);
    /// The scene, with words that say where the setup now differs from the scene's; nullopt without a scene.
    std::optional<Scene> told_scene() const;
    /// Shows a saved state, with the scene that was saved with it.
    void open(const Saved& saved);
    /// Opens the next scene (`by` is 1) or the one before (-1); where no scene is shown, the first or the last one.
    void turn_scene(int by);
};

/// What views compute from the runs, kept for the next frames.
struct Derived {
    Explorer explorer;
    Walls walls;
    L2sShown l2s;
    RowStories rows;
    Firsts firsts;
    SoftmaxesOfRows softmaxes;
    LanesShown lanes;
};

/// What panels draw with, and what they report: the places of controls, the texts drawn, a message.
struct Screen {
    Theme theme;
    Notes notes;  ///< the texts of the frame
    /// Where controls are on the screen, by name: for scripts and tests that use a mouse (--log).
    std::map<std::string, ImVec4> places;  // x, y, width, height
    std::string message;                   ///< of the last thing done (saved, copied, ...), shown beside the transport
    double message_until = 0;
    std::optional<Alone> alone;  ///< set: the frame draws nothing but the stage
    bool blank = false;          ///< the screen is blank: nothing is drawn

    /// Notes the place of the item that was submitted last, by this name.
    void place(const std::string& name);
    void say(std::string text, double for_seconds = 4);
};

/// What keys and mouse ask for, beyond what Dear ImGui knows.
struct Input {
    std::vector<Key> keys;                    ///< pressed since the last frame
    Index count = 0;                          ///< keys, characters and mouse buttons that frames were told of
    bool zooms = false;                       ///< the user asked to zoom in on what the mouse points at
    bool grabs = false;                       ///< the mouse went down in a zoomed view, on nothing that can be clicked
    std::optional<Spot> grabbed;              ///< View::zoom when the drag began; nullopt: no drag
    std::optional<std::size_t> hovered_cell;  ///< of the plane of tiles, in this frame

    /// Zooms in on a spot of the stage: x across and y down, 0 to 1.
    void zoom_in(View& view, float x, float y);
    /// Moves a zoomed view by the wheel and, where `drags`, by the mouse. `whole`: size of the whole zoomed picture;
    /// `seen`: size of the part that is seen.
    void pan(View& view, const Theme& theme, ImVec2 whole, ImVec2 seen, bool drags);
};

/// Files that the window reads and writes: the dialogs that ask for a path, the files wanted, and their progress.
struct Files {
    Export exporting;
    PathDialog dialog, export_dialog{"", {}, {}};
    StageFile stage_file;
    FilmOrder film;                  ///< in the dialog
    std::optional<Filming> filming;  ///< the film that is being written; nullopt: none
};

/// The window, or the page of a browser, that shows the frames, and what they ask of it.
struct Host {
    std::optional<InPage> page;  ///< nullopt in a window
    bool full_screen = false;    ///< the window shall fill the screen
    bool working = false;        ///< work is left that frames do: they should keep coming
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

/// The reader that the layout is for. A hall counts as soon as the user asks for it, before its fonts are set.
Reader reader_of(const Shown& shown, const Screen& screen);
/// The drawer that is open, in a hall or in the hand: never `automatic`.
Drawer drawer_of(const Shown& shown, const Screen& screen);
/// Opens a drawer, or closes it where it is open.
void turn(Shown& shown, const Screen& screen, Drawer which);

/// Gives playback the length of the run that is shown, takes the run to playback's position, and moves the focus to an
/// SM that works.
void follow(Shown& shown);

/// Does pending work, handles keys, lets playback go on by `seconds` and draws all panels.
void frame(App& app, double seconds);

}  // namespace tilescope::gui
