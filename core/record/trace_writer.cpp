#include <cstring>
#include <map>
#include <ostream>

#include "core/machine/error.hpp"
#include "core/machine/storage.hpp"
#include "core/record/json_entry.hpp"
#include "core/record/trace_file.hpp"
#include "core/record/trace_words.hpp"

namespace tilescope {
namespace {

Json to_json(Span s) { return {s.begin, s.size}; }

/// Only the counters that are not 0.
Json to_json(const Counters& c) {
    Json j = Json::object();
    for (const auto& [name, member] : Counters::fields)
        if (c.*member != 0) j[name] = c.*member;
    return j;
}

Json to_json(const RecordedLaunch& l) {
    Json axes = Json::array();
    for (const RecordedAxis& a : l.axes)
        axes.push_back(
            {{"name", a.name}, {"count", a.count}, {"tile_size", a.tile_size}, {"promise", promise_word(a.promise)}});
    return {{"kernel", l.kernel}, {"axes", std::move(axes)}};
}

Json to_json(const RecordedBlock& b) {
    Json at = Json::array();
    for (const Span s : b.at) at.push_back(to_json(s));
    return {{"launch", b.launch}, {"block", b.block}, {"at", std::move(at)}};
}

Json to_json(const RecordedLoop& l) {
    return {{"name", l.name}, {"promise", promise_word(l.promise)}, {"line", l.line}, {"source_line", l.source_line}};
}

Json to_json(const RecordedTurn& t) {
    Json j = {{"loop", t.loop}, {"index", t.index}, {"of", t.of}, {"tile", to_json(t.tile)}};
    if (t.around >= 0) j["around"] = t.around;
    return j;
}

/// Whether no element was written yet, as in most tensors that are no inputs: then the values are left out.
bool is_unwritten(const RecordedTensor& t) {
    const float none = unwritten(t.dtype);
    return std::all_of(t.initial.begin(), t.initial.end(),
                       [&](float x) { return std::memcmp(&x, &none, sizeof x) == 0; });
}

Json to_json(const RecordedTensor& t) {
    Json j = {{"name", t.name}, {"role", name_of(t.role)}, {"dtype", name_of(t.dtype)},    {"slices", t.slices},
              {"rows", t.rows}, {"cols", t.cols},          {"meaning", name_of(t.meaning)}};
    if (t.heads_per_slice != 1) j["heads_per_slice"] = t.heads_per_slice;
    if (t.gradient_of != Meaning::other) j["gradient_of"] = name_of(t.gradient_of);
    if (!t.initial.empty() && (t.role == Role::input || !is_unwritten(t)))
        j["values"] = json_numbers(t.initial.data(), t.initial.size());
    return j;
}

Json to_json(const RecordedTile& t) {
    Json j = {{"name", t.name},
              {"rows", t.rows},
              {"cols", t.cols},
              {"dtype", name_of(t.dtype)},
              {"space", space_word(t.space)},
              {"meaning", name_of(t.meaning)},
              {"launch", t.launch},
              {"block", t.block},
              {"id", t.id}};
    if (t.within != no_tile) j["within"] = t.within, j["slot"] = t.slot;
    return j;
}

/// Writes a list, one entry per line.
template <class T>
void write_list(std::ostream& out, const char* name, const std::vector<T>& list) {
    out << ",\n\"" << name << "\": [";
    for (std::size_t k = 0; k < list.size(); ++k) out << (k ? ",\n" : "\n") << to_json(list[k]).dump();
    out << ']';
}

class EventWriter {
  public:
    explicit EventWriter(const Trace& trace) : trace_(trace) {
        for (Index n = 0; n < trace.size(); ++n)
            if (const std::string_view file = trace[n].event.source_file; !file.empty()) sources_.emplace(file, 0);
        for (auto& [file, number] : sources_) number = static_cast<Index>(files_.size()), files_.emplace_back(file);
    }

    const std::vector<std::string>& sources() const { return files_; }

