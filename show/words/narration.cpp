#include "show/words/narration.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string_view>

#include "algorithms/contract/pseudo_code.hpp"
#include "core/text/message.hpp"
#include "core/text/numbers.hpp"
#include "core/text/words.hpp"
#include "show/words/formula.hpp"
#include "show/words/sm_text.hpp"

namespace tilescope::show {
using namespace lab;
using text::message;
namespace {

std::string shape(const RecordedTile& t) { return " (" + tile_shape(t) + ")"; }

const RecordedTile& tile_of(const Run& run, TileId id) { return run.trace().tiles()[id]; }

/// "O of head 1"; for a tile that is stored under another name, "v as O of head 1".
std::string moved_tensor(const Run& run, Index step) {
    const Event& e = run.trace()[step].event;
    const std::string tensor = tensor_of(run, e.region);
    if (e.kind() != Kind::store) return tensor;
    const std::string& from = run.contents().operand(step, 0);
    const bool same = from == run.trace().tensors()[e.region.tensor].name;
    return same ? tensor : message("narration.stored_as", from, tensor);
}

/// What the written tile holds, by name: before the operation where it updates the tile, else after it.
const std::string& written(const Run& run, Index step) {
    const std::string& before = run.contents().before(step);
    const bool updates = run.trace()[step].event.operation->access != Access::write && !before.empty();
    return updates ? before : run.contents().after(step);
}

/// What stands for `%letter` in a sentence: see texts/en/operations.txt.
std::string meant_by(char letter, const Run& run, Index step, bool is_new) {
    const Event& e = run.trace()[step].event;
    const auto operand = [&](std::size_t k) { return run.contents().operand(step, k); };
    const auto shape_of = [&](TileId id) { return shape(tile_of(run, id)); };
    const auto turned = [&](std::size_t k) { return operand(k) + (e.reads[k].transposed ? "ᵀ" : ""); };
    switch (letter) {
        case 'o':
            return written(run, step);
        case 'O':
            return written(run, step) + shape_of(e.out);
        case 'a':
            return operand(0);
        case 'A':
            return operand(0) + shape_of(e.a());
        case 'b':
            return operand(1);
        case 'B':
            return operand(1) + shape_of(e.b());
        case 't':
            return moved_tensor(run, step);
        case 'r':
            return rows_of(run, e.region);
        case 'h':
            return text::bytes(e.cost.hbm());
        case 's':
            return name_of(tile_of(run, e.kind() == Kind::store ? e.a() : e.out).space);
        case 'p':
            return message("narration.factors", factor_text(run, e) + turned(0), turned(1));
        case 'i':
            return message(is_new ? "narration.into" : "narration.adds_to");
        default:
            throw std::logic_error(message("narration.no_such_letter", e.operation->name, std::string(1, letter)));
    }
}

std::string filled(const Run& run, std::string_view sentence, Index step, bool is_new) {
    std::string said;
    for (std::size_t i = 0; i < sentence.size(); ++i)
        said += sentence[i] == '%' ? meant_by(sentence[++i], run, step, is_new) : std::string(1, sentence[i]);
    return said;
}

/// "64 exponentials"; where an operation has exponentials and other FLOPs, only its exponentials.
std::string counted(const Event& e) {
    const Operation& op = *e.operation;
    if (e.kind() == Kind::product)
        return message("narration.flops", text::count(static_cast<double>(e.cost.matmul_flops)));
    return message(op.unit, op.price.exps > 0 ? e.cost.exps : e.cost.other_flops);
}

/// The words of texts/en/operations.txt, with letters for what the event is about.
std::string_view sentence_of(const Run& run, const Event& e) {
    const std::string id = std::string("operation.") + e.operation->name;
    const std::string_view* of_column =
        e.out != no_tile && tile_of(run, e.out).cols == 1 ? text::language().words(id + ".column") : nullptr;
    const std::string_view* words = of_column ? of_column : text::language().words(id);
    return words ? *words : std::string_view();
}

std::string told(const Run& run, Index step, bool is_new) {
    const Event& e = run.trace()[step].event;
    const Operation& op = *e.operation;
    std::string said = filled(run, sentence_of(run, e), step, is_new);
    const std::string& now = run.contents().after(step);
    if (op.kind == Kind::map && now != written(run, step)) said = message("narration.gives", said, now);
    const bool one_operand = e.out != no_tile && e.a() != no_tile && e.b() == no_tile;
    if (one_operand && tile_of(run, e.a()).space != tile_of(run, e.out).space)
        said = message("narration.from_into", said, name_of(tile_of(run, e.a()).space),
                       name_of(tile_of(run, e.out).space));
    return *op.unit ? message("narration.counted", said, counted(e)) : said;
}

/// "makes O (64 × 64) = 0 and m (64 × 1) = −∞ in registers"; only runs with values tell the fill.
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
    const std::string all = text::listed(tiles);
    return together ? message("narration.makes_in", all, name_of(space)) : message("narration.makes_on_chip", all);
}

std::string giving_back(const Run& run, const std::vector<const Step*>& released) {
    std::vector<std::string> names;
    for (const Step* s : released) names.insert(names.begin(), tile_of(run, s->event.out).name);
    return message("narration.gives_back", text::listed(names));
}

/// What an SM does in this tick, clause by clause.
std::vector<std::string> clauses(const Run& run, const SmState& sm) {
    std::vector<const Step*> made, released;
    std::vector<std::string> said;
    const Step* operation = run.operation(sm);
    bool makes_result = false, ends = false;
    for (const Index k : sm.steps) {
        const Step& s = run.trace()[k];
        const std::string block = std::to_string(s.event.block);
        if (s.kind() == Kind::block_begin) said.push_back(message("narration.takes_block", block));
        if (s.kind() == Kind::block_end) said.push_back(message("narration.has_finished_block", block)), ends = true;
        if (s.kind() == Kind::release) released.push_back(&s);
        if (s.kind() != Kind::alloc) continue;
        if (operation && s.event.out == operation->event.out)
            makes_result = true;
        else
            made.push_back(&s);
    }
    if (!made.empty()) said.push_back(making(run, made));
    // Tiles that are given back are not mentioned where the SM does other work as well.
    if (!released.empty() && (ends || (made.empty() && !operation))) said.push_back(giving_back(run, released));
    if (!operation) return said;
    said.push_back(told(run, sm.steps.back(), makes_result));
    return said;
}

std::string before_the_first_launch(const Run& run) {
    std::vector<std::string> inputs;
    for (const RecordedTensor& t : run.trace().tensors())
        if (t.role == Role::input) inputs.push_back(t.name);
    return message("narration.nothing_yet", text::listed(inputs), inputs.size());
}

std::string launching(const Run& run) {
    const Index launch = run.moment().launch;
    const Count blocks = run.counted().launches[static_cast<std::size_t>(launch)].thread_blocks;
    return message("narration.launches", run.moment().kernel, blocks, run.experiment().gpu.sms);
}

std::string idling(const Run& run, const SmState& sm) {
    return message(run.shortened().empty() ? "narration.idle" : "narration.idle_in_what_is_shown",
                   std::to_string(sm.sm), run.moment().kernel);
}

}  // namespace

