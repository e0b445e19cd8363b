#include "core/machine/apply.hpp"

#include <stdexcept>

#include "core/machine/counters.hpp"
#include "core/machine/flow.hpp"
#include "core/machine/worker.hpp"
#include "core/text/message.hpp"

namespace tilescope {
namespace {

Counters cost_of(const Operation& operation, const TileInfo& out, const TileInfo* a) {
    const auto size = [](const TileInfo& t) { return t.rows * t.cols; };
    const Price& p = operation.price;
    const Count n = p.per == Price::Per::written ? size(out)
                    : p.per == Price::Per::read  ? size(*a)
                                                 : size(*a) - a->rows;
    Counters cost;
    cost.exps = n * p.exps;
    cost.other_flops = n * p.flops;
    if (a) {
        TileInfo read = *a;
        if (operation.operates == Operates::a_column) read.cols = 1;
        charge_read(cost, read);
    }
    if (operation.access == Access::update) charge_read(cost, out);
    if (operation.access != Access::in_passing) charge_write(cost, out);
    return cost;
}

/// Reductions and take_column write one column, with the rows of `a`. By row, `a` is one column with the rows of `out`.
/// By column, `out` is one row with the columns of `a`; by columns, `a` is one row.
void check_shapes(const Operation& operation, const TileInfo& out, const TileInfo& a) {
    if (operation.operates == Operates::transposed) {
        if (out.rows == a.cols && out.cols == a.rows) return;
        throw std::logic_error(text::message("block.shapes_do_not_match", operation.name));
    }
    const bool to_column = operation.kind == Kind::reduce || operation.operates == Operates::a_column;
    const bool by_columns = operation.operates == Operates::by_columns;
    const bool cols = to_column                                ? out.cols == 1
                      : operation.operates == Operates::by_row ? a.cols == 1
                                                               : out.cols == a.cols || by_columns;
    const bool row = ((operation.operates == Operates::by_element_or_column || by_columns) && a.rows == 1) ||
                     (operation.operates == Operates::by_column && out.rows == 1);
    if ((out.rows != a.rows && !row) || !cols)
        throw std::logic_error(text::message("block.shapes_do_not_match", operation.name));
}

}  // namespace

Elements Apply::elements(const Block& b, const Tile& t) { return {b.w_.chip.data(t.slot_), t.rows(), t.cols()}; }
ConstElements Apply::const_elements(const Block& b, const Tile& t) {
    return {b.w_.chip.data(t.slot_), t.rows(), t.cols()};
}

void Apply::carry_out(Block& b, const Operation& operation, Tile& out, const Tile* a, Here here, const Body& f) {
    b.w_.here = here;
    ChipMemory& chip = b.w_.chip;
    const TileInfo& written = chip.info(out.slot_);
    const TileInfo* read = a ? &chip.info(a->slot_) : nullptr;
    if (read) check_shapes(operation, written, *read);
    const Counters cost = cost_of(operation, written, read);
    if (chip.has_data()) {
        f(elements(b, out), a ? const_elements(b, *a) : ConstElements{});
        b.round_result(out);
    }
    b.w_.charge(cost, b.weight_);
    if (!b.w_.heard()) return;
    Origin& origin = chip.origin(out.slot_);
    flow(operation, origin, a ? &chip.origin(a->slot_) : nullptr);
    b.report({.operation = &operation,
              .out = chip.id(out.slot_),
              .reads = {Operand{a ? chip.id(a->slot_) : no_tile}},
              .region = origin.region,
              .cost = cost},
             out, b.contents(out), here);
}

}  // namespace tilescope
