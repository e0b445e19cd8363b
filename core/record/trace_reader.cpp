#include <istream>

#include "core/machine/dtypes.hpp"
#include "core/machine/error.hpp"
#include "core/record/trace_events.hpp"
#include "core/record/trace_file.hpp"
#include "core/record/trace_words.hpp"
#include "core/text/message.hpp"
#include "core/text/words.hpp"

namespace tilescope {
using text::message;
namespace {

constexpr int most_nesting = 8;
constexpr Index most_values = Index{1} << 28;  // the most elements of a tensor in a recording
constexpr auto promises = {Promise::none, Promise::uniform, Promise::graded, Promise::parts};

class TraceReader {
  public:
    TraceReader(std::istream& in, const std::string& name, const Control* control)
        : in_(in), name_(name), control_(control) {}

    ReadTrace read() {
        parse();
        if (section_ + 1 != static_cast<Index>(trace_sections.size()))
            refuse(message("trace_reader.lacks", next_section()));
        events_->finish();
        return {Trace(std::move(to_)), about_.dump()};
    }

  private:
    [[noreturn]] void refuse(const std::string& what) const {
        throw UsageError(message("trace_reader.refused", text::shown(name_), what));
    }
    std::string next_section() const { return trace_sections[static_cast<std::size_t>(section_ + 1)]; }

    void parse();
    bool hear(int depth, Json::parse_event_t event, Json& parsed);
    void enter(const std::string& key);
    void read_member(const Json& value);
    void read_entry(const Json& value);
    void check_schema(const Json& value) const;
    void read_totals(const Json& value);

    void read_launch(JsonEntry e);
    void read_block(JsonEntry e);
    void read_loop(JsonEntry e);
    void read_turn(JsonEntry e);
    void read_tensor(JsonEntry e);
    void read_tile(JsonEntry e);

