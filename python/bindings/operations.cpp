// A thread block's operations: moves of tiles, and arithmetic on tiles.
#include <pybind11/stl.h>

#include "algorithms/contract/scores.hpp"
#include "core/machine/gradient_ops.hpp"
#include "core/machine/ops.hpp"
#include "core/text/message.hpp"
#include "python/bindings/program.hpp"
#include "python/bindings/texts.hpp"

namespace tilescope::python {
using text::message;
namespace {

using Made = std::unique_ptr<OnChip>;
constexpr Index most_elements = Index{1} << 31;  // of a tile; no chip holds more

Made load(OnSm& b, const InHbm& from, Span rows, std::optional<Span> cols, const std::string& to) {
    return b.verb([&](Block& block, Here here) {
        const Hbm& tensor = b.hbm(from);
        const Span all = cols.value_or(Span{0, tensor.cols()});
        return std::make_unique<OnChip>(b, block.load(tensor, rows, all, space_of(to), here));
    });
}

void reload(OnSm& b, OnChip& to, const InHbm& from, Span rows, std::optional<Span> cols) {
    b.verb([&](Block& block, Here here) {
        const Hbm& tensor = b.hbm(from);
        block.reload(to.of(b), tensor, rows, cols.value_or(Span{0, tensor.cols()}), here);
    });
}

void store(OnSm& b, OnChip& from, const InHbm& to, Span rows, std::optional<Span> cols) {
    b.verb([&](Block& block, Here here) {
        const Hbm& tensor = b.hbm(to);
        block.store(from.of(b), tensor, rows, cols.value_or(Span{0, tensor.cols()}), here);
    });
}

void reduce_add_rows(OnSm& b, OnChip& from, const InHbm& to, Span rows) {
    b.verb([&](Block& block, Here here) { block.reduce_add(from.of(b), b.hbm(to), rows, here); });
}

Made alloc(OnSm& b, const std::string& name, Index rows, Index cols, float fill, const std::string& space,
           const std::string& dtype) {
    return b.verb([&](Block& block, Here here) {
        if (rows < 0 || cols < 0 || rows > most_elements || cols > most_elements ||
            (cols > 0 && rows > most_elements / cols))
            throw std::logic_error(message("handle.no_such_tile", std::to_string(rows), std::to_string(cols)));
        return std::make_unique<OnChip>(
            b, block.alloc(for_ever(name), rows, cols, space_of(space), dtype_of(dtype), fill, here));
    });
}

void matmul(OnSm& b, OnChip& acc, OnChip& left, OnChip& right, const std::string& trans, float alpha) {
    b.verb([&](Block& block, Here here) {
        block.matmul(acc.of(b), left.of(b), right.of(b), trans_of(trans), alpha, here);
    });
}

/// A loop that waits for its body: `@b.uniform(keys)` above a function.
struct Loop {
    std::shared_ptr<OnSm> block;
    Tiles tiles;
    std::optional<Seen> seen;
    Promise promise;