    Json event(Index n) const {
        const Step& s = trace_[n];
        const Event& e = s.event;
        Json j = {{"step", n}, {"op", name_of(e.kind())}, {"what", what(s)}, {"launch", s.launch}};
        if (e.kind() != Kind::launch) j["block"] = e.block;
        if (s.turn >= 0) j["turn"] = s.turn;
        j["line"] = e.line;
        if (s.enters_line) j["enters_line"] = true;
        j["source_line"] = e.source_line;
        if (s.lane >= 0) j["lane"] = trace_.lanes()[static_cast<std::size_t>(s.lane)];
        if (*e.source_file) j["source"] = sources_.at(e.source_file);
        add_tiles(j, e);
        add_region(j, e.region);
        if (Json cost = to_json(e.cost); !cost.empty()) j["cost"] = std::move(cost);
        j["sram_used"] = e.sram_used;
        j["registers_used"] = e.registers_used;
        if (trace_.has_values() && has_contents(e.kind())) j["values"] = contents(s);
        return j;
    }

  private:
    const char* what(const Step& s) const {
        return s.kind() == Kind::launch ? trace_.launches()[static_cast<std::size_t>(s.launch)].kernel.c_str()
                                        : s.event.operation->name;
    }

    Json contents(const Step& s) const {
        const TileData data = trace_.values(s);
        return json_numbers(data.data(), data.size());
    }

    static void add_tiles(Json& j, const Event& e) {
        if (e.out != no_tile) j["out"] = e.out;
        constexpr const char* names[][2] = {{"a", "a_transposed"}, {"b", "b_transposed"}};
        for (std::size_t k = 0; k < e.reads.size(); ++k) {
            if (e.reads[k].tile != no_tile) j[names[k][0]] = e.reads[k].tile;
            if (e.reads[k].transposed) j[names[k][1]] = true;
        }
        if (e.alpha != 1) j["alpha"] = json_number(e.alpha);
        if (e.factor != no_tile) j["factor"] = e.factor;
        if (e.math != Dtype::f32) j["math"] = name_of(e.math);
        if (e.meaning != Meaning::other) j["meaning"] = name_of(e.meaning);
    }

    void add_region(Json& j, const Region& r) const {
        if (r == Region{}) return;
        if (r.tensor != no_tensor) j["tensor"] = trace_.tensors()[r.tensor].name;
        j["slice"] = r.slice;
        j["rows"] = to_json(r.rows);
        j["cols"] = to_json(r.cols);
    }

    const Trace& trace_;
    std::map<std::string_view, Index> sources_;
    std::vector<std::string> files_;
};

Json totals_of(const Trace& trace) {
    Counters sum;
    for (Index n = 0; n < trace.size(); ++n) sum += trace[n].event.cost;
    Json j = {{"events", trace.size()}};
    j.update(to_json(sum));
    return j;
}

}  // namespace

float unwritten(Dtype dtype) {
    float x = 0;
    Storage(dtype, 1, 1, 1).read(0, {&x, 1});
    return x;
}

void write_trace(std::ostream& out, const std::string& about, const Trace& trace, Control* control) {
    const EventWriter events(trace);
    Json head = {{"schema", trace_schema}};
    head.update(Json::parse(about));
    head["values"] = trace.has_values();
    head["sources"] = events.sources();
    std::string first = head.dump();
    first.pop_back();
    out << first;
    write_list(out, "launches", trace.launches());
    write_list(out, "blocks", trace.blocks());
    write_list(out, "loops", trace.loops());
    write_list(out, "turns", trace.turns());
    write_list(out, "tensors", trace.tensors());
    write_list(out, "tiles", trace.tiles());
    out << ",\n\"totals\": " << totals_of(trace).dump() << ",\n\"events\": [";
    for (Index n = 0; n < trace.size(); ++n) {
        check_stop(control);
        out << (n ? ",\n" : "\n") << events.event(n).dump();
    }
    out << "\n]}\n";
}

}  // namespace tilescope