    std::istream& in_;
    const std::string& name_;
    const Control* control_;
    std::string key_;     // member of the document's object that is being read
    Index section_ = -1;  // the last one of trace_sections that began
    bool known_ = false;  // the schema was read
    Json about_ = Json::object();
    RecordedRun to_;
    std::optional<EventReader> events_;
    Index entries_ = 0;  // of the current list, so far
};

/// Handles the document while it is parsed, and keeps only one entry of it at a time.
void TraceReader::parse() {
    try {
        const Json rest = Json::parse(
            in_, [this](int depth, Json::parse_event_t event, Json& parsed) { return hear(depth, event, parsed); });
        if (!known_) refuse(message("trace_reader.no_recording"));
    } catch (const Json::parse_error& e) {
        if (!known_) refuse(message("trace_reader.no_recording"));
        const std::string bytes = std::to_string(e.byte);
        refuse(message(in_.eof() ? "trace_reader.ends_in_the_middle" : "trace_reader.no_json", bytes));
    } catch (const Json::exception& e) {
        // "[json.exception.out_of_range.406] number overflow parsing '1e999'" for numbers, other words for what is
        // missing.
        const std::string_view what = e.what();
        const std::size_t quote = what.find('\'');
        if (what.find("number overflow") != what.npos && quote != what.npos)
            refuse(message("trace_reader.number_too_large",
                           text::shown(what.substr(quote + 1, what.find('\'', quote + 1) - quote - 1), 60)));
        refuse(message("trace_reader.other_kind_of_value"));
    }
}

bool TraceReader::hear(int depth, Json::parse_event_t event, Json& parsed) {
    check_stop(control_);
    using E = Json::parse_event_t;
    if (depth > most_nesting) refuse(message("trace_reader.nested_too_deeply"));
    if (event == E::key && depth == 1) enter(parsed.get<std::string>());
    if (event != E::value && event != E::object_end && event != E::array_end) return true;
    const bool of_list = section_ >= 0 && key_ == trace_sections[static_cast<std::size_t>(section_)] &&
                         key_ != "values" && key_ != "sources" && key_ != "totals";
    if (depth == 2 && of_list) return read_entry(parsed), false;
    if (depth != 1) return true;
    if (of_list && event != E::array_end) refuse(message("trace_reader.no_list", key_));
    if (!of_list) read_member(parsed);
    return false;
}

/// A member of the document's object begins.
void TraceReader::enter(const std::string& key) {
    if (!known_ && key != "schema") refuse(message("trace_reader.begins_otherwise", text::shown(key)));
    if (known_ && (key == "schema" || about_.contains(key))) refuse(message("trace_reader.twice", text::shown(key)));
    key_ = key;
    entries_ = 0;
    if (std::find(trace_sections.begin(), trace_sections.end(), key) == trace_sections.end()) return;
    if (section_ + 1 == static_cast<Index>(trace_sections.size()) || next_section() != key)
        refuse(message("trace_reader.out_of_order", text::shown(key),
                       text::join({trace_sections.begin(), trace_sections.end()}, ", ")));
    ++section_;
}

void TraceReader::read_member(const Json& value) {
    if (key_ == "schema") {
        check_schema(value);
        known_ = true;
    } else if (key_ == "values") {
        if (!value.is_boolean()) refuse(message("trace_reader.no_truth", text::shown(value.dump())));
        to_.has_values = value.get<bool>();
    } else if (key_ == "sources") {
        if (!value.is_array() || !std::all_of(value.begin(), value.end(), is_text))
            refuse(message("trace_reader.no_file_names"));
        to_.sources = std::make_shared<const std::vector<std::string>>(value.get<std::vector<std::string>>());
    } else if (key_ == "totals") {
        read_totals(value);
    } else {
        about_[key_] = value;
    }
}

void TraceReader::check_schema(const Json& value) const {
    const std::string found = value.is_string() ? value.get<std::string>() : value.dump();
    if (found == trace_schema) return;
    if (found.starts_with("tilescope.trace/"))
        refuse(message("trace_reader.other_version", text::shown(found), trace_schema));
    refuse(message("trace_reader.other_schema", text::shown(found), trace_schema));
}

void TraceReader::read_totals(const Json& value) {
    JsonEntry e(value, name_, "totals");
    Counters totals;
    for (const auto& [name, member] : Counters::fields) totals.*member = e.integer_or(0, name);
    events_.emplace(name_, to_, e.integer("events"), totals);
    e.finish();
}

void TraceReader::read_entry(const Json& value) {
    if (key_ == "events") return events_->read(value);
    using Read = void (TraceReader::*)(JsonEntry);
    constexpr std::pair<const char*, Read> lists[] = {
        {"launches", &TraceReader::read_launch}, {"blocks", &TraceReader::read_block},
        {"loops", &TraceReader::read_loop},      {"turns", &TraceReader::read_turn},
        {"tensors", &TraceReader::read_tensor},  {"tiles", &TraceReader::read_tile}};
    for (const auto& [list, read] : lists)
        if (key_ == list) (this->*read)(JsonEntry(value, name_, list, entries_++));
}

void TraceReader::read_launch(JsonEntry e) {
    RecordedLaunch l{e.text("kernel"), {}};
    const Json& axes = e.at("axes");
    if (!axes.is_array() || axes.empty()) e.refuse(message("trace_reader.no_axes"));
    for (const Json& axis : axes) {
        JsonEntry a(axis, name_, "launches", entries_ - 1);
        l.axes.push_back(
            {a.text("name"), a.integer("count"), a.integer("tile_size"), a.named("promise", promises, promise_word)});
        a.finish();
    }
    e.finish();
    to_.launches.push_back(std::move(l));
}

void TraceReader::read_block(JsonEntry e) {
    RecordedBlock b{e.integer("launch", 0, static_cast<Index>(to_.launches.size()) - 1), e.integer("block"), {}};
    const RecordedLaunch& launch = to_.launches[static_cast<std::size_t>(b.launch)];
    e.integer("block", 0, launch.thread_blocks() - 1);
    const Json& at = e.at("at");
    if (!at.is_array() || at.size() != launch.axes.size())
        e.refuse(message("trace_reader.no_place", std::to_string(launch.axes.size())));
    for (const Json& place : at) {
        const Json wrapped = {{"at", place}};
        b.at.push_back(JsonEntry(wrapped, name_, "blocks", entries_ - 1).span("at"));
    }
    e.finish();
    if (!to_.blocks.empty())
        if (const RecordedBlock& before = to_.blocks.back();
            std::pair(before.launch, before.block) >= std::pair(b.launch, b.block))
            e.refuse(message("trace_reader.blocks_out_of_order"));
    to_.blocks.push_back(std::move(b));
}

void TraceReader::read_loop(JsonEntry e) {
    to_.loops.push_back({e.text("name"), e.named("promise", promises, promise_word),
                         static_cast<std::uint16_t>(e.integer("line", 0, 0xffff)),
                         static_cast<std::uint32_t>(e.integer("source_line", 0, 0xffffffff))});
    e.finish();
}

void TraceReader::read_turn(JsonEntry e) {
    const Index of = e.integer("of", 1);
    to_.turns.push_back({e.integer("loop", 0, static_cast<Index>(to_.loops.size()) - 1),
                         e.integer_or(-1, "around", 0, static_cast<Index>(to_.turns.size()) - 1),
                         e.integer("index", 0, of - 1), of, e.span("tile")});
    e.finish();
}

void TraceReader::read_tensor(JsonEntry e) {
    RecordedTensor t{e.text("name"),
                     e.named("role", {Role::input, Role::output, Role::scratch}, name_of),
                     e.named("dtype", all_dtypes, name_of),
                     e.integer("slices", 1),
                     e.integer("rows", 1),
                     e.integer("cols", 1),
                     e.named("meaning", all_meanings, name_of),
                     e.integer_or(1, "heads_per_slice", 1),
                     e.has("gradient_of") ? e.named("gradient_of", all_meanings, name_of) : Meaning::other,
                     {},
                     {}};
    for (const RecordedTensor& other : to_.tensors)
        if (other.name == t.name) e.refuse(message("trace_reader.name_twice", text::shown(t.name)));
    if (to_.tensors.size() >= no_tensor) e.refuse(message("trace_reader.too_many_tensors"));
    const Index most = to_.has_values ? most_values : JsonEntry::most_index;
    if (t.rows > most / t.cols || t.slices > most / (t.rows * t.cols)) e.refuse(message("trace_reader.too_large"));
    if (to_.has_values) {
        const auto n = static_cast<std::size_t>(t.size());
        t.initial = t.role == Role::input || e.has("values") ? e.floats("values", n)
                                                             : std::vector<float>(n, unwritten(t.dtype));
    }
    e.finish();
    to_.tensors.push_back(std::move(t));
}

void TraceReader::read_tile(JsonEntry e) {
    constexpr Index most = Index{1} << 30;  // of rows and of columns: no chip holds more
    to_.tiles.push_back(
        {e.text("name"), e.integer("rows", 0, most), e.integer("cols", 0, most), e.named("dtype", all_dtypes, name_of),
         e.named("space", {Space::sram, Space::registers}, space_word),
         e.integer("launch", 0, static_cast<Index>(to_.launches.size()) - 1), e.integer("block"),
         static_cast<TileId>(e.integer("id", 0, no_tile - 1)), e.named("meaning", all_meanings, name_of)});
    RecordedTile& t = to_.tiles.back();
    if (e.has("within")) {
        t.within = static_cast<TileId>(e.integer("within", 0, static_cast<Index>(to_.tiles.size()) - 2));
        t.slot = e.integer("slot");
        const RecordedTile& place = to_.tiles[t.within];
        if (place.launch != t.launch || place.block != t.block || place.space != t.space)
            e.refuse(message("trace_reader.within_elsewhere", std::to_string(t.within)));
    }
    e.finish();
}

}  // namespace

ReadTrace read_trace(std::istream& in, const std::string& name, const Control* control) {
    return TraceReader(in, name, control).read();
}

}  // namespace tilescope
