// A listener that adds up costs by pseudo-code line.
#pragma once

#include <map>
#include <string>
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
};

class Profile : public Listener {
  public:
    void visit(const LineMark& mark) override { lines_[mark.line].visits += mark.times; }
    void on(const Event& event, TileData data) override;
    /// By line number, without lines on which nothing happened.
    const std::map<std::uint16_t, LineProfile>& lines() const { return lines_; }

  private:
    std::map<std::uint16_t, LineProfile> lines_;
};

}  // namespace tilescope
