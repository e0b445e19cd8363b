#include "core/time/perfetto.hpp"

#include <cstring>

namespace tilescope {
namespace {

// ---- Numbers of fields, by the message that they are in, and what some of them may be

struct InTrace {
    static constexpr int packet = 1;
};
struct InPacket {
    static constexpr int timestamp = 8, sequence = 10, track_event = 11, interned_data = 12, sequence_flags = 13;
    static constexpr int track_descriptor = 60, first_on_sequence = 87;
    // Bits of sequence_flags: earlier interned entries are forgotten; the packet needs interned entries.
    static constexpr std::uint64_t cleared = 1, needs_interned = 2;
};
struct InTrack {
    static constexpr int uuid = 1, name = 2, parent_uuid = 5, counter = 8, child_ordering = 11, rank = 12;
    static constexpr int description = 14;
    static constexpr std::uint64_t by_rank = 3;  // of child_ordering
};
struct InCounter {
    static constexpr int unit_name = 6;
};
struct InEvent {
    static constexpr int notes = 4, type = 9, name_iid = 10, track = 11, name = 23, double_counter_value = 44;
    static constexpr std::uint64_t begin = 1, end = 2, counter = 4;  // of type
};
struct InNote {
    static constexpr int name_iid = 1, string_value = 6;
};
struct InInternedData {
    static constexpr int event_names = 2, note_names = 3;
};
struct InInternedName {
    static constexpr int iid = 1, name = 2;
};

constexpr int varint_type = 0, fixed64_type = 1, bytes_type = 2;
constexpr std::uint64_t the_sequence = 1;

std::uint64_t number_of(auto e) { return static_cast<std::uint64_t>(e); }

Message event_of(PerfettoTrace::Track track, std::uint64_t type) {
    Message event;
    event.number(InEvent::type, type).number(InEvent::track, number_of(track));
    return event;
}

}  // namespace

void Message::varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>(static_cast<unsigned char>(value | 0x80));
    bytes_ += static_cast<char>(static_cast<unsigned char>(value));
}

void Message::key(int field, int wire_type) { varint(static_cast<std::uint64_t>(field * 8 + wire_type)); }

Message& Message::number(int field, std::uint64_t value) {
    key(field, varint_type);
    varint(value);
    return *this;
}

Message& Message::real(int field, double value) {
    key(field, fixed64_type);
    std::uint64_t bits;
    static_assert(sizeof bits == sizeof value);
    std::memcpy(&bits, &value, sizeof bits);
    for (int k = 0; k < 8; ++k, bits >>= 8) bytes_ += static_cast<char>(static_cast<unsigned char>(bits));
    return *this;
}

Message& Message::text(int field, std::string_view value) {
    key(field, bytes_type);
    varint(value.size());
    bytes_ += value;
    return *this;
}

PerfettoTrace::PerfettoTrace(std::ostream& out) : out_(out) {}

PerfettoTrace::Track PerfettoTrace::track(std::string_view name, Track parent, std::string_view description) {
    Message descriptor;
    descriptor.text(InTrack::name, name);
    if (!description.empty()) descriptor.text(InTrack::description, description);
    return declare(descriptor, parent);
}

PerfettoTrace::Track PerfettoTrace::counter(std::string_view name, std::string_view unit, Track parent) {
    Message descriptor, counter;
    counter.text(InCounter::unit_name, unit);
    descriptor.text(InTrack::name, name).message(InTrack::counter, counter);
    return declare(descriptor, parent);
}

PerfettoTrace::Track PerfettoTrace::declare(Message& descriptor, Track parent) {
    ++tracks_;
    descriptor.number(InTrack::uuid, tracks_)
        .number(InTrack::child_ordering, InTrack::by_rank)
        .number(InTrack::rank, tracks_);
    if (parent != Track::none) descriptor.number(InTrack::parent_uuid, number_of(parent));
    Message p;
    p.message(InPacket::track_descriptor, descriptor);
    packet(p);
    return static_cast<Track>(tracks_);
}

PerfettoTrace::Name PerfettoTrace::slice_name(std::string_view name) {
    return intern(InInternedData::event_names, name);
}
PerfettoTrace::Name PerfettoTrace::note_name(std::string_view name) { return intern(InInternedData::note_names, name); }

PerfettoTrace::Name PerfettoTrace::intern(int list, std::string_view name) {
    Message entry, data, p;
    entry.number(InInternedName::iid, ++names_).text(InInternedName::name, name);
    data.message(list, entry);
    p.message(InPacket::interned_data, data);
    packet(p);
    return static_cast<Name>(names_);
}

void PerfettoTrace::begin(Track track, std::uint64_t ns, Name name) {
    event(ns, event_of(track, InEvent::begin).number(InEvent::name_iid, number_of(name)));
}

void PerfettoTrace::begin(Track track, std::uint64_t ns, std::string_view name, std::span<const Note> notes) {
    Message e = event_of(track, InEvent::begin).text(InEvent::name, name);
    for (const Note& n : notes) {
        Message value;
        value.number(InNote::name_iid, number_of(n.name)).text(InNote::string_value, n.value);
        e.message(InEvent::notes, value);
    }
    event(ns, e);
}

void PerfettoTrace::end(Track track, std::uint64_t ns) { event(ns, event_of(track, InEvent::end)); }

void PerfettoTrace::count(Track track, std::uint64_t ns, double value) {
    event(ns, event_of(track, InEvent::counter).real(InEvent::double_counter_value, value));
}

void PerfettoTrace::event(std::uint64_t ns, const Message& event) {
    Message p;
    p.number(InPacket::timestamp, ns).message(InPacket::track_event, event);
    packet(p);
}

/// All packets are of one sequence: an entry interned in one of them is known in all later ones.
void PerfettoTrace::packet(Message& p) {
    p.number(InPacket::sequence, the_sequence)
        .number(InPacket::sequence_flags, InPacket::needs_interned | (first_ ? InPacket::cleared : 0));
    if (first_) p.number(InPacket::first_on_sequence, 1);
    first_ = false;
    Message whole;
    whole.message(InTrace::packet, p);
    out_ << whole.bytes();
}

}  // namespace tilescope
