#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstdio>
#include <cstring>
#include <tuple>

#include "core/record/trace_file.hpp"
#include "core/text/message.hpp"
#include "core/text/words.hpp"

namespace tilescope {
using text::message;
namespace {

std::string number(std::integral auto n) { return std::to_string(n); }

/// With enough digits to tell x from every other 32-bit float.
std::string number(float x) {
    char text[32];
    std::snprintf(text, sizeof text, "%.9g", static_cast<double>(x));
    return text;
}

std::string text_of(const Region& r) {
    const auto span = [](Span s) { return '[' + number(s.begin) + ", " + number(s.end()) + ')'; };
    return message("divergence.region", number(r.slice), span(r.rows), span(r.cols));
}

/// Compares bits, so that 0 differs from -0; but all NaNs are the same.
bool same(float a, float b) { return (std::isnan(a) && std::isnan(b)) || std::memcmp(&a, &b, sizeof a) == 0; }

/// The message for a difference in something that has a name in the recording.
std::string changed(const std::string& name, const std::string& was, const std::string& is) {
    return message("divergence.changed", name, is, was);
}

std::string first_difference(const std::string& name, TileData was, TileData is, Index rows, Index cols) {
    if (was.size() != is.size()) return message("divergence.numbers", name, number(is.size()), number(was.size()));
    for (std::size_t k = 0; k < was.size(); ++k) {
        if (same(was[k], is[k])) continue;
        const auto n = static_cast<Index>(k);
        const Index slice = n / (rows * cols);
        const std::string place = name + '[' + (slice > 0 ? number(slice) + ", " : "") + number(n / cols % rows) +
                                  ", " + number(n % cols) + ']';
        return changed(place, number(was[k]), number(is[k]));
    }
    return {};
}

std::string name_of_tile(const Trace& t, TileId id) {
    return id == no_tile ? message("divergence.no_tile") : t.tiles()[id].name;
}

bool same_loop(const RecordedLoop& a, const RecordedLoop& b) {
    return std::tie(a.name, a.promise, a.line) == std::tie(b.name, b.promise, b.line);
}

/// Compares the steps of one number in two recordings.
class Steps {
  public:
    Steps(const Trace& t, const Step& s, const Trace& u, const Step& r) : was_(t), is_(u), a_(s), b_(r) {}

    std::string difference() const {
        const Event &a = a_.event, &b = b_.event;
        if (a.operation != b.operation) return message("divergence.operation", b.operation->name, a.operation->name);
        for (std::string found : {place(), tiles(), arithmetic(), memory()})
            if (!found.empty()) return found;
        const TileId tile = a_.tile();
        if (tile == no_tile) return {};
        const RecordedTile& t = was_.tiles()[tile];
        return first_difference(t.name, was_.values(a_), is_.values(b_), t.rows, t.cols);
    }

  private:
    std::string place() const {
        const Event &a = a_.event, &b = b_.event;
        if (a_.launch != b_.launch) return message("divergence.launch", number(b_.launch), number(a_.launch));
        const auto launch = static_cast<std::size_t>(a_.launch);
        if (a.kind() == Kind::launch && was_.launches()[launch] != is_.launches()[launch])
            return message("divergence.grid");
        if (a.block != b.block) return message("divergence.thread_block", number(b.block), number(a.block));
        if (a.line != b.line) return message("divergence.line", number(b.line), number(a.line));
        if (a_.enters_line != b_.enters_line)
            return message(b_.enters_line ? "divergence.visit" : "divergence.no_visit");
        if (a_.turn != b_.turn || !same_turn(a_.turn)) return message("divergence.turn");
        return {};
    }

    bool same_turn(Index turn) const {
        for (; turn >= 0; turn = was_.turns()[static_cast<std::size_t>(turn)].around) {
            const RecordedTurn &t = was_.turns()[static_cast<std::size_t>(turn)],
                               &u = is_.turns()[static_cast<std::size_t>(turn)];
            if (!(t == u) || !same_loop(was_.loops()[static_cast<std::size_t>(t.loop)],
                                        is_.loops()[static_cast<std::size_t>(u.loop)]))
                return false;
        }
        return true;
    }

