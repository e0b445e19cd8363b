// A recording of a run: every event and every number that an operation wrote. Control flow depends on shapes, never on
// data, so a recording is complete, and pausing, stepping back and scrubbing are index arithmetic over it (Player).
#pragma once

#include <optional>
#include <span>

#include "core/machine/gpu.hpp"
#include "core/record/contents.hpp"

namespace tilescope {

class Gpu;

struct TraceOptions {
    bool values = true;              ///< keep the contents of tiles and tensors; without, about 250 bytes an event
    std::vector<Index> blocks = {};  ///< thread blocks to record, by linear index within each launch; empty: all
    Index max_events = 2'000'000;
    Bytes max_value_bytes = Bytes{1} << 30;  ///< of tiles and tensors together, 4 bytes an element
    Index expected_events = 0;               ///< room made ahead for so many, so that events need not move ...
    Bytes expected_value_bytes = 0;          ///< ... nor contents
};

class Trace : public Listener {
  public:
    /// Records `gpu`, whose listen() has to be called with this. The Gpu is used only while it launches: after the run,
    /// the recording does not need the Gpu. A run that fails leaves a recording up to the failure.
    explicit Trace(const Gpu& gpu, TraceOptions options = {});
    /// Goes on with the same program on another Gpu, which has the same tensors: see Slices.
    void follow(const Gpu& gpu) { gpu_ = &gpu; }
    /// A recording that was made before. It cannot grow.
    explicit Trace(RecordedRun recorded);

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

    Index size() const { return static_cast<Index>(kept_.steps.size()); }
    const Step& operator[](Index step) const { return kept_.steps[static_cast<std::size_t>(step)]; }
    /// The contents that the step wrote: the whole tile (row-major), or what a store left in HBM. Empty for steps that
    /// write nothing, and in a recording without values.
    TileData values(const Step& s) const { return {kept_.values.data() + s.first_value, s.values}; }

    /// The same recording with its steps in another order, one in which the program could have run too: `order` names
    /// every step once.
    Trace reordered(std::span<const Index> order) &&;

    bool has_values() const { return kept_.has_values; }
    /// The bytes that the contents of tiles and tensors take here.
    Bytes value_bytes() const { return value_bytes_; }
    const std::vector<RecordedLaunch>& launches() const { return kept_.launches; }
    const std::vector<RecordedBlock>& blocks() const { return kept_.blocks; }  ///< by launch, then by number
    /// The block must have been recorded.
    const RecordedBlock& block(Index launch, Index number) const;
    const std::vector<RecordedLoop>& loops() const { return kept_.loops; }
    const std::vector<RecordedTurn>& turns() const { return kept_.turns; }
    const std::vector<RecordedTile>& tiles() const { return kept_.tiles; }
    const std::vector<std::string>& lanes() const { return kept_.lanes; }
    const std::vector<RecordedTensor>& tensors() const { return kept_.tensors; }  ///< by TensorId

    /// The first step from `from` on, or the last one before `before`, that wanted(const Step&) accepts.
    template <class F>
    std::optional<Index> find_forward(Index from, F&& wanted) const;
    template <class F>
    std::optional<Index> find_backward(Index before, F&& wanted) const;

  private:
    void keep(const Event& event, TileData data, std::optional<std::size_t> known = std::nullopt);
    Index current_turn() const { return open_.empty() ? -1 : open_.back().turn; }
    std::string exceeded(std::size_t more_values) const;
    void copy_new_tensors();
    TileId number(TileId id) const { return id == no_tile ? no_tile : numbers_[id]; }
    void number_tiles(Event& event);
    Index region_index(const Region& region);
    void list_regions();

    const Gpu* gpu_ = nullptr;
    TraceOptions options_;
    RecordedRun kept_;
    Bytes value_bytes_ = 0;
    Contents contents_;
    std::unordered_map<Region, Index, RegionHash> region_index_;  // by region: index into RecordedTensor::regions
    std::vector<TileId> numbers_;                                 // of this block, by TileId: index into kept_.tiles
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
