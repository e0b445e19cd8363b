#include "core/record/trace.hpp"

#include <algorithm>
#include <limits>

#include "core/machine/error.hpp"
#include "core/machine/gpu.hpp"
#include "core/machine/mode.hpp"
#include "core/machine/operations/of_block.hpp"
#include "core/machine/storage.hpp"
#include "core/text/message.hpp"

namespace tilescope {
using text::message;
namespace {

Bytes float_bytes(std::size_t n) { return static_cast<Bytes>(n * sizeof(float)); }

/// A file's path within TileScope's sources; for a file outside of them, its name.
const char* name_of_source(const char* path) {
    const char* ours = among_sources(path);
    return ours ? ours : path + (std::string_view(path).rfind('/') + 1);  // npos + 1 is 0
}

}  // namespace

Trace::Trace(const Gpu& gpu, TraceOptions options) : gpu_(&gpu), options_(std::move(options)) {
    kept_.has_values = options_.values && gpu.mode().data;
    std::sort(options_.blocks.begin(), options_.blocks.end());
    kept_.steps.reserve(static_cast<std::size_t>(options_.expected_events));
    if (kept_.has_values) kept_.values.reserve(static_cast<std::size_t>(options_.expected_value_bytes) / sizeof(float));
}

Trace::Trace(RecordedRun recorded) : kept_(std::move(recorded)) {
    value_bytes_ = float_bytes(kept_.values.size());
    for (const RecordedTensor& t : kept_.tensors) value_bytes_ += float_bytes(t.initial.size());
    list_regions();
}

const RecordedBlock& Trace::block(Index launch, Index number) const {
    return *std::partition_point(kept_.blocks.begin(), kept_.blocks.end(), [&](const RecordedBlock& b) {
        return std::pair(b.launch, b.block) < std::pair(launch, number);
    });
}

Index Trace::next_wanted(Index /*launch*/, Index from) {
    if (options_.blocks.empty()) return from;
    const auto next = std::lower_bound(options_.blocks.begin(), options_.blocks.end(), from);
    return next == options_.blocks.end() ? none_wanted : *next;
}

void Trace::begin(const LaunchMark& mark) {
    if (full_.empty()) full_ = exceeded(0);
    if (!full_.empty()) throw RunError(full_);
    copy_new_tensors();
    kept_.launches.push_back({mark.kernel, {}});
    for (const Axis& a : mark.axes)
        kept_.launches.back().axes.push_back({a.tiles.name(), a.tiles.count(), a.tiles.tile_size(), a.promise});
    keep({.operation = &operation::launch, .block = mark.launch, .cost = mark.cost}, {});
}

void Trace::begin(const BlockMark& mark) {
    numbers_.clear();
    open_.clear();
    on({.operation = &operation::block_begin, .block = mark.block, .cost = mark.cost, .times = mark.times}, {});
    kept_.blocks.push_back({mark.launch, mark.block, {mark.at.begin(), mark.at.end()}});
}

void Trace::end(const BlockMark& mark) {
    on({.operation = &operation::block_end, .block = mark.block, .times = mark.times}, {});
}

void Trace::begin(const LoopMark& mark) {
    const RecordedLoop loop{mark.tiles.name(), mark.promise, mark.line, mark.here.line};
    const auto known = std::find(kept_.loops.begin(), kept_.loops.end(), loop);
    const Index number = known - kept_.loops.begin();
    if (known == kept_.loops.end()) kept_.loops.push_back(loop);
    open_.push_back({number, mark.tiles.count(), current_turn(), current_turn()});
}

void Trace::turn(const TurnMark& mark) {
    OpenLoop& l = open_.back();
    l.turn = static_cast<Index>(kept_.turns.size());
    kept_.turns.push_back({l.loop, l.around, mark.index, l.of, mark.tile});
}

void Trace::end(const LoopMark&) { open_.pop_back(); }

void Trace::on(const Event& event, TileData data) {
    if (!kept_.has_values) data = {};
    std::optional<std::size_t> known;
    if (!data.empty())
        known = contents_.find(kept_.values, event, event.kind() == Kind::store ? number(event.a()) : no_tile, data);
    if (full_.empty()) full_ = exceeded(known ? 0 : data.size());
    if (!full_.empty()) throw RunError(full_);
    keep(event, data, known);
}

/// `known`: the place in kept_.values at which the data already lies.
void Trace::keep(const Event& event, TileData data, std::optional<std::size_t> known) {
    Step step{.event = event,
              .launch = static_cast<Index>(kept_.launches.size()) - 1,
              .turn = current_turn(),
              .enters_line = enters_line_ && event.line != 0};
    enters_line_ = false;
    step.event.source_file = name_of_source(event.source_file);
    if (event.lane) step.lane = kept_.number_of_lane(event.lane->name);
    step.event.lane = nullptr;
    number_tiles(step.event);
    if (step.moves_data()) step.region = region_index(event.region);
    step.first_value = known.value_or(kept_.values.size());
    step.values = data.size();
    if (!known) {
        kept_.values.insert(kept_.values.end(), data.data(),
                            data.data() + data.size());  // with pointers, insert() copies bytes
        value_bytes_ += float_bytes(data.size());
    }
    contents_.note(step);
    kept_.steps.push_back(step);
}

/// The limit that one more event with so many values would break; empty when there is room.
std::string Trace::exceeded(std::size_t more_values) const {
    const std::string fix = message(options_.blocks.empty() ? "trace_limit.choose_blocks" : "trace_limit.fewer_blocks");
    if (size() >= options_.max_events) return message("trace_limit.events", std::to_string(options_.max_events), fix);
    if (value_bytes_ + float_bytes(more_values) > options_.max_value_bytes)
        return message("trace_limit.values", std::to_string(options_.max_value_bytes), fix);
    return {};
}

/// Programs may add tensors up to the launch that uses them, so every launch looks for new ones.
void Trace::copy_new_tensors() {
    for (std::size_t t = kept_.tensors.size(); t < gpu_->tensors().size(); ++t) {
        const TensorInfo& from = gpu_->tensors()[t];
        RecordedTensor to{from.name, from.role,    from.dtype,           from.slices,      from.rows,
                          from.cols, from.meaning, from.heads_per_slice, from.gradient_of, {},
                          {}};
        if (kept_.has_values) {
            const auto n = static_cast<std::size_t>(to.size());
            full_ = exceeded(n);
            if (!full_.empty()) throw RunError(full_);
            to.initial.assign(n, std::numeric_limits<float>::quiet_NaN());
            if (!from.blank) from.data->read(0, to.initial);
            value_bytes_ += float_bytes(n);
        }
        kept_.tensors.push_back(std::move(to));
    }
}

Trace Trace::reordered(std::span<const Index> order) && {
    std::vector<Step> steps;
    steps.reserve(kept_.steps.size());
    for (const Index s : order) steps.push_back((*this)[s]);
    kept_.steps = std::move(steps);
    list_regions();
    return std::move(*this);
}

/// Lists each tensor's regions in the order of their first use.
void Trace::list_regions() {
    for (RecordedTensor& t : kept_.tensors) t.regions.clear();
    region_index_.clear();
    for (Step& s : kept_.steps)
        if (s.moves_data()) s.region = region_index(s.event.region);
}

/// Replaces the tiles' ids, which start anew in every block, by their places in kept_.tiles; a tile seen for the first
/// time gets the next one.
void Trace::number_tiles(Event& event) {
    if (event.out != no_tile && event.out >= numbers_.size()) {
        numbers_.resize(event.out + 1, no_tile);
        numbers_[event.out] = static_cast<TileId>(kept_.tiles.size());
        const TileInfo& t = *event.tile;
        const Index launch = static_cast<Index>(kept_.launches.size()) - 1;
        kept_.tiles.push_back({t.name, t.rows, t.cols, t.dtype, t.space, launch, event.block, event.out, Meaning::other,
                               number(t.within), t.slot});
    }
    event.out = number(event.out);
    for (Operand& o : event.reads) o.tile = number(o.tile);
    event.factor = number(event.factor);
    // The meaning of a tile becomes known as it is used.
    const TileId told = event.kind() == Kind::store ? event.a() : event.out;
    if (told != no_tile && event.meaning != Meaning::other) kept_.tiles[told].meaning = event.meaning;
    event.tile = nullptr;
}

Index Trace::region_index(const Region& r) {
    std::vector<Region>& regions = kept_.tensors[r.tensor].regions;
    const auto [place, is_new] = region_index_.try_emplace(r, static_cast<Index>(regions.size()));
    if (is_new) regions.push_back(r);
    return place->second;
}

}  // namespace tilescope
