#include "core/machine/chip_memory.hpp"

#include "core/text/message.hpp"

namespace tilescope {
namespace {

std::string describe(Space space, const LiveTile& wanted, Bytes used, Bytes capacity, std::uint16_t line,
                     const std::string& whose) {
    const auto digits = [](Bytes n) { return std::to_string(n); };
    const std::string tile =
        text::message("chip.tile", wanted.name, digits(wanted.rows), digits(wanted.cols), name_of(wanted.dtype));
    const std::string where = whose.empty() ? name_of(space) : text::message("chip.of_lane", name_of(space), whose);
    return text::message("chip.does_not_fit", tile, where, digits(line), digits(wanted.bytes), digits(used),
                         digits(capacity), digits(used + wanted.bytes - capacity));
}

LiveTile live(const TileInfo& t) { return {t.name, t.rows, t.cols, t.dtype, t.bytes()}; }

}  // namespace

OutOfChipMemory::OutOfChipMemory(Space space_, LiveTile wanted_, Bytes used_, Bytes capacity_, std::uint16_t line_,
                                 std::vector<LiveTile> live_, const std::string& whose_)
    : std::runtime_error(describe(space_, wanted_, used_, capacity_, line_, whose_)),
      space(space_),
      wanted(std::move(wanted_)),
      used(used_),
      capacity(capacity_),
      line(line_),
      live(std::move(live_)),
      whose(whose_) {}

ChipMemory::Slot ChipMemory::take(const TileInfo& info, std::uint16_t line) {
    const int s = static_cast<int>(info.space);
    const Bytes bytes = info.bytes();
    if (used_[s] + bytes > capacity_.of(info.space)) refuse(info, line);
    used_[s] += bytes;
    peak_[s] = std::max(peak_[s], used_[s]);
    return fill(info);
}

ChipMemory::Slot ChipMemory::take_within(Slot place, TileInfo info, std::uint16_t line) {
    if (slots_[place].held + info.bytes() > slots_[place].info.bytes()) refuse_within(place, info, line);
    slots_[place].held += info.bytes();
    info.within = slots_[place].id;
    const Slot slot = fill(info);
    slots_[slot].within = place;
    return slot;
}

ChipMemory::Slot ChipMemory::fill(const TileInfo& info) {
    if (free_.empty()) {
        slots_.emplace_back();
        free_.reserve(slots_.capacity());  // so that give() needs no memory: destructors call it
        free_.push_back(static_cast<Slot>(slots_.size() - 1));
    }
    const Slot slot = free_.back();
    Entry& e = slots_[slot];
    if (const Index n = info.rows * info.cols; data_ && e.room < n) {
        e.data.reset(new (std::align_val_t{64}) float[static_cast<std::size_t>(n)]);
        e.room = n;
    }
    free_.pop_back();
    e.info = info;
    e.within = no_slot;
    e.held = 0;
    e.id = next_id_++;
    e.origin = {};
    e.live = true;
    return slot;
}

void ChipMemory::give(Slot slot) noexcept {
    Entry& e = slots_[slot];
    if (e.within == no_slot)
        used_[static_cast<int>(e.info.space)] -= e.info.bytes();
    else
        slots_[e.within].held -= e.info.bytes();
    e.live = false;
    free_.push_back(slot);
}

void ChipMemory::refuse(const TileInfo& info, std::uint16_t line) const {
    std::vector<LiveTile> tiles;
    for (const Entry& e : slots_)
        if (e.live && e.within == no_slot && e.info.space == info.space) tiles.push_back(live(e.info));
    throw OutOfChipMemory(info.space, live(info), used(info.space), capacity_.of(info.space), line, std::move(tiles));
}

void ChipMemory::refuse_within(Slot place, const TileInfo& info, std::uint16_t line) const {
    std::vector<LiveTile> tiles;
    for (const Entry& e : slots_)
        if (e.live && e.within == place) tiles.push_back(live(e.info));
    const Entry& all = slots_[place];
    throw OutOfChipMemory(info.space, live(info), all.held, all.info.bytes(), line, std::move(tiles), all.info.name);
}

}  // namespace tilescope
