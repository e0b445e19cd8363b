// The loops of a program, launch by launch: a listener for folded runs as well as for exact ones.
#pragma once

#include <string>
#include <vector>

#include "core/machine/event.hpp"

namespace tilescope {

/// A loop of a tile program, over all thread blocks of a launch that run it.
struct Loop {
    std::string name;   ///< of its index: "j"
    Promise promise;    ///< about its tiles
    Here here;          ///< in the tile program
    Index around = -1;  ///< the loop that it is in: an index into LaunchNest::loops; -1: none
    Count runs = 0;     ///< how often it begins
    Count turns = 0;
    std::uint16_t first_line = 0,
                  last_line = 0;  ///< of the pseudo-code lines visited in it, but not in a loop inside it; 0: none
};

struct LaunchNest {
    std::string kernel;
    std::vector<Axis> axes;   ///< without their `seen`
    std::vector<Loop> loops;  ///< in the order in which they first begin: a loop comes after the one around it
};

class Nest : public Listener {
  public:
    void begin(const LaunchMark& mark) override;
    void begin(const BlockMark&) override { open_.clear(); }
    void begin(const LoopMark& mark) override;
    void turn(const TurnMark& mark) override { innermost().turns += mark.times; }
    void end(const LoopMark&) override { open_.pop_back(); }
    void visit(const LineMark& mark) override;
    void on(const Event&, TileData) override {}

    const std::vector<LaunchNest>& launches() const { return launches_; }

  private:
    Loop& innermost() { return launches_.back().loops[static_cast<std::size_t>(open_.back())]; }

    std::vector<LaunchNest> launches_;
    std::vector<Index> open_;
};

}  // namespace tilescope