std::string what_happens(const Run& run, const SmState& sm) {
    if (run.tick() == 0) return before_the_first_launch(run);
    if (run.trace()[run.schedule().steps_after(run.tick() - 1)].kind() == Kind::launch) return launching(run);
    if (!sm.block || sm.steps.empty()) return idling(run, sm);
    const Step* operation = run.operation(sm);
    const std::string number = std::to_string(sm.sm), does = text::listed(clauses(run, sm));
    if (!operation || operation->lane < 0) return message("narration.sm_does", number, does);
    const std::string& lane = run.trace().lanes()[static_cast<std::size_t>(operation->lane)];
    return message("narration.lane_does", number, lane, does);
}

std::string why(const Run& run, const SmState& sm) {
    for (const CodeLine& line : run.algorithm().code)
        if (line.number == sm.line) return why_of(run.algorithm(), line);
    return {};
}

std::string tensor_of(const Run& run, const Region& region) {
    const RecordedTensor& t = run.trace().tensors()[region.tensor];
    if (t.slices == 1) return t.name;
    const bool of_logits = t.meaning == Meaning::bias || t.gradient_of == Meaning::bias;
    const std::string number = std::to_string(region.slice + 1);
    if (of_logits) return message("narration.of_slice", t.name, number);
    return message(t.heads_per_slice > 1 || run.recorded().packed > 1 ? "narration.of_kv_head" : "narration.of_head",
                   t.name, run.algorithm().computes->slice, number);
}

std::string rows_of(const Run& run, const Region& region) {
    const RecordedTensor& t = run.trace().tensors()[region.tensor];
    const Span rows = region.rows, cols = region.cols;
    if (cols.size == t.cols) return message("narration.rows", rows.size, numbers_of(rows));
    return message("narration.rows_and_columns", rows.size, numbers_of(rows), cols.size, numbers_of(cols));
}

std::string numbers_of(Span s) {
    return s.size == 1 ? std::to_string(s.begin) : std::to_string(s.begin) + "–" + std::to_string(s.end() - 1);
}

}  // namespace tilescope::show
