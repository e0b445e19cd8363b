// The views to explore beside a run: the plane of tile sizes, the roofline, and bytes against N. They are computed for
// what the session shows, while frames go on.
#pragma once

#include "lab/figure/kinds.hpp"
#include "show/run/beside.hpp"
#include "show/stage/plane.hpp"
#include "show/state/view.hpp"

namespace tilescope::show {

/// Explains the mark of the present run in a figure.
std::string about_trail();
/// The text below a figure. `waiting`: the figure that was asked for is in the making, and this is another one.
std::string about_figure(const lab::Figure& figure, bool waiting);

class Explorer {
  public:
    Explorer();
    ~Explorer();

    /// Call this every frame. Begins the plane or figure that the view needs for what the session shows and, where no
    /// thread is at work, does at most `units` units of the work. True when nothing is left to do.
    bool pump(const Session& session, const View& view, Index units = 1);
    /// Both do the work, or wait for the thread that does it: await() until what was begun can be shown, finish() until
    /// nothing is left to do.
    void await(const Session& session, const View& view);
    void finish(const Session& session, const View& view);

    /// The plane of the run's problem; nullptr while there is nothing to show.
    lab::TilePlane* plane();
    const lab::TilePlane* plane() const;
    /// For the views `roofline` and `io`; nullptr while there is nothing to show.
    const lab::Figure* figure() const;
    /// Why there is no plane or figure; empty where there is one, or will be.
    std::string problem() const;
    bool busy() const { return planes_.busy() || figures_.busy(); }

    /// The recent runs in a panel of the figure, a point each; the present run comes last.
    struct Trail {
        std::string name;  ///< "this run, DRAM traffic"
        std::vector<std::pair<double, double>> points;
    };
    std::vector<Trail> trails(Stage stage, std::size_t panel) const;

  private:
    class Plane;
    class Drawing;
    struct Key {
        Stage stage;
        Setup setup;  ///< without tiles
        friend bool operator==(const Key&, const Key&) = default;
    };
    /// The results of a recent run, in the units of the axes; nullopt where there is no such number.
    struct Past {
        double n, sm_bytes;
        std::optional<double> dram_read_bytes;
        lab::RooflineDot dot;
    };
    void remember(const Session& session);
    void ask(const Session& session, const View& view);

    Beside<Key, Plane> planes_;
    Beside<Key, Drawing> figures_;
    std::vector<Past> past_;
    std::uint64_t version_ = 0;  // of the session, when it was looked at last
    std::string of_;             // the algorithm, type and machine that the past is of
};

}  // namespace tilescope::show
