// What a recording consists of.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "core/machine/event.hpp"

namespace tilescope {

/// A tile that lived on chip at some time.
struct RecordedTile {
    std::string name;
    Index rows, cols;
    Dtype dtype;
    Space space;
    Index launch, block;
    TileId id;                         ///< within its block
    Meaning meaning = Meaning::other;  ///< as far as the recording shows
    TileId within = no_tile;           ///< the ring or the registers that the tile lies in: an earlier tile
    Index slot = 0;                    ///< of the ring

    Bytes bytes() const { return rows * cols * size_of(dtype); }
    friend bool operator==(const RecordedTile&, const RecordedTile&) = default;
};

/// A tensor as it was before the first launch that could reach it.
struct RecordedTensor {
    std::string name;
    Role role;
    Dtype dtype;
    Index slices, rows, cols;
    Meaning meaning;
    Index heads_per_slice;
    Meaning gradient_of;          ///< of a gradient: the meaning of the numbers whose gradient it is; else other
    std::vector<float> initial;   ///< [slices, rows, cols] in C order; empty in a recording without values
    std::vector<Region> regions;  ///< every region that was loaded or stored, in order of first use

    Index size() const { return slices * rows * cols; }
};

/// One axis of a grid: `count` tiles of `tile_size`.
struct RecordedAxis {
    std::string name;
    Index count, tile_size;
    Promise promise;

    friend bool operator==(const RecordedAxis&, const RecordedAxis&) = default;
};

struct RecordedLaunch {
    std::string kernel;
    std::vector<RecordedAxis> axes;

    /// The thread blocks of the whole grid, recorded or not; 0 where there are more than 2^56.
    Count thread_blocks() const {
        constexpr Count most = Count{1} << 56;
        Count n = 1;
        for (const RecordedAxis& a : axes) n = a.count > 0 && n <= most / a.count ? n * a.count : 0;
        return n;
    }

    friend bool operator==(const RecordedLaunch&, const RecordedLaunch&) = default;
};

/// A thread block: its place on every axis of its grid.
struct RecordedBlock {
    Index launch, block;
    std::vector<Span> at;

    friend bool operator==(const RecordedBlock&, const RecordedBlock&) = default;
};

/// A loop of the program.
struct RecordedLoop {
    std::string name;  ///< of its index
    Promise promise;
    std::uint16_t line;         ///< of the pseudo-code where it begins
    std::uint32_t source_line;  ///< of the tile program

    friend bool operator==(const RecordedLoop&, const RecordedLoop&) = default;
};

/// One turn of a loop: the index-th of `of` tiles.
struct RecordedTurn {
    Index loop;    ///< an index into Trace::loops()
    Index around;  ///< the turn of the loop around it: an index into Trace::turns(); -1: none
    Index index, of;
    Span tile;

    friend bool operator==(const RecordedTurn&, const RecordedTurn&) = default;
};

/// A recorded event, or a mark: a launch, or the begin or end of a thread block. The event of a mark has the mark's
/// operation and cost. In an event `out` and `reads` number tiles through the whole recording, as indices into
/// Trace::tiles(), and `tile` is null.
struct Step {
    Event event;
    Index launch = -1;
    Index turn = -1;           ///< of the innermost loop that it is in: an index into Trace::turns(); -1: in none
    bool enters_line = false;  ///< first event since the program said at(): a visit of the pseudo-code line begins
    Index lane = -1;           ///< the lane that issued it: an index into Trace::lanes(); -1: none
    Index region = -1;         ///< of a load or store: index into the tensor's regions
    std::size_t first_value = 0, values = 0;  ///< where the contents that it wrote lie in RecordedRun::values

    /// The tile that the operation wrote, made or gave back, or that a store read: an index into Trace::tiles().
    TileId tile() const { return event.kind() == Kind::store ? event.a() : event.out; }
    Kind kind() const { return event.kind(); }
    bool moves_data() const { return event.moves_data(); }
};

/// A whole recording.
struct RecordedRun {
    bool has_values = true;
    std::vector<RecordedLaunch> launches;
    std::vector<RecordedBlock> blocks;  ///< in the order in which they were recorded
    std::vector<RecordedLoop> loops;
    std::vector<RecordedTurn> turns;
    std::vector<RecordedTensor> tensors;  ///< by TensorId
    std::vector<RecordedTile> tiles;
    std::vector<std::string> lanes;  ///< names of lanes
    std::vector<Step> steps;
    std::vector<float> values;  ///< that the steps wrote; several steps may share a place (see Contents)
    /// The names that the events' source_file points to, where the recording was read from a file.
    std::shared_ptr<const std::vector<std::string>> sources;

    /// The number of the lane of this name. A new name gets a new number.
    Index number_of_lane(const std::string& name) {
        const auto known = std::find(lanes.begin(), lanes.end(), name);
        if (known == lanes.end()) return lanes.push_back(name), static_cast<Index>(lanes.size()) - 1;
        return known - lanes.begin();
    }
};

}  // namespace tilescope
