#include "core/machine/block.hpp"

#include <cstring>
#include <string>

namespace tilescope {
namespace {

[[noreturn]] void mismatch(const char* what, const TileInfo& tile, Index rows, Index cols) {
    throw std::logic_error(std::string(what) + ": tile " + tile.name + " is " + std::to_string(tile.rows) + " x " +
                           std::to_string(tile.cols) + " where " + std::to_string(rows) + " x " + std::to_string(cols) +
                           " is moved");
}

}  // namespace

const char* name_of(Op op) {
    constexpr const char* names[] = {"launch", "block_begin", "block_end", "line", "alloc", "release",
                                     "load",   "store",       "matmul",    "map",  "reduce"};
    return names[static_cast<int>(op)];
}

Block::Block(Gpu& gpu, Worker& worker, Index index, Count weight)
    : gpu_(gpu), w_(worker), index_(index), weight_(weight) {}

TileData Block::contents(const Tile& t) const {
    if (!data()) return {};
    return {w_.chip.data(t.slot_), static_cast<std::size_t>(t.size())};
}

void Block::round_result(const Tile& t) {
    if (t.dtype() != Dtype::f32) round_to(t.dtype(), w_.chip.data(t.slot_), t.size());
}

ChipMemory::Slot Block::make(const TileInfo& info) {
    const ChipMemory::Slot slot = w_.chip.take(info, line_);
    w_.mark(static_cast<std::uint64_t>(info.space), info.bytes(), weight_);
    return slot;
}

void Block::check_region(const char* what, const Hbm& t, Span rows, Span cols) const {
    const bool inside = rows.begin >= 0 && rows.size >= 0 && rows.end() <= t.rows_ && cols.begin >= 0 &&
                        cols.size >= 0 && cols.end() <= t.cols_ && t.slice_ >= 0 && t.slice_ < t.slices_;
    if (inside) return;
    const auto span = [](Span s) { return "[" + std::to_string(s.begin) + ", " + std::to_string(s.end()) + ")"; };
    throw std::logic_error(std::string(what) + ": rows " + span(rows) + ", columns " + span(cols) + " of slice " +
                           std::to_string(t.slice_) + " are not all in " + t.name_);
}

Tile Block::load(const Hbm& from, Span rows, Span cols, Space to, Here here) {
    const Dtype dtype = to == Space::sram ? from.dtype_ : Dtype::f32;
    Tile tile(this, make({from.name_, rows.size, cols.size, dtype, to}));
    fetch(tile, from, rows, cols, here);
    return tile;
}

void Block::reload(Tile& to, const Hbm& from, Span rows, Span cols, Here here) {
    if (to.rows() != rows.size || to.cols() != cols.size) mismatch("reload", info(to), rows.size, cols.size);
    fetch(to, from, rows, cols, here);
}

void Block::fetch(Tile& to, const Hbm& from, Span rows, Span cols, Here here) {
    check_region("load", from, rows, cols);
    Counters cost;
    cost.hbm_read = rows.size * cols.size * size_of(from.dtype_);
    charge_write(cost, to);
    if (data()) {
        gpu_.tensors_[from.id_].data->read(from.slice_, rows, cols, w_.chip.data(to.slot_));
        if (to.dtype() != from.dtype_) round_result(to);
    }
    w_.total.add(cost, weight_);
    w_.traffic[from.id_].read += weight_ * cost.hbm_read;
    w_.mark(2 * from.id_ + 2u, cost.hbm_read, weight_);
    if (w_.listeners.empty()) return;
    report({.op = Op::load,
            .what = "load",
            .source_line = here.line,
            .out = w_.chip.id(to.slot_),
            .tile = &info(to),
            .region = {from.id_, from.slice_, rows, cols},
            .cost = cost},
           contents(to));
}

void Block::store(const Tile& from, const Hbm& to, Span rows, Span cols, Here here) {
    check_region("store", to, rows, cols);
    if (from.rows() != rows.size || from.cols() != cols.size) mismatch("store", info(from), rows.size, cols.size);
    Counters cost;
    cost.hbm_write = rows.size * cols.size * size_of(to.dtype_);
    charge_read(cost, from);
    if (data()) gpu_.tensors_[to.id_].data->write(to.slice_, rows, cols, w_.chip.data(from.slot_));
    w_.total.add(cost, weight_);
    w_.traffic[to.id_].write += weight_ * cost.hbm_write;
    w_.mark(2 * to.id_ + 3u, cost.hbm_write, weight_);
    if (w_.listeners.empty()) return;
    std::vector<float> stored;
    if (data()) {
        stored.resize(static_cast<std::size_t>(from.size()));
        gpu_.tensors_[to.id_].data->read(to.slice_, rows, cols, stored.data());
    }
    report({.op = Op::store,
            .what = "store",
            .source_line = here.line,
            .a = w_.chip.id(from.slot_),
            .tile = &info(from),
            .region = {to.id_, to.slice_, rows, cols},
            .cost = cost},
           stored);
}

Tile Block::alloc(const char* name, Index rows, Index cols, Space space, Dtype dtype, float fill, Here here) {
    Tile tile(this, make({name, rows, cols, dtype, space}));
    if (data()) {
        std::fill_n(w_.chip.data(tile.slot_), tile.size(), fill);
        round_result(tile);
    }
    if (!w_.listeners.empty())
        report({.op = Op::alloc,
                .what = "alloc",
                .source_line = here.line,
                .out = w_.chip.id(tile.slot_),
                .tile = &info(tile)},
               contents(tile));
    return tile;
}

void Block::release(ChipMemory::Slot slot) {
    if (w_.listeners.empty()) return w_.chip.give(slot);
    const TileInfo released = w_.chip.info(slot);
    const TileId id = w_.chip.id(slot);
    w_.chip.give(slot);
    report({.op = Op::release, .what = "release", .out = id, .tile = &released}, {});
}

void Block::report(Event e, TileData data) {
    e.line = line_;
    e.block = index_;
    e.times = weight_;
    e.sram_used = w_.chip.used(Space::sram);
    e.registers_used = w_.chip.used(Space::registers);
    for (Listener* l : w_.listeners) l->on(e, data);
}

void Block::report_operation(Op op, const char* what, const Tile& out, const Tile* a, const Tile* b,
                             const Counters& cost, Here here) {
    report({.op = op,
            .what = what,
            .source_line = here.line,
            .out = w_.chip.id(out.slot_),
            .a = a ? w_.chip.id(a->slot_) : no_tile,
            .b = b ? w_.chip.id(b->slot_) : no_tile,
            .tile = &info(out),
            .cost = cost},
           contents(out));
}

void Block::verify(const Cost& first, const Cost& now, Index tile, Here here) const {
    if (first.counters == now.counters && first.fingerprint == now.fingerprint) return;
    const std::string place = "uniform at source line " + std::to_string(here.line) + " of " + here.file +
                              " (pseudo-code line " + std::to_string(line_) + "): tile " + std::to_string(tile);
    for (const auto& [name, member] : Counters::fields)
        if (first.counters.*member != now.counters.*member)
            throw BrokenPromise(place + " costs " + std::to_string(now.counters.*member) + " " + name +
                                " where tile 0 costs " + std::to_string(first.counters.*member));
    throw BrokenPromise(place + " moves other tensors, or makes tiles of other sizes, than tile 0");
}

}  // namespace tilescope
