#include "core/record/trace_events.hpp"

#include "core/machine/dtypes.hpp"
#include "core/machine/error.hpp"
#include "core/machine/operations/of_block.hpp"
#include "core/record/trace_words.hpp"
#include "core/text/message.hpp"
#include "core/text/words.hpp"

namespace tilescope {
using text::message;
namespace {

constexpr Index most_line = 0xffff, most_source_line = 0xffffffff;

Index last(std::size_t size) { return static_cast<Index>(size) - 1; }

std::string quoted_name(const std::string& name, TileId tile) {
    return message("trace_events.tile", text::shown(name), std::to_string(tile));
}

}  // namespace

EventReader::EventReader(const std::string& file, RecordedRun& to, Index events, const Counters& totals)
    : file_(file), to_(to), expected_(events), left_(totals), lives_(to.tiles.size(), Life::to_come) {
    for (std::size_t t = 0; t < to.tensors.size(); ++t) tensors_.emplace(to.tensors[t].name, static_cast<TensorId>(t));
}

void EventReader::read(const Json& json) {
    const auto n = static_cast<Index>(to_.steps.size());
    JsonEntry entry(json, file_, "events", n);
    if (const Index step = entry.integer("step"); step != n)
        entry.refuse(message("trace_events.other_step", std::to_string(step), std::to_string(n)));
    Step step{.event = {.operation = &operation(entry)}};
    step.kind() == Kind::launch ? begin_launch(entry, step) : place(entry, step);
    read_position(entry, step);
    read_tiles(entry, step.event);
    read_region(entry, step.event);
    read_cost(entry, step.event);
    live(entry, step.event);
    check_held(entry, step.event);
    read_values(entry, step);
    entry.finish();
    to_.steps.push_back(step);
}

const Operation& EventReader::operation(JsonEntry& entry) const {
    const std::string op = entry.text("op"), what = entry.text("what");
    if (op == name_of(Kind::launch)) return operation::launch;  // `what` names the kernel
    const Operation* found = find_operation(what);
    for (const Operation* mark : {&operation::block_begin, &operation::block_end})
        if (what == mark->name) found = mark;
    if (!found) {
        std::vector<std::string> names;
        for (const Operation* o : operations()) names.emplace_back(o->name);
        const auto near = text::nearest(what, names);
        entry.refuse(near ? message("trace_events.unknown_but_near", text::shown(what), *near)
                          : message("trace_events.unknown", text::shown(what)));
    }
    if (op != name_of(found->kind))
        entry.refuse(message("trace_events.other_kind", text::shown(op), found->name, name_of(found->kind)));
    return *found;
}

void EventReader::begin_launch(JsonEntry& entry, Step& step) {
    if (in_block_) entry.refuse(message("trace_events.launch_in_block"));
    step.launch = step.event.block =
        entry.integer("launch", launch_ + 1, std::min(launch_ + 1, last(to_.launches.size())));
    const std::string& kernel = to_.launches[static_cast<std::size_t>(++launch_)].kernel;
    if (entry.text("what") != kernel)
        entry.refuse(message("trace_events.other_kernel", text::shown(entry.text("what")), text::shown(kernel)));
}

/// Reads the step's thread block and launch: the next block of the table where one begins, else the current one.
void EventReader::place(JsonEntry& entry, Step& step) {
    const bool begins = step.event.operation == &operation::block_begin;
    if (begins == in_block_) entry.refuse(message(begins ? "trace_events.block_in_block" : "trace_events.in_no_block"));
    if (begins && blocks_ == to_.blocks.size()) entry.refuse(message("trace_events.no_such_block"));
    const RecordedBlock& block = to_.blocks[begins ? blocks_++ : blocks_ - 1];
    in_block_ = step.event.operation != &operation::block_end;
    step.launch = entry.integer("launch", launch_, launch_);
    step.event.block = entry.integer("block", block.block, block.block);
    if (block.launch != launch_)
        entry.refuse(
            message("trace_events.block_of_launch", std::to_string(block.block), std::to_string(block.launch)));
}

void EventReader::read_position(JsonEntry& entry, Step& step) const {
    Event& e = step.event;
    step.turn = entry.integer_or(-1, "turn", 0, last(to_.turns.size()));
    e.line = static_cast<std::uint16_t>(entry.integer("line", 0, most_line));
    step.enters_line = entry.yes("enters_line");
    e.source_line = static_cast<std::uint32_t>(entry.integer("source_line", 0, most_source_line));
    const Index source = entry.integer_or(-1, "source", 0, last(to_.sources->size()));
    if (entry.has("lane")) step.lane = to_.number_of_lane(entry.text("lane"));
    if (source >= 0) e.source_file = (*to_.sources)[static_cast<std::size_t>(source)].c_str();
}

TileId EventReader::tile(JsonEntry& entry, const char* key) const {
    const auto id = static_cast<TileId>(entry.integer(key, 0, last(to_.tiles.size())));
    const RecordedTile& t = to_.tiles[id];
    const RecordedBlock* now = blocks_ > 0 ? &to_.blocks[blocks_ - 1] : nullptr;
    if (!in_block_ || t.launch != now->launch || t.block != now->block)
        entry.refuse(message("trace_events.of_other_block", key, quoted_name(t.name, id)));
    return id;
}

TileId EventReader::on_chip(JsonEntry& entry, const char* key) const {
    const TileId id = tile(entry, key);
    if (lives_[id] != Life::on_chip)
        entry.refuse(message(lives_[id] == Life::to_come ? "trace_events.not_made" : "trace_events.given_back", key,
                             quoted_name(to_.tiles[id].name, id)));
    return id;
}

void EventReader::read_tiles(JsonEntry& entry, Event& e) {
    const Kind kind = e.kind();
    const bool makes = kind == Kind::alloc || kind == Kind::load;
    const bool has_out = kind == Kind::release || makes || (works(kind) && kind != Kind::store);
    if (has_out) e.out = makes ? tile(entry, "out") : on_chip(entry, "out");
    constexpr const char* names[][2] = {{"a", "a_transposed"}, {"b", "b_transposed"}};
    const bool reads = works(kind) && kind != Kind::load;
    for (std::size_t k = 0; reads && k < e.reads.size(); ++k) {
        if (entry.has(names[k][0])) e.reads[k].tile = on_chip(entry, names[k][0]);
        e.reads[k].transposed = entry.yes(names[k][1]);
    }
    if (kind == Kind::store && e.a() == no_tile) entry.refuse(message("trace_events.nothing_stored"));
    e.alpha = entry.number_or(e.alpha, "alpha");
    if (reads && entry.has("factor")) e.factor = on_chip(entry, "factor");
    if (entry.has("math")) e.math = entry.named("math", number_dtypes, name_of);
    if (entry.has("meaning")) e.meaning = entry.named("meaning", all_meanings, name_of);
}

/// Refuses tiles that are made twice or used after their release, and counts the bytes that tiles hold.
void EventReader::live(JsonEntry& entry, const Event& e) {
    if (e.out == no_tile) return;
    const RecordedTile& t = to_.tiles[e.out];
    Life& life = lives_[e.out];
    if (e.kind() == Kind::alloc ? life != Life::to_come : life == Life::given_back)
        entry.refuse(message("trace_events.made_before", quoted_name(t.name, e.out)));
    Bytes& held = held_[static_cast<std::size_t>(t.space)];
    const Bytes bytes = t.within == no_tile ? t.bytes() : 0;  // else its bytes count with the tile that it is in
    if (life == Life::to_come) held += bytes;
    if (e.kind() == Kind::release) held -= bytes;
    life = e.kind() == Kind::release ? Life::given_back : Life::on_chip;
}

void EventReader::read_region(JsonEntry& entry, Event& e) const {
    Region& r = e.region;
    if (e.moves_data()) {
        const std::string name = entry.text("tensor");
        const auto found = tensors_.find(name);
        if (found == tensors_.end()) entry.refuse(message("trace_events.no_such_tensor", text::shown(name)));
        r.tensor = found->second;
    } else if (!entry.has("rows")) {
        return;
    }
    r.slice = entry.integer("slice");
    r.rows = entry.span("rows");
    r.cols = entry.span("cols");
    if (e.moves_data()) check_moved(entry, e);
}

const RecordedTile& EventReader::tile_of(const Event& e) const {
    return to_.tiles[e.kind() == Kind::store ? e.a() : e.out];
}

void EventReader::check_moved(JsonEntry& entry, const Event& e) const {
    const RecordedTensor& t = to_.tensors[e.region.tensor];
    const Region& r = e.region;
    if (r.slice >= t.slices || r.rows.end() > t.rows || r.cols.end() > t.cols)
        entry.refuse(message("trace_events.beyond_tensor", text::shown(t.name), std::to_string(t.slices),
                             std::to_string(t.rows), std::to_string(t.cols)));
    if (const RecordedTile& tile = tile_of(e); tile.rows != r.rows.size || tile.cols != r.cols.size)
        entry.refuse(message("trace_events.other_size", std::to_string(r.rows.size), std::to_string(r.cols.size),
                             std::to_string(tile.rows), std::to_string(tile.cols)));
}

void EventReader::read_cost(JsonEntry& entry, Event& e) {
    Counters& c = e.cost;
    if (entry.has("cost")) {
        JsonEntry cost(entry.at("cost"), file_, "events", static_cast<Index>(to_.steps.size()));
        for (const auto& [name, member] : Counters::fields) {
            c.*member = cost.integer_or(0, name);
            if (c.*member > left_.*member) cost.refuse(message("trace_events.more_than_totals", name));
            left_.*member -= c.*member;
        }
        cost.finish();
    }
    const Bytes moved =
        e.moves_data() ? e.region.rows.size * e.region.cols.size * size_of(to_.tensors[e.region.tensor].dtype) : 0;
    const auto if_does = [&](Effect effect) { return e.operation->effect == effect ? moved : 0; };
    if (c.hbm_read != if_does(Effect::load) || c.hbm_write != if_does(Effect::store) ||
        c.hbm_reduce != if_does(Effect::store_sum))
        entry.refuse(message("trace_events.other_cost", std::to_string(moved), std::to_string(c.hbm())));
}

void EventReader::check_held(JsonEntry& entry, Event& e) const {
    e.sram_used = entry.integer("sram_used");
    e.registers_used = entry.integer("registers_used");
    if (e.sram_used != held_[0] || e.registers_used != held_[1])
        entry.refuse(message("trace_events.other_use", std::to_string(held_[0]), std::to_string(held_[1])));
}

void EventReader::read_values(JsonEntry& entry, Step& step) {
    step.first_value = to_.values.size();
    if (!to_.has_values || !has_contents(step.kind())) return;
    const RecordedTile& t = tile_of(step.event);
    const std::vector<float> values = entry.floats("values", static_cast<std::size_t>(t.rows * t.cols));
    step.values = values.size();
    if (const auto known = contents_.find(to_.values, step.event, step.tile(), values))
        step.first_value = *known;
    else
        to_.values.insert(to_.values.end(), values.begin(), values.end());
    contents_.note(step);
}

void EventReader::finish() const {
    const auto refuse = [&](const std::string& what) {
        throw UsageError(message("trace_events.refused_totals", text::shown(file_), what));
    };
    if (const auto n = static_cast<Index>(to_.steps.size()); n != expected_)
        refuse(message("trace_events.other_count", std::to_string(expected_), std::to_string(n)));
    for (const auto& [name, member] : Counters::fields)
        if (left_.*member != 0) refuse(message("trace_events.less_than_totals", name, std::to_string(left_.*member)));
    if (launch_ != last(to_.launches.size())) refuse(message("trace_events.fewer_launches"));
    if (blocks_ != to_.blocks.size()) refuse(message("trace_events.fewer_blocks"));
    if (std::find(lives_.begin(), lives_.end(), Life::to_come) != lives_.end())
        refuse(message("trace_events.fewer_tiles"));
}

}  // namespace tilescope
