// Reads the events of a recording. Each is checked against the tables and against the events before it.
#pragma once

#include <map>

#include "core/record/contents.hpp"
#include "core/record/json_entry.hpp"
#include "core/record/recorded.hpp"

namespace tilescope {

class EventReader {
  public:
    /// Appends to the steps and values of `to`, whose tables are complete. `totals` are what all costs add up to.
    EventReader(const std::string& file, RecordedRun& to, Index events, const Counters& totals);

    void read(const Json& json);
    /// Checks that everything was read that the tables and totals promise.
    void finish() const;

  private:
    enum class Life : std::uint8_t { to_come, on_chip, given_back };

    const Operation& operation(JsonEntry& entry) const;
    void begin_launch(JsonEntry& entry, Step& step);
    void place(JsonEntry& entry, Step& step);
    void read_position(JsonEntry& entry, Step& step) const;
    TileId tile(JsonEntry& entry, const char* key) const;
    TileId on_chip(JsonEntry& entry, const char* key) const;
    void read_tiles(JsonEntry& entry, Event& event);
    void live(JsonEntry& entry, const Event& event);
    void read_region(JsonEntry& entry, Event& event) const;
    void check_moved(JsonEntry& entry, const Event& event) const;
    void read_cost(JsonEntry& entry, Event& event);
    void check_held(JsonEntry& entry, Event& event) const;
    void read_values(JsonEntry& entry, Step& step);
    const RecordedTile& tile_of(const Event& event) const;

    const std::string& file_;
    RecordedRun& to_;
    Index expected_;
    Contents contents_;
    Counters left_;  // the totals without the costs read so far
    std::map<std::string, TensorId, std::less<>> tensors_;
    std::vector<Life> lives_;  // by tile
    Index launch_ = -1;
    std::size_t blocks_ = 0;  // begun
    bool in_block_ = false;
    Bytes held_[2] = {};  // by the block, in SRAM and registers
};

}  // namespace tilescope
