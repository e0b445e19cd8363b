// What can be explored beside a run: the plane of its tiles, its place under the machine's roofs, and its bytes against
// N. Worked out while frames go on, for what the session shows.
#pragma once

#include "lab/figure/kinds.hpp"
#include "show/beside.hpp"
#include "show/plane.hpp"
#include "show/view.hpp"

namespace tilescope::show {

/// What the mark of the present run is, in a figure.
inline constexpr const char* about_trail = "The mark is this run, and the line behind it the ones before it.";

/// Before that, while the figure of what was asked for is in the making.
inline constexpr const char* about_waiting = "In the making; until then this is what was asked for before. ";

class Explorer {
  public:
    Explorer();
    ~Explorer();

    /// For every frame: begins what the view wants to be there for what the session shows, and, where no thread is at
    /// work, does at most so many units of it. True when nothing is left to do.
    bool pump(const Session& session, const View& view, Index units = 1);
    /// Works, or waits, until what was begun can be seen; until nothing is left to do.
    void await(const Session& session, const View& view);
    void finish(const Session& session, const View& view);

    /// Of the run's problem; nullptr while there is nothing to see.
    lab::TilePlane* plane();
    const lab::TilePlane* plane() const;
    /// For the views `roofline` and `io`; nullptr while there is nothing to see.
    const lab::Figure* figure() const;
    /// Why there is none; empty where there is, or will be.
    std::string problem() const;
    bool busy() const { return planes_.busy() || figures_.busy(); }

    /// Where the runs of late have been in a panel of the figure, the present one last: a point each.
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
    /// What a run of late came to, in the units of the axes; nothing where there is no such number.
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
