#include "show/narration.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "core/text/numbers.hpp"
#include "core/text/words.hpp"

namespace tilescope::show {
namespace {

/// How to tell of an operation. %o and %a are the names of the tile it writes and of the first one it reads; %O and %A
/// have their shapes as well.
struct Wording {
    std::string_view what;
    const char* phrase;
    const char* unit = nullptr;  ///< of what is counted, in the singular
    Count Counters::*count = nullptr;
    const char* of_a_column = nullptr;  ///< the phrase where the tile it writes has one column, if another
};

constexpr Wording wordings[] = {
    {"copy", "copies %a into %O"},
    {"row_max", "finds the greatest value of each row of %A for %o", "comparison", &Counters::other_flops},
    {"update_row_max", "raises %o to the greatest value of each row of %A", "comparison", &Counters::other_flops},
    {"row_sum", "adds up each row of %A for %o", "addition", &Counters::other_flops},
    {"update_row_sum", "adds the sum of each row of %A to %o", "addition", &Counters::other_flops},
    {"exp", "takes the exponential of %O", "exponential", &Counters::exps},
    {"exp_minus", "subtracts the row maxima %a from %O and takes the exponential", "exponential", &Counters::exps,
     "subtracts %a from %O and takes the exponential"},
    {"scale_rows", "multiplies each row of %O by its %a", "multiplication", &Counters::other_flops,
     "multiplies %O by %a"},
    {"divide_rows", "divides each row of %O by its %a", "division", &Counters::other_flops, "divides %O by %a"},
    {"add", "adds %a to %O", "addition", &Counters::other_flops},
    {"update_max", "raises %O to %a where that is greater", "comparison", &Counters::other_flops},
    {"add_log", "adds the logarithm of %a to %O", "FLOP", &Counters::other_flops},
    {"mask_above_diagonal", "sets %O to −∞ above the diagonal, where keys come after their queries"},
};

std::string plural(Count n, const std::string& one) { return text::grouped(n) + ' ' + one + (n == 1 ? "" : "s"); }

/// "A", "A and B", "A, B and C".
std::string listed(const std::vector<std::string>& parts) {
    if (parts.size() < 2) return text::join(parts, "");
    return text::join({parts.begin(), parts.end() - 1}, ", ") + " and " + parts.back();
}

std::string range(Span s) {
    return s.size == 1 ? std::to_string(s.begin) : std::to_string(s.begin) + "–" + std::to_string(s.end() - 1);
}

std::string shape(const RecordedTile& t) {
    return " (" + std::to_string(t.rows) + " × " + std::to_string(t.cols) + ")";
}

const RecordedTile& tile_of(const Run& run, TileId id) { return run.trace().tiles()[id]; }

std::string load(const Run& run, const Event& e) {
    return "loads " + tensor_of(run, e.region) + ", " + rows_of(run, e.region) + " (" +
           text::bytes(static_cast<double>(e.cost.hbm_read)) + "), from HBM into " + name_of(tile_of(run, e.out).space);
}

std::string store(const Run& run, const Event& e) {
    const RecordedTile& from = tile_of(run, e.a);
    const bool renamed = from.name != run.trace().tensors()[e.region.tensor].name;
    return "stores " + (renamed ? from.name + " as " : "") + tensor_of(run, e.region) + ", " + rows_of(run, e.region) +
           " (" + text::bytes(static_cast<double>(e.cost.hbm_write)) + "), from " + name_of(from.space) + " into HBM";
}

/// Events do not say which operand is transposed. Shapes do, and where they leave it open it is K.
std::string product_of(const RecordedTile& out, const RecordedTile& a, const RecordedTile& b) {
    const auto fits = [&](Index m, Index k, Index l, Index n) { return m == out.rows && k == l && n == out.cols; };
    const bool plain = fits(a.rows, a.cols, b.rows, b.cols), b_turned = fits(a.rows, a.cols, b.cols, b.rows);
    if (b_turned && (!plain || b.name == "K")) return a.name + " by " + b.name + "ᵀ";
    return a.name + (plain ? " by " : "ᵀ by ") + b.name;
}

std::string matmul(const Run& run, const Event& e, bool is_new) {
    const RecordedTile& out = tile_of(run, e.out);
    const std::string product = product_of(out, tile_of(run, e.a), tile_of(run, e.b));
    return "multiplies " + product + (is_new ? " into " : " and adds the product to ") + out.name + shape(out) + ": " +
           text::count(static_cast<double>(e.cost.matmul_flops)) + " FLOPs";
}

/// The phrase with its tiles filled in.
std::string filled(const Run& run, std::string_view phrase, const Event& e) {
    std::string said;
    for (std::size_t i = 0; i < phrase.size(); ++i) {
        if (phrase[i] != '%') {
            said += phrase[i];
            continue;
        }
        const char c = phrase[++i];
        const RecordedTile& t = tile_of(run, c == 'o' || c == 'O' || e.a == no_tile ? e.out : e.a);
        said += t.name + (c == 'O' || c == 'A' ? shape(t) : "");
    }
    return said;
}

std::string element_wise(const Run& run, const Event& e) {
    const RecordedTile& out = tile_of(run, e.out);
    const auto* w = std::find_if(std::begin(wordings), std::end(wordings),
                                 [&](const Wording& each) { return each.what == e.what; });
    if (w == std::end(wordings))
        return std::string("carries out ") + e.what + " on " + out.name + shape(out) + ": " +
               plural(e.cost.flops(), "FLOP");
    std::string said = filled(run, w->of_a_column && out.cols == 1 ? w->of_a_column : w->phrase, e);
    if (e.a != no_tile && tile_of(run, e.a).space != out.space)
        said += std::string(", from ") + name_of(tile_of(run, e.a).space) + " into " + name_of(out.space);
    return w->count ? said + ": " + plural(e.cost.*w->count, w->unit) : said;
}

/// "makes O (64 × 64) = 0 and m (64 × 1) = −∞ in registers"; the fill is known where there are values.
std::string making(const Run& run, const std::vector<const Step*>& made) {
    std::vector<std::string> tiles;
    const Space space = tile_of(run, made[0]->event.out).space;
    bool together = true;
    for (const Step* s : made) {
        const RecordedTile& t = tile_of(run, s->event.out);
        const TileData fill = run.trace().values(*s);
        const std::string value = fill.empty() ? "" : std::isinf(fill[0]) ? " = −∞" : " = " + text::number(fill[0]);
        tiles.push_back(t.name + shape(t) + value);
        together = together && t.space == space;
    }
    return "makes " + listed(tiles) + (together ? std::string(" in ") + name_of(space) : " on chip");
}

std::string giving_back(const Run& run, const std::vector<const Step*>& released) {
    std::vector<std::string> names;
    for (const Step* s : released) names.insert(names.begin(), tile_of(run, s->event.out).name);
    return "gives back " + listed(names);
}

/// What an SM does in its turn, clause by clause.
std::vector<std::string> clauses(const Run& run, const SmState& sm) {
    std::vector<const Step*> made, released;
    std::vector<std::string> said;
    const Step* operation = run.operation(sm);
    bool makes_result = false, ends = false;
    for (const Index k : sm.steps) {
        const Step& s = run.trace()[k];
        const std::string block = "thread block " + std::to_string(s.event.block);
        if (s.event.op == Op::block_begin) said.push_back("takes " + block);
        if (s.event.op == Op::block_end) said.push_back("has finished " + block), ends = true;
        if (s.event.op == Op::release) released.push_back(&s);
        if (s.event.op != Op::alloc) continue;
        if (operation && s.event.out == operation->event.out)
            makes_result = true;
        else
            made.push_back(&s);
    }
    if (!made.empty()) said.push_back(making(run, made));
    // What is given back in passing goes without saying.
    if (!released.empty() && (ends || (made.empty() && !operation))) said.push_back(giving_back(run, released));
    if (!operation) return said;
    const Event& e = operation->event;
    said.push_back(e.op == Op::load     ? load(run, e)
                   : e.op == Op::store  ? store(run, e)
                   : e.op == Op::matmul ? matmul(run, e, makes_result)
                                        : element_wise(run, e));
    return said;
}

std::string before_the_first_launch(const Run& run) {
    std::vector<std::string> inputs;
    for (const RecordedTensor& t : run.trace().tensors())
        if (t.role == Role::input) inputs.push_back(t.name);
    return "Nothing has run yet: " + listed(inputs) + (inputs.size() == 1 ? " is" : " are") + " in HBM.";
}

std::string launching(const Run& run) {
    const Index launch = run.moment().launch;
    const Count blocks = run.counted().launches[static_cast<std::size_t>(launch)].thread_blocks;
    return "The host launches kernel " + run.moment().kernel + ": " + plural(blocks, "thread block") + " for " +
           plural(run.experiment().gpu.sms, "SM") + ".";
}

std::string idling(const Run& run, const SmState& sm) {
    return "SM " + std::to_string(sm.sm) + " is idle: " + (run.shortened().empty() ? "" : "what is shown of ") +
           "launch " + run.moment().kernel + " has no thread block left for it.";
}

}  // namespace

std::string what_happens(const Run& run, const SmState& sm) {
    if (run.tick() == 0) return before_the_first_launch(run);
    if (run.trace()[run.schedule().steps_after(run.tick() - 1)].event.op == Op::launch) return launching(run);
    if (!sm.block || sm.steps.empty()) return idling(run, sm);
    return "SM " + std::to_string(sm.sm) + ' ' + listed(clauses(run, sm)) + '.';
}

std::string why(const Run& run, const SmState& sm) {
    for (const CodeLine& line : run.algorithm().code)
        if (line.number == sm.line) return line.why;
    return {};
}

std::string tensor_of(const Run& run, const Region& region) {
    const RecordedTensor& t = run.trace().tensors()[region.tensor];
    if (t.slices == 1) return t.name;
    const char* slice = run.algorithm().family == Family::softmax  ? "matrix "
                        : t.slices == run.recorded().batch_heads() ? "head "
                                                                   : "KV head ";
    return t.name + " of " + slice + std::to_string(region.slice + 1);
}

std::string rows_of(const Run& run, const Region& region) {
    const RecordedTensor& t = run.trace().tensors()[region.tensor];
    const auto part = [](const char* one, Span s) { return one + std::string(s.size == 1 ? " " : "s ") + range(s); };
    const std::string rows = part("row", region.rows);
    return region.cols.size == t.cols ? rows : rows + ", " + part("column", region.cols);
}

}  // namespace tilescope::show
