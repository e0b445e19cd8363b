// The events of a thread block, kept so that its lanes can be played for one tile after the other.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "core/machine/event.hpp"

namespace tilescope {

/// A lane, and what it does. A program without lanes has one, without a name.
struct RecordedLane {
    std::string name;
    LaneSpec spec;
    bool fills_ring = false, computes = false, multiplies = false;
};

struct RecordedEvent {
    Event event;  ///< without `lane` and `tile`
    std::size_t lane;
    Index step;  ///< the turn of the innermost loop; -1: outside of loops
};

struct RecordedRing {
    TileId id;
    Index slots;
};

class LaneRecord {
  public:
    void begin_loop() { loops_.push_back(-1); }
    void turn(Index index) { loops_.back() = index; }
    void end_loop() { loops_.pop_back(); }
    void on(const Event& event);

    const std::vector<RecordedEvent>& events() const { return events_; }
    const std::vector<RecordedLane>& lanes() const { return lanes_; }
    const std::vector<RecordedRing>& rings() const { return rings_; }
    /// By TileId. Names are valid as long as the record is.
    const std::vector<TileInfo>& tiles() const { return tiles_; }

  private:
    std::size_t lane_of(const Event& event);
    void count_slots(const TileInfo& loaded);
    const char* keep(const char* name);

    std::vector<RecordedEvent> events_;
    std::vector<RecordedLane> lanes_;
    std::vector<RecordedRing> rings_;
    std::vector<TileInfo> tiles_;
    std::vector<Index> loops_;       // the current turn of each open loop
    std::deque<std::string> names_;  // each once
};

/// Whether a tile lies in a slot of a ring.
constexpr bool in_ring(const TileInfo& t) { return t.space == Space::sram && t.within != no_tile; }

}  // namespace tilescope
