#include "show/formula.hpp"

#include <algorithm>

#include "core/text/words.hpp"

namespace tilescope::show {
namespace {

struct Form {
    std::string_view what;
    const char* written;  // o: the result; a: the operand
};

/// The operations of core/machine/ops.hpp.
constexpr Form forms[] = {{"copy", "o = a"},
                          {"row_max", "o = rowmax a"},
                          {"update_row_max", "o = max(o, rowmax a)"},
                          {"row_sum", "o = rowsum a"},
                          {"update_row_sum", "o += rowsum a"},
                          {"exp", "o = exp o"},
                          {"exp_minus", "o = exp(o − a)"},
                          {"scale_rows", "o = a · o"},
                          {"divide_rows", "o = o / a"},
                          {"add", "o += a"},
                          {"update_max", "o = max(o, a)"},
                          {"add_log", "o += log a"},
                          {"mask_above_diagonal", "o = −∞ above the diagonal"}};

/// Words of one letter stand for tiles.
std::string filled_in(const char* form, const std::string& o, const std::string& a) {
    std::string text;
    const auto letter = [](char c) { return c >= 'a' && c <= 'z'; };
    for (const char* c = form; *c; ++c) {
        const bool alone = (c == form || !letter(c[-1])) && !letter(c[1]);
        text += alone && *c == 'o' ? o : alone && *c == 'a' ? a : std::string(1, *c);
    }
    return text;
}

/// Events do not say which operand was transposed; shapes do, and where all is square the keys are.
bool second_transposed(const RecordedTile& out, const RecordedTile& a, const RecordedTile& b) {
    const bool plain = b.rows == a.cols && b.cols == out.cols;
    const bool transposed = b.cols == a.cols && b.rows == out.cols;
    return transposed && (!plain || b.name == "K");
}

/// "make O, l, m": a tick without an operation.
std::string housekeeping(const Run& run, const SmState& sm) {
    std::vector<std::string> made, freed;
    for (const Index k : sm.steps) {
        const Event& e = run.trace()[k].event;
        if (e.op == Op::alloc) made.push_back(run.trace().tiles()[e.out].name);
        if (e.op == Op::release) freed.push_back(run.trace().tiles()[e.out].name);
    }
    if (!made.empty()) return "make " + text::join(made, ", ");
    return freed.empty() ? "" : "free " + text::join(freed, ", ");
}

}  // namespace

std::string formula(const Run& run, const SmState& sm) {
    const Step* step = run.operation(sm);
    if (!step) return housekeeping(run, sm);
    const Event& e = step->event;
    const auto& tiles = run.trace().tiles();
    const auto name = [&](TileId id) { return id == no_tile ? std::string() : tiles[id].name; };
    switch (e.op) {
        case Op::load:
            return "load " + name(e.out) + " ↑";
        case Op::store:
            return "store " + name(e.a) + " ↓";
        case Op::matmul: {
            const bool fresh = std::any_of(sm.steps.begin(), sm.steps.end(), [&](Index k) {
                return run.trace()[k].event.op == Op::alloc && run.trace()[k].event.out == e.out;
            });
            return name(e.out) + (fresh ? " = " : " += ") + name(e.a) + " " + name(e.b) +
                   (second_transposed(tiles[e.out], tiles[e.a], tiles[e.b]) ? "^T" : "");
        }
        default:
            break;
    }
    for (const Form& f : forms)
        if (f.what == e.what) return filled_in(f.written, name(e.out), name(e.a));
    return std::string(e.what) + " " + name(e.out);
}

}  // namespace tilescope::show
