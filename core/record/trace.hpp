// A recording of a run: every event and every number that an operation wrote. Control flow depends on shapes, never on
// data, so a recording is complete, and pausing, stepping back and scrubbing are index arithmetic over it (Player).
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/machine/event.hpp"

namespace tilescope {

class Gpu;

struct TraceOptions {
    bool values = true;              ///< keep the contents of tiles and tensors; without, about 250 bytes an event
    std::vector<Index> blocks = {};  ///< thread blocks to record, by linear index within each launch; empty: all
    Index max_events = 2'000'000;
    Bytes max_value_bytes = Bytes{1} << 30;  ///< of tiles and tensors together, 4 bytes an element
    Index expected_events = 0;               ///< room made ahead, so that events need not move as they grow ...
    Bytes expected_value_bytes = 0;          ///< ... nor contents
};

/// A tile that lived on chip at some time.
struct RecordedTile {
    std::string name;
    Index rows, cols;
    Dtype dtype;
    Space space;
    Index launch, block;
    TileId id;                         ///< within its block
    Meaning meaning = Meaning::other;  ///< as far as the recording shows

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
    std::vector<float> initial;   ///< [slices, rows, cols] in C order; empty in a recording without values
    std::vector<Region> regions;  ///< every region that was loaded or stored, in order of the first time

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

/// A recorded event, or the mark of a launch or of a thread block's begin or end (then the event is its operation's,
/// with the cost). In the event `out` and `reads` number tiles through the whole recording, as indices into
/// Trace::tiles(), and `tile` is null.
struct Step {
    Event event;
    Index launch = -1;
    Index turn = -1;           ///< of the innermost loop that it is in: an index into Trace::turns(); -1: in none
    bool enters_line = false;  ///< first event since the program said at(): a visit of the pseudo-code line begins
    Index region = -1;         ///< of a load or store: index into the tensor's regions
    std::size_t first_value = 0, values = 0;  ///< where the contents are that it wrote

    /// The tile that the operation wrote, made or gave back, or that a store read: an index into Trace::tiles().
    TileId tile() const { return event.kind() == Kind::store ? event.a() : event.out; }
    Kind kind() const { return event.kind(); }
    bool moves_data() const { return event.moves_data(); }
};

class Trace : public Listener {
  public:
    /// Made for `gpu`, which has to be told to listen(), and which is looked at only while it launches: once the run is
    /// over, the recording stands alone. A run that fails leaves a recording up to the failure.
    explicit Trace(const Gpu& gpu, TraceOptions options = {});
    /// Goes on with the same program on another Gpu, which has the same tensors: see Slices.
    void follow(const Gpu& gpu) { gpu_ = &gpu; }

    Needs needs() const override { return {.exact = true}; }
    bool wants(Index launch, Index block) override { return next_wanted(launch, block) == block; }
    Index next_wanted(Index launch, Index from) override;
    void begin(const LaunchMark& mark) override;
    void begin(const BlockMark& mark) override;
    void end(const BlockMark& mark) override;
    void begin(const LoopMark& mark) override;
    void turn(const TurnMark& mark) override;
    void end(const LoopMark& mark) override;
    void visit(const LineMark&) override { enters_line_ = true; }
    /// Throws RunError, one line with a way out, when the recording outgrows its options.
    void on(const Event& event, TileData data) override;

    Index size() const { return static_cast<Index>(steps_.size()); }
    const Step& operator[](Index step) const { return steps_[static_cast<std::size_t>(step)]; }
    /// The contents that the step wrote: the whole tile (row-major), or what a store left in HBM. Empty for steps that
    /// write nothing, and in a recording without values.
    TileData values(const Step& s) const { return {values_.data() + s.first_value, s.values}; }

    /// The same recording with its steps in another order, one in which the program could have run too: `order` names
    /// every step once.
    Trace reordered(std::span<const Index> order) &&;

    bool has_values() const { return has_values_; }
    /// What the contents of tiles and tensors take here.
    Bytes value_bytes() const { return value_bytes_; }
    const std::vector<RecordedLaunch>& launches() const { return launches_; }
    const std::vector<RecordedBlock>& blocks() const { return blocks_; }  ///< in the order in which they were recorded
    const std::vector<RecordedLoop>& loops() const { return loops_; }
    const std::vector<RecordedTurn>& turns() const { return turns_; }
    const std::vector<RecordedTile>& tiles() const { return tiles_; }
    const std::vector<RecordedTensor>& tensors() const { return tensors_; }  ///< by TensorId

    /// The first step from `from` on, or the last one before `before`, that wanted(const Step&) accepts.
    template <class F>
    std::optional<Index> find_forward(Index from, F&& wanted) const;
    template <class F>
    std::optional<Index> find_backward(Index before, F&& wanted) const;

  private:
    /// The place of a region in its tensor's list.
    using RegionKey = std::array<Index, 5>;

    void keep(const Event& event, TileData data);
    Index current_turn() const { return open_.empty() ? -1 : open_.back().turn; }
    std::string exceeded(std::size_t more_values) const;
    void copy_new_tensors();
    TileId number(TileId id) const { return id == no_tile ? no_tile : numbers_[id]; }
    void number_tiles(Event& event);
    Index region_index(const Region& region);

    const Gpu* gpu_;
    TraceOptions options_;
    bool has_values_;
    std::vector<Step> steps_;
    std::vector<float> values_;
    Bytes value_bytes_ = 0;
    std::vector<RecordedLaunch> launches_;
    std::vector<RecordedBlock> blocks_;
    std::vector<RecordedTurn> turns_;
    std::vector<RecordedTile> tiles_;
    std::vector<RecordedTensor> tensors_;
    std::vector<std::map<RegionKey, Index>> region_index_;  // by tensor
    std::vector<TileId> numbers_;                           // of the current block's tiles, by their id there
    std::vector<RecordedLoop> loops_;
    struct OpenLoop {
        Index loop, of, around, turn;
    };
    std::vector<OpenLoop> open_;  // of the current block, outermost first
    bool enters_line_ = false;
    std::string full_;  // the limit that was reached
};

template <class F>
std::optional<Index> Trace::find_forward(Index from, F&& wanted) const {
    for (Index i = std::max<Index>(from, 0); i < size(); ++i)
        if (wanted((*this)[i])) return i;
    return std::nullopt;
}

template <class F>
std::optional<Index> Trace::find_backward(Index before, F&& wanted) const {
    for (Index i = std::min(before, size()); i-- > 0;)
        if (wanted((*this)[i])) return i;
    return std::nullopt;
}

}  // namespace tilescope
