#include "core/machine/block.hpp"

#include <exception>

#include "core/machine/conversions.hpp"
#include "core/machine/counters.hpp"
#include "core/machine/flow.hpp"
#include "core/machine/gpu.hpp"
#include "core/machine/gpu_state.hpp"
#include "core/machine/lane.hpp"
#include "core/machine/mistakes.hpp"
#include "core/machine/operations/of_block.hpp"
#include "core/machine/storage.hpp"
#include "core/text/message.hpp"

namespace tilescope {
using text::message;
namespace {

constexpr Index most_registers = 255;  // of a thread

[[noreturn]] void mismatch(const char* what, const TileInfo& tile, Index rows, Index cols) {
    throw std::logic_error(message("block.moves_other_shape", what, tile.name, std::to_string(tile.rows),
                                   std::to_string(tile.cols), std::to_string(rows), std::to_string(cols)));
}

[[noreturn]] void only_read(const char* id, const Operation& operation, const char* tensor) {
    throw std::logic_error(message(id, operation.name, tensor));
}

}  // namespace

Block::Block(Gpu& gpu, Worker& worker, Index index, Count weight)
    : gpu_(gpu), w_(worker), index_(index), weight_(weight) {}

const TileInfo& Block::info(const Tile& t) const { return w_.chip.info(t.slot_); }

void Block::at(std::uint16_t pseudo_code_line) {
    line_ = pseudo_code_line;
    w_.tell([&](Listener& l) { l.visit({index_, line_, weight_}); });
}

TileData Block::contents(const Tile& t) const {
    if (!w_.chip.has_data()) return {};
    return {w_.chip.data(t.slot_), static_cast<std::size_t>(t.size())};
}

void Block::round_result(const Tile& t) {
    if (t.dtype() == Dtype::f32) return;
    float* const x = w_.chip.data(t.slot_);
    w_.saturated.look_at(info(t).name, t.dtype(), x, t.size());
    round_to(t.dtype(), x, t.size());
}

/// Takes memory in the ring `within`, or in the issuing lane's registers, or, with neither, anywhere on the chip.
ChipMemory::Slot Block::make(TileInfo info, const Tile* within) {
    ChipMemory::Slot place = within ? within->slot_ : ChipMemory::no_slot;
    if (!within && info.space == Space::registers && w_.issuing != no_lane) place = w_.lanes[w_.issuing].registers;
    const ChipMemory::Slot slot =
        place == ChipMemory::no_slot ? w_.chip.take(info, line_) : w_.chip.take_within(place, info, line_);
    w_.mark(static_cast<std::uint64_t>(info.space), info.bytes(), weight_);
    return slot;
}

void Block::check_region(const char* what, const Hbm& t, Span rows, Span cols) const {
    const bool inside = rows.begin >= 0 && rows.size >= 0 && rows.end() <= t.rows_ && cols.begin >= 0 &&
                        cols.size >= 0 && cols.end() <= t.cols_ && t.slice_ >= 0 && t.slice_ < t.slices_;
    if (inside) return;
    throw std::logic_error(
        message("block.not_inside", what, shown(rows), shown(cols), std::to_string(t.slice_), t.name_));
}

/// Checks that the elements of `r` were stored before, if the tensor began blank.
void Block::check_written(const char* what, const Region& r, Here here) {
    const TensorInfo& tensor = gpu_.state_->tensors[r.tensor];
    if (!tensor.blank || gpu_.state_->mode.only_wanted) return;
    if (gpu_.state_->mode.fold) {
        if (w_.traffic[r.tensor].write == 0) w_.early.try_emplace(r.tensor, here);
        return;
    }
    const std::optional<Index> row = w_.written.first_missing(r);
    if (!row) return;
    throw std::logic_error(
        message("block.not_stored", what, std::to_string(*row), shown(r.cols), std::to_string(r.slice), tensor.name));
}

Tile Block::load(const Hbm& from, Span rows, Span cols, Space to, Here here) {
    w_.here = here;
    const bool as_stored = to == Space::sram || from.dtype_ == Dtype::i32;
    const Dtype dtype = as_stored ? from.dtype_ : Dtype::f32;
    prepare(from, rows, cols, here);
    Tile tile(this, make({from.name_, rows.size, cols.size, dtype, to}));
    fetch(tile, from, rows, cols, here);
    return tile;
}

Lane Block::lane(const char* name, const LaneSpec& spec, Here here) {
    w_.here = here;
    const auto refuse = [](const std::string& why) { throw std::logic_error(why); };
    if (spec.warps < 1) refuse(message("lane.no_warp", name));
    if (spec.registers_per_thread < 0 || spec.registers_per_thread > most_registers)
        refuse(
            message("lane.registers", name, std::to_string(spec.registers_per_thread), std::to_string(most_registers)));
    if (spec.turns && spec.warps % warps_of_warpgroup != 0)
        refuse(message("lane.turns", name, std::to_string(spec.warps), std::to_string(warps_of_warpgroup)));
    for (const auto& other : w_.lanes)
        if (std::string_view(other.info.name) == name) refuse(message("lane.again", name));
    const auto id = static_cast<LaneId>(w_.lanes.size());
    if (id == no_lane) refuse(message("lane.too_many"));
    w_.lanes.push_back({{name, spec}});
    std::optional<Tile> registers;
    if (spec.registers_per_thread > 0) {
        constexpr Index threads_of_warp = 32;
        registers.emplace(alloc_registers(name, spec.warps * threads_of_warp, spec.registers_per_thread, 0, here));
        w_.lanes.back().registers = registers->slot_;
    }
    return Lane(*this, id, std::move(registers));
}

Ring Block::ring(const char* name, Index slots, Index rows, Index cols, Dtype dtype, Index pieces, Index cluster,
                 Here here) {
    w_.here = here;
    if (slots < 1 || rows < 1 || cols < 1 || pieces < 1 || cluster < 1)
        throw std::logic_error(message("ring.no_slot", name));
    return Ring(alloc(name, ceil_div(slots * rows, pieces), cols, Space::sram, dtype, 0, here), rows * cols,
                std::max<Index>(1, slots / pieces), cluster);
}

LaneId Block::issue_for(LaneId lane) { return std::exchange(w_.issuing, lane); }

Tile Block::load(Ring& to, const Hbm& from, Span rows, Here here) {
    w_.here = here;
    const Span cols{0, from.cols_};
    prepare(from, rows, cols, here);
    Tile tile = take_slot(to, {from.name_, rows.size, cols.size, from.dtype_, Space::sram});
    fetch(tile, from, rows, cols, here, to.cluster_);
    return tile;
}

Tile Block::alloc(Ring& to, const char* name, Index rows, Index cols, Here here) {
    w_.here = here;
    Tile tile = take_slot(to, {name, rows, cols, info(to.place_).dtype, Space::sram});
    if (w_.chip.has_data()) std::fill_n(w_.chip.data(tile.slot_), tile.size(), 0.0f);
    if (w_.heard()) report({.operation = &operation::alloc, .out = w_.chip.id(tile.slot_)}, tile, contents(tile), here);
    return tile;
}

/// Makes a tile in the ring's next slot.
Tile Block::take_slot(Ring& to, TileInfo of) {
    const TileInfo& ring = info(to.place_);
    of.slot = static_cast<Index>(to.next_);
    Ring::Filled& filled = to.filled_[to.next_];
    if (w_.chip.holds(filled.place, filled.tile))
        throw std::logic_error(message("ring.slot_in_use", std::to_string(of.slot), ring.name,
                                       w_.chip.info(filled.place).name, to.slots()));
    if (const Bytes room = to.elements_ * size_of(ring.dtype); of.bytes() > room)
        throw std::logic_error(message("ring.small_slot", std::to_string(of.slot), ring.name, std::to_string(room),
                                       std::to_string(of.bytes())));
    Tile tile(this, make(of, &to.place_));
    filled = {tile.slot_, w_.chip.id(tile.slot_)};
    to.next_ = (to.next_ + 1) % to.filled_.size();
    return tile;
}

void Block::reload(Tile& to, const Hbm& from, Span rows, Span cols, Here here) {
    w_.here = here;
    if (to.rows() != rows.size || to.cols() != cols.size) mismatch("reload", info(to), rows.size, cols.size);
    prepare(from, rows, cols, here);
    fetch(to, from, rows, cols, here);
}

void Block::prepare(const Hbm& from, Span rows, Span cols, Here here) {
    check_region("load", from, rows, cols);
    check_written("load", {from.id_, from.slice_, rows, cols}, here);
    if (from.in_pages_) look_up(from, rows, here);
}

void Block::fetch(Tile& to, const Hbm& from, Span rows, Span cols, Here here, Index cluster) {
    Counters cost;
    cost.hbm_read = rows.size * cols.size * size_of(from.dtype_);
    cost.multicast = cost.hbm_read - cost.hbm_read / cluster;
    charge_write(cost, info(to));
    if (w_.chip.has_data()) {
        float* const out = w_.chip.data(to.slot_);
        from.in_pages_ ? read_pages(from, rows, cols, out)
                       : gpu_.state_->tensors[from.id_].data->read(from.slice_, rows, cols, out);
        if (to.dtype() != from.dtype_) round_result(to);
    }
    w_.charge(cost, weight_);
    w_.traffic[from.id_].read += weight_ * cost.hbm_read;
    if (!gpu_.state_->mode.fold) w_.stores.add_load(from.id_, line_);
    w_.mark(3 * from.id_ + 2u, cost.hbm_read, weight_);
    if (!w_.heard()) return;
    const Region region{from.id_, from.slice_, rows, cols};
    w_.chip.origin(to.slot_) = {from.meaning_, region};
    report({.operation = &operation::load, .out = w_.chip.id(to.slot_), .region = region, .cost = cost}, to,
           contents(to), here);
}

/// Loads the page-table entries for these rows, unless they were loaded last: K and V have the same page numbers.
void Block::look_up(const Hbm& tensor, Span rows, Here here) {
    const Pages& p = gpu_.state_->tensors[tensor.id_].pages;
    const Index first = rows.begin / p.size;
    const Region entries{p.table, tensor.slice_ / p.sharing, {first, ceil_div(rows.end(), p.size) - first}, {0, 1}};
    if (at_hand_ && at_hand_->entries == entries) return;
    at_hand_.reset();
    const Hbm table = Hbm(p.table, gpu_.state_->tensors[p.table]).slice(entries.slice);
    at_hand_.emplace(LookedUp{entries, load(table, entries.rows, Space::registers, here)});
}

void Block::read_pages(const Hbm& from, Span rows, Span cols, float* out) const {
    const Pages& p = gpu_.state_->tensors[from.id_].pages;
    const TileData pages = contents(at_hand_->pages);
    const Index first = at_hand_->entries.rows.begin;
    for (Index row = rows.begin; row < rows.end();) {
        const auto page = static_cast<Index>(pages[static_cast<std::size_t>(row / p.size - first)]);
        const Index n = std::min(rows.end(), (row / p.size + 1) * p.size) - row;
        p.pool->read(from.slice_ % p.sharing, {page * p.size + row % p.size, n}, cols, out);
        out += n * cols.size, row += n;
    }
}

void Block::store(const Tile& from, const Hbm& to, Span rows, Span cols, Here here) {
    send(false, from, to, rows, cols, here);
}

void Block::reduce_add(const Tile& from, const Hbm& to, Span rows, Here here) {
    w_.here = here;
    if (to.dtype_ != Dtype::f32) throw std::logic_error(message("block.adds_to_other_type", to.name_));
    send(true, from, to, rows, {0, to.cols_}, here);
}

void Block::send(bool adds, const Tile& from, const Hbm& to, Span rows, Span cols, Here here) {
    const Operation& operation = adds ? operation::reduce_add : operation::store;
    w_.here = here;
    check_region(operation.name, to, rows, cols);
    if (to.in_pages_) only_read("block.stores_to_pages", operation, to.name_);
    if (gpu_.state_->tensors[to.id_].only_read) only_read("block.stores_to_input", operation, to.name_);
    if (from.rows() != rows.size || from.cols() != cols.size)
        mismatch(operation.name, info(from), rows.size, cols.size);
    const Region region{to.id_, to.slice_, rows, cols};
    if (adds) check_written(operation.name, region, here);
    const Bytes moved = rows.size * cols.size * size_of(to.dtype_);
    Counters cost;
    (adds ? cost.hbm_reduce : cost.hbm_write) = moved;
    charge_read(cost, info(from));
    if (!gpu_.state_->mode.fold) w_.stores.add(region, line_, adds, here);
    if (!gpu_.state_->mode.fold && !adds && gpu_.state_->tensors[to.id_].blank) w_.written.add(region);
    if (w_.chip.has_data()) {
        Storage& data = *gpu_.state_->tensors[to.id_].data;
        if (adds)
            w_.addends.add(data, region, contents(from));
        else
            data.write(to.slice_, rows, cols, w_.chip.data(from.slot_));
    }
    w_.charge(cost, weight_);
    w_.traffic[to.id_] += Traffic::of(cost).times(weight_);
    w_.mark(3 * to.id_ + (adds ? 4u : 3u), moved, weight_);
    if (!w_.heard()) return;
    if (Origin& o = w_.chip.origin(from.slot_); o.meaning == Meaning::other) o.meaning = to.meaning_;
    TileData sent = contents(from);
    if (w_.chip.has_data() && !adds && from.dtype() != to.dtype_) {  // report rounded values
        w_.scratch.resize(sent.size());
        gpu_.state_->tensors[to.id_].data->read(to.slice_, rows, cols, w_.scratch.data());
        sent = w_.scratch;
    }
    report({.operation = &operation, .reads = {Operand{w_.chip.id(from.slot_)}}, .region = region, .cost = cost}, from,
           sent, here);
}

Tile Block::alloc(const char* name, Index rows, Index cols, Space space, Dtype dtype, float fill, Here here) {
    w_.here = here;
    Tile tile(this, make({name, rows, cols, dtype, space}));
    if (w_.chip.has_data()) {
        std::fill_n(w_.chip.data(tile.slot_), tile.size(), fill);
        round_result(tile);
    }
    if (w_.heard()) report({.operation = &operation::alloc, .out = w_.chip.id(tile.slot_)}, tile, contents(tile), here);
    return tile;
}

void Block::release(ChipMemory::Slot slot) {
    // When a run fails, destructors release its tiles. The program did not, so listeners do not hear of it.
    if (!w_.heard() || std::uncaught_exceptions() > 0) return w_.chip.give(slot);
    const TileInfo released = w_.chip.info(slot);
    const Meaning meaning = w_.chip.origin(slot).meaning;
    const TileId id = w_.chip.id(slot);
    w_.chip.give(slot);
    Event e{.operation = &operation::release,
            .line = line_,
            .block = index_,
            .out = id,
            .tile = &released,
            .meaning = meaning,
            .times = weight_,
            .sram_used = w_.chip.used(Space::sram),
            .registers_used = w_.chip.used(Space::registers)};
    w_.tell_quietly([&](Listener& l) { l.on(e, {}); });
}

void Block::report(Event e, const Tile& tile, TileData data, Here here) {
    e.line = line_;
    e.source_line = here.line;
    e.source_file = here.file;
    e.block = index_;
    if (w_.issuing != no_lane) e.lane = &w_.lanes[w_.issuing].info;
    e.tile = &info(tile);
    e.meaning = w_.chip.origin(tile.slot_).meaning;
    e.times = weight_;
    e.sram_used = w_.chip.used(Space::sram);
    e.registers_used = w_.chip.used(Space::registers);
    w_.tell([&](Listener& l) { l.on(e, data); });
}

}  // namespace tilescope
