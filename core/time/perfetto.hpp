// Traces for ui.perfetto.dev: slices and counters on tracks, as protobuf messages. The field numbers are those of
// github.com/google/perfetto, protos/perfetto/trace, at ec5d16b1; the wire format is that of
// protobuf.dev/programming-guides/encoding.
#pragma once

#include <cstdint>
#include <ostream>
#include <span>
#include <string>
#include <string_view>

namespace tilescope {

/// A protobuf message as it is encoded, field by field.
class Message {
  public:
    Message& number(int field, std::uint64_t value);
    Message& real(int field, double value);
    Message& text(int field, std::string_view value);
    Message& message(int field, const Message& value) { return text(field, value.bytes_); }

    const std::string& bytes() const { return bytes_; }

  private:
    void varint(std::uint64_t value);
    void key(int field, int wire_type);

    std::string bytes_;
};

/// Writes a trace, packet by packet. Times are in nanoseconds. Slices of a track nest: each ends before the one around
/// it, and the events of a track are written in the order of time. Several tracks may be written alternately.
class PerfettoTrace {
  public:
    enum class Track : std::uint32_t { none };
    /// A word that is written once, for slices or for notes on them.
    enum class Name : std::uint32_t {};
    struct Note {
        Name name;
        std::string value;
    };

    explicit PerfettoTrace(std::ostream& out);

    /// Tracks stand below their parent in the order in which they are made.
    Track track(std::string_view name, Track parent = Track::none, std::string_view description = "");
    Track counter(std::string_view name, std::string_view unit, Track parent);
    Name slice_name(std::string_view name);
    Name note_name(std::string_view name);

    void begin(Track track, std::uint64_t ns, Name name);
    void begin(Track track, std::uint64_t ns, std::string_view name, std::span<const Note> notes = {});
    void end(Track track, std::uint64_t ns);
    void count(Track track, std::uint64_t ns, double value);

  private:
    Track declare(Message& descriptor, Track parent);
    Name intern(int list, std::string_view name);
    void event(std::uint64_t ns, const Message& event);
    void packet(Message& packet);

    std::ostream& out_;
    std::uint32_t tracks_ = 0, names_ = 0;
    bool first_ = true;
};

}  // namespace tilescope