    void operator()(const py::function& body) {
        OnSm& b = *block;
        const auto turn = [&](Span tile) {
            b.turn();
            body(tile);
        };
        b.verb([&](Block& on, Here here) {
            if (promise == Promise::uniform) on.uniform(tiles, turn, here);
            if (promise == Promise::graded) on.graded(tiles, *seen, turn, here);
            if (promise == Promise::none) on.each(tiles, turn, here);
        });
        b.turn();
    }
};

py::object begin(Loop loop, const py::object& body) {
    if (body.is_none()) return py::cast(std::move(loop));
    loop(body.cast<py::function>());
    return py::none();
}

using Verbs = py::class_<OnSm, std::shared_ptr<OnSm>>;

void define_loops(py::module_& m, Verbs& verbs) {
    py::class_<Loop>(m, "Loop", "A loop over tiles; calling it with a function of a span runs it.")
        .def("__call__", &Loop::operator(), py::arg("body"));
    verbs
        .def(
            "uniform",
            [](std::shared_ptr<OnSm> b, const Tiles& tiles, const py::object& body) {
                return begin({std::move(b), tiles, std::nullopt, Promise::uniform}, body);
            },
            py::arg("tiles"), py::arg("body") = py::none(),
            "body(span) for every tile, promising that all full tiles cost the same. Without a body: a decorator.")
        .def(
            "graded",
            [](std::shared_ptr<OnSm> b, const Tiles& tiles, const Seen& seen, const py::object& body) {
                return begin({std::move(b), tiles, seen, Promise::graded}, body);
            },
            py::arg("tiles"), py::arg("seen"), py::arg("body") = py::none(),
            "The same, promising a cost that is affine in how many tiles are seen.")
        .def(
            "each",
            [](std::shared_ptr<OnSm> b, const Tiles& tiles, const py::object& body) {
                return begin({std::move(b), tiles, std::nullopt, Promise::none}, body);
            },
            py::arg("tiles"), py::arg("body") = py::none(), "The same, promising nothing.");
}

void define_moves(Verbs& verbs) {
    verbs.def_property_readonly("index", &OnSm::index, "The thread block's number in the grid.")
        .def("at", &OnSm::at, py::arg("line"), "The pseudo-code line that what follows belongs to.")
        .def("load", &load, py::arg("tensor"), py::arg("rows"), py::arg("cols") = py::none(), py::arg("to") = "sram",
             "HBM -> a new tile. In SRAM it keeps the tensor's type; in registers it is f32.")
        .def("reload", &reload, py::arg("tile"), py::arg("tensor"), py::arg("rows"), py::arg("cols") = py::none(),
             "HBM -> a tile that exists already.")
        .def("store", &store, py::arg("tile"), py::arg("tensor"), py::arg("rows"), py::arg("cols") = py::none(),
             "A tile -> HBM, rounded to the tensor's type.")
        .def("reduce_add", &reduce_add_rows, py::arg("tile"), py::arg("tensor"), py::arg("rows"),
             "Adds a tile to an f32 tensor in HBM, where the L2 adds.")
        .def("alloc", &alloc, py::arg("name"), py::arg("rows"), py::arg("cols"), py::arg("fill") = 0.0F,
             py::arg("space") = "registers", py::arg("dtype") = "f32", "A new tile, filled.")
        .def("matmul", &matmul, py::arg("acc"), py::arg("a"), py::arg("b"), py::arg("trans") = "none",
             py::arg("alpha") = 1.0F, "acc += alpha a b, with a or b transposed; 2mnk FLOPs.");
}

/// Define an operation on one tile, or on a tile that reads another tile.
void define(Verbs& verbs, const char* name, const char* doc, void (*f)(Block&, Tile&, Here)) {
    verbs.def(
        name, [f](OnSm& b, OnChip& x) { b.verb([&](Block& block, Here here) { f(block, x.of(b), here); }); },
        py::arg("x"), doc);
}
void define(Verbs& verbs, const char* name, const char* doc, void (*f)(Block&, Tile&, const Tile&, Here),
            const char* out, const char* in) {
    verbs.def(
        name,
        [f](OnSm& b, OnChip& x, OnChip& y) {
            b.verb([&](Block& block, Here here) { f(block, x.of(b), y.of(b), here); });
        },
        py::arg(out), py::arg(in), doc);
}

void define_arithmetic(Verbs& v) {
    define(v, "copy", "out = x. Free: a register move.", &copy, "out", "x");
    define(v, "row_max", "m_r = max over the columns of s.", &row_max, "m", "s");
    define(v, "update_row_max", "m_r = max(m_r, max over the columns of s).", &update_row_max, "m", "s");
    define(v, "row_sum", "l_r = sum over the columns of s.", &row_sum, "l", "s");
    define(v, "update_row_sum", "l_r += sum over the columns of s.", &update_row_sum, "l", "s");
    define(v, "exp", "x = exp(x).", &exp);
    define(v, "exp_minus", "x_rc = exp(x_rc - m_r); 0 where m is -inf.", &exp_minus, "x", "m");
    define(v, "scale_rows", "x_rc *= f_r.", &scale_rows, "x", "f");
    define(v, "divide_rows", "x_rc /= l_r; rows with l_r = 0 stay as they are.", &divide_rows, "x", "l");
    define(v, "add", "x += y.", &add, "x", "y");
    define(v, "update_max", "x = max(x, y).", &update_max, "x", "y");
    define(v, "add_log", "m += log l.", &add_log, "m", "l");
    define(v, "subtract_rows", "x_rc -= d_r.", &subtract_rows, "x", "d");
    define(v, "multiply", "x *= y, element by element.", &multiply, "x", "y");
    define(v, "update_column_sum", "x_c += sum over the rows of y, where x is a single row.", &update_column_sum, "x",
           "y");
    v.def(
        "take_column",
        [](OnSm& b, OnChip& out, OnChip& x, Index column) {
            b.verb([&](Block& block, Here here) { take_column(block, out.of(b), x.of(b), column, here); });
        },
        py::arg("out"), py::arg("x"), py::arg("column"), "out_r = x_rc, a column of its own.");
}

/// Defines the operations on a tile of scores, such as masks, which do only what the problem asks for.
void define_scores(Verbs& v) {
    v.def(
        "apply_mask",
        [](OnSm& b, OnChip& s, const Problem& p, Span i, Span j) {
            b.verb([&](Block& block, Here here) { apply_mask(block, s.of(b), p, i, j, here); });
        },
        py::arg("s"), py::arg("p"), py::arg("i"), py::arg("j"),
        "Sets the logits of tile (i, j) that the mask hides to -inf; nothing where it hides none.");
    using OfScores = void (*)(Block&, Tile&, const Problem&, const Tensors&, Span, Span, Span, Here);
    const auto define_of_scores = [&](const char* name, OfScores f, const char* doc) {
        v.def(
            name,
            [f](OnSm& b, OnChip& s, const Problem& p, const ByName& t, Span head, Span i, Span j) {
                b.verb([&](Block& block, Here here) { f(block, s.of(b), p, t.of(b.run()), head, i, j, here); });
            },
            py::arg("s"), py::arg("p"), py::arg("t"), py::arg("head"), py::arg("i"), py::arg("j"), doc);
    };
    define_of_scores("finish_scores", &finish_scores,
                     "Soft-cap, biases, ALiBi and mask on the logits of tile (i, j): what the problem asks for.");
    define_of_scores("drop_scores", &drop_scores,
                     "Dropout on tile (i, j) of P, after its row sums and before P V; nothing without dropout.");
}

}  // namespace

void define_operations(py::module_& m) {
    Verbs verbs(m, "Block", "A thread block on an SM: the only door between HBM, SRAM, registers and arithmetic.");
    define_moves(verbs);
    define_arithmetic(verbs);
    define_scores(verbs);
    define_loops(m, verbs);
}

}  // namespace tilescope::python
