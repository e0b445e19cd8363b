// An operation as data: its price and what it does, written once, in the file that carries it out.
#pragma once

#include <span>
#include <string_view>

#include "core/machine/effect.hpp"
#include "core/machine/units.hpp"

namespace tilescope {

/// launch, block_begin and block_end are marks in a recording, not operations of a program.
enum class Kind : std::uint8_t {
    launch,
    block_begin,
    block_end,
    alloc,    ///< a new tile, filled with a constant
    release,  ///< a tile leaves the chip
    load,     ///< HBM -> a tile
    store,    ///< a tile -> HBM, in place of what is there or added to it
    product,  ///< out += alpha a b
    map,      ///< element by element
    reduce,   ///< along rows: a column from a tile
};
const char* name_of(Kind kind);
/// Whether operations of this kind move or compute something.
constexpr bool works(Kind kind) { return kind >= Kind::load; }

/// How an operation treats the tile it writes: `update` reads it as well; `in_passing` rides on the operation that
/// produced the tile (a predicate on its result) and moves nothing of its own.
enum class Access : std::uint8_t { write, update, in_passing };

/// The cost of one element, of the tile that is written or of the tile that is read. Matrix products have 2mnk FLOPs.
struct Price {
    enum class Per : std::uint8_t { written, read, read_after_first };  ///< all but the first of each row
    Index exps = 0, flops = 0;                                          ///< exponentials; every other FLOP
    Per per = Per::written;
    Index integers =
        0;  ///< integer operations at half rate, of an element that is written: no FLOPs, but they take time
};

/// What the operand `a` is to the tile that is written.
enum class Operates : std::uint8_t {
    by_element,            ///< the same shape
    by_row,                ///< one number for each row
    by_column,             ///< `a` has many rows, the written tile has one
    a_column,              ///< only one column of it is read
    by_element_or_column,  ///< the same shape, or one number for each column
    by_columns,            ///< one row, with a number for one column or for several
    transposed,            ///< as many columns as the written tile has rows, and the other way round
};

/// Static objects: events point at them, and nobody compares names. texts/ has the sentence that describes an
/// operation. `unit`: the id of the message that names what `price` counts; empty where nothing is counted.
struct Operation {
    const char* name;
    Kind kind;
    Access access = Access::write;
    Price price = {};
    Operates operates = Operates::by_element;
    Effect effect = Effect::none;
    const char* unit = "";
};

/// Every operation of a tile program.
std::span<const Operation* const> operations();
/// The operation of this name; nullptr: there is none.
const Operation* find_operation(std::string_view name);

}  // namespace tilescope
