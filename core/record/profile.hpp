// A listener that adds up costs by pseudo-code line.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/machine/event.hpp"

namespace tilescope {

/// Tiles of one name that a line makes.
struct TileUse {
    std::string name;
    Space space;
    Dtype dtype;
    Index rows = 0, cols = 0;  ///< of the largest
};

struct LineProfile {
    Count visits = 0;
    Counters cost;
    std::map<TensorId, Traffic> traffic;
    std::vector<TileUse> tiles;  ///< in order of first appearance
    // Where warps have roles:
    std::set<std::string> lanes;  ///< those that issue the line's operations
    /// Tiles that such a lane has asked for when it is done with the line, and has not waited for: what it loads there,
    /// and results of products.
    std::set<std::string> in_flight;
};

class Profile : public Listener {
  public:
    void begin(const BlockMark&) override { flying_.clear(), line_ = no_line; }
    void end(const BlockMark&) override { leave_line(); }
    void visit(const LineMark& mark) override;
    using Listener::begin, Listener::end;
    void on(const Event& event, TileData data) override;
    /// By line number, without lines on which nothing happened.
    const std::map<std::uint16_t, LineProfile>& lines() const { return lines_; }
    /// The lanes of all launches, in the order in which they begin to work.
    const std::vector<std::pair<std::string, LaneSpec>>& lanes() const { return lanes_; }

  private:
    /// A product that a lane has asked for, and has not waited for.
    struct Flying {
        std::string lane, name;
        TileId out, a, b;
    };
    static constexpr std::uint16_t no_line = 0xffff;

    void note_lane(LineProfile& line, const Event& event);
    void leave_line();

    std::map<std::uint16_t, LineProfile> lines_;
    std::vector<std::pair<std::string, LaneSpec>> lanes_;
    std::vector<Flying> flying_;
    std::uint16_t line_ = no_line;
};

}  // namespace tilescope