    std::string tiles() const {
        const Event &a = a_.event, &b = b_.event;
        const TileId was[] = {a.out, a.a(), a.b(), a.factor}, is[] = {b.out, b.a(), b.b(), b.factor};
        constexpr const char* names[] = {"out", "a", "b", "factor"};
        for (std::size_t k = 0; k < std::size(names); ++k)
            if (was[k] != is[k]) return changed(names[k], name_of_tile(was_, was[k]), name_of_tile(is_, is[k]));
        if (a.reads != b.reads) return message("divergence.transposed");
        const TileId tile = a_.tile();
        if (tile != no_tile && !(was_.tiles()[tile] == is_.tiles()[tile]))
            return message("divergence.tile", was_.tiles()[tile].name);
        return {};
    }

    std::string arithmetic() const {
        const Event &a = a_.event, &b = b_.event;
        if (!same(a.alpha, b.alpha)) return changed("alpha", number(a.alpha), number(b.alpha));
        if (a.math != b.math) return message("divergence.type", name_of(b.math), name_of(a.math));
        if (a.meaning != b.meaning) return message("divergence.meaning", name_of(b.meaning), name_of(a.meaning));
        return {};
    }

    std::string memory() const {
        const Event &a = a_.event, &b = b_.event;
        if (a.moves_data() && was_.tensors()[a.region.tensor].name != is_.tensors()[b.region.tensor].name)
            return message("divergence.tensor", is_.tensors()[b.region.tensor].name,
                           was_.tensors()[a.region.tensor].name);
        if (a.region != b.region) return message("divergence.place", text_of(b.region), text_of(a.region));
        for (const auto& [name, member] : Counters::fields)
            if (a.cost.*member != b.cost.*member) return changed(name, number(a.cost.*member), number(b.cost.*member));
        if (a.sram_used != b.sram_used) return changed("sram_used", number(a.sram_used), number(b.sram_used));
        if (a.registers_used != b.registers_used)
            return changed("registers_used", number(a.registers_used), number(b.registers_used));
        return {};
    }

    const Trace &was_, &is_;
    const Step &a_, &b_;
};

std::string different_tensors(const Trace& was, const Trace& is) {
    if (was.tensors().size() != is.tensors().size()) return message("divergence.tensors");
    for (std::size_t k = 0; k < was.tensors().size(); ++k) {
        const RecordedTensor &a = was.tensors()[k], &b = is.tensors()[k];
        const auto declared = [](const RecordedTensor& t) {
            return std::tie(t.name, t.role, t.dtype, t.slices, t.rows, t.cols, t.meaning, t.heads_per_slice,
                            t.gradient_of);
        };
        if (declared(a) != declared(b)) return message("divergence.other_tensor", a.name);
        if (std::string found = first_difference(a.name, a.initial, b.initial, a.rows, a.cols); !found.empty())
            return message("divergence.before_first", found);
    }
    return {};
}

}  // namespace

std::string divergence(const Trace& was, const Trace& is) {
    if (was.has_values() != is.has_values())
        return message(is.has_values() ? "divergence.contents_there" : "divergence.contents_missing");
    if (std::string found = different_tensors(was, is); !found.empty()) return found;
    for (Index n = 0; n < std::min(was.size(), is.size()); ++n) {
        const Step &a = was[n], &b = is[n];
        if (std::string found = Steps(was, a, is, b).difference(); !found.empty())
            return message("divergence.at_operation", number(n), a.event.operation->name, number(a.event.line), found);
    }
    if (was.size() != is.size()) return message("divergence.steps", number(is.size()), number(was.size()));
    // Tables may also have what no step is about: a loop without iterations, a tile that could not be made.
    const bool same_tables =
        was.tiles() == is.tiles() && was.launches() == is.launches() && was.blocks() == is.blocks() &&
        was.turns() == is.turns() &&
        std::equal(was.loops().begin(), was.loops().end(), is.loops().begin(), is.loops().end(), same_loop);
    return same_tables ? "" : message("divergence.tables");
}

}  // namespace tilescope
