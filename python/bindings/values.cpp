// Values that a tile program gets and computes with: spans, Tiles of spans, axes, the problem.
#include <pybind11/operators.h>
#include <pybind11/stl.h>

#include "algorithms/contract/choices.hpp"
#include "algorithms/contract/hidden_rows.hpp"
#include "algorithms/contract/kv_heads.hpp"
#include "algorithms/contract/pass_lists.hpp"
#include "algorithms/contract/registry.hpp"
#include "core/text/message.hpp"
#include "python/bindings/bindings.hpp"
#include "python/bindings/errors.hpp"

namespace tilescope::python {
using text::message;
namespace {

Tiles tiles_of(Index n, Index size, const std::string& name) {
    if (n < 0 || size < 1)
        throw BadValue("size", std::to_string(size), message("given.empty_tiles", std::to_string(n)), "1");
    return {n, size, for_ever(name)};
}

Span tile_at(const Tiles& tiles, Index k) {
    const Index n = tiles.count();
    if (k >= 0 && k < n) return tiles[k];
    throw py::index_error(message("given.tiles", std::to_string(n)));
}

constexpr std::pair<const char*, Index Problem::*> sizes[] = {
    {"batch", &Problem::batch}, {"heads", &Problem::heads}, {"kv_heads", &Problem::kv_heads},
    {"seq_q", &Problem::seq_q}, {"seq_k", &Problem::seq_k}, {"dim", &Problem::dim},
    {"dim_v", &Problem::dim_v}};

/// "Problem(batch=1, heads=8, ..., dtype='f16', mask='causal')".
std::string shown(const Problem& p) {
    std::string text = "Problem(";
    for (const auto& [name, member] : sizes) text += std::string(name) + '=' + std::to_string(p.*member) + ", ";
    text += std::string("dtype='") + name_of(p.dtype) + '\'';
    return text + (p.mask.hides() ? std::string(", mask='") + p.mask.name() + '\'' : "") + ')';
}

void define_spans(py::module_& m) {
    py::class_<Span>(m, "Span", "Rows, columns or places of a grid: [begin, begin + size).")
        .def(py::init([](Index begin, Index size) {
                 return Span{begin, size};
             }),
             py::arg("begin"), py::arg("size"))
        .def_readonly("begin", &Span::begin)
        .def_readonly("size", &Span::size)
        .def_property_readonly("end", &Span::end)
        .def(py::self == py::self)
        .def("__hash__", [](Span s) { return py::hash(py::make_tuple(s.begin, s.size)); })
        .def("__repr__",
             [](Span s) { return "Span(" + std::to_string(s.begin) + ", " + std::to_string(s.size) + ')'; });
    py::class_<Tiles>(m, "Tiles", "[0, n) cut into tiles of `size`, of which the last may be ragged.")
        .def(py::init(&tiles_of), py::arg("n"), py::arg("size"), py::arg("name") = "")
        .def("__len__", &Tiles::count)
        .def("__getitem__", &tile_at, py::arg("k"))
        .def_property_readonly("tile_size", &Tiles::tile_size)
        .def_property_readonly("full", &Tiles::full, "How many have tile_size elements.")
        .def_property_readonly("ragged", &Tiles::ragged, "Whether the last one is smaller.")
        .def_property_readonly("extent", &Tiles::extent, "Elements of all of them.")
        .def_property_readonly("name", &Tiles::name)
        .def("upto", &Tiles::upto, py::arg("k"), "Those before position k of the whole range.")
        .def("since", &Tiles::from, py::arg("k"), "Those from position k on.")
        .def("within", &Tiles::within, py::arg("span"), "Those that begin within a span of elements.");
}

void define_axes(py::module_& m) {
    py::class_<Seen>(m, "Seen", "What each tile of a range sees of an inner range.")
        .def("__call__", &Seen::operator(), py::arg("rows"), "The inner tiles that these rows see.");
    py::class_<Axis>(m, "Axis", "An axis of a launch's grid: a thread block for each tile.")
        .def("__len__", [](const Axis& a) { return a.tiles.count(); });
    m.def("uniform", py::overload_cast<Tiles>(&uniform), py::arg("tiles"),
          "An axis that promises that all full tiles cost the same.");
    m.def("graded", py::overload_cast<Tiles, Seen>(&graded), py::arg("tiles"), py::arg("seen"),
          "An axis that promises costs that are affine in how many inner tiles are seen.");
    m.def("parts", py::overload_cast<Tiles>(&parts), py::arg("tiles"),
          "Behind a graded axis: parts of what is seen, each for a thread block of its own.");
    m.def("each", py::overload_cast<Tiles>(&each), py::arg("tiles"), "An axis that promises nothing.");
    m.def("ordered", py::overload_cast<Axis>(&ordered), py::arg("axis"),
          "The same axis; its thread blocks take turns where they share places in HBM.");
}

void define_tiling(py::module_& m) {
    py::class_<Tiling> tiling(m, "Tiling",
                              "The mapping's knobs: rows and columns of a tile, parts of the keys, and which roles "
                              "warps have. 0 and \"\": left "
                              "open, or not a knob of the program.");
    tiling.def_readonly("br", &Tiling::br).def_readonly("bc", &Tiling::bc).def_readonly("splits", &Tiling::splits);
    for (const Knob* k : knobs_of_roles()) {
        if (k->names.empty())
            tiling.def_readonly(k->name, k->value);
        else
            tiling.def_property_readonly(k->name, [k](const Tiling& t) { return k->text(t); });
    }
    tiling.def("__repr__", [](const Tiling& t) {
        std::string words = "Tiling(br=" + std::to_string(t.br) + ", bc=" + std::to_string(t.bc) +
                            ", splits=" + std::to_string(t.splits);
        for (const Knob* k : knobs_of_roles())
            if (t.*k->value > 0)
                words += std::string(", ") + k->name + '=' + (k->names.empty() ? k->text(t) : '\'' + k->text(t) + '\'');
        return words + ')';
    });
}

}  // namespace

void define_values(py::module_& m) {
    define_spans(m);
    define_axes(m);
    define_tiling(m);
    py::class_<Problem> problem(m, "Problem", "The workload: an attention layer, or matrices for a softmax.");
    for (const auto& [name, member] : sizes) problem.def_readonly(name, member);
    problem.def_property_readonly("dtype", [](const Problem& p) { return name_of(p.dtype); })
        .def_property_readonly("causal", [](const Problem& p) { return p.mask.is_causal(); })
        .def_property_readonly("mask", [](const Problem& p) { return p.mask.name(); })
        .def_property_readonly("batch_heads", &Problem::batch_heads, "Heads of all batch entries.")
        .def_property_readonly("kv_slices", &Problem::kv_slices, "Heads of K and V of all batch entries.")
        .def_property_readonly("passes", [](const Problem& p) { return name_of(p.passes); })
        .def_property_readonly("causal_corner", [](const Problem& p) { return name_of(p.corner); })
        .def_property_readonly("hidden_rows", [](const Problem& p) { return name_of(p.mask.hidden_rows()); })
        .def_property_readonly("diagonal", &Problem::diagonal,
                               "Where the first query stands among the keys: seq_k - queries, or 0 from the top left.")
        .def_property_readonly("logit_scale", &Problem::logit_scale, "The factor on the logits.")
        .def("head_axis", &Problem::head_axis, "An axis: a thread block for each head of every batch entry.")
        .def("row_axis", &Problem::row_axis, py::arg("rows"), py::arg("keys"),
             "An axis: one for each tile of queries, which costs as many key tiles as it sees.")
        .def(
            "kv_axis", [](const Problem& p) { return kv_axis(p); }, "The same for heads of K and V.")
        .def(
            "key_axis", [](const Problem& p, Tiles keys, Tiles rows) { return key_axis(p, keys, rows); },
            py::arg("keys"), py::arg("rows"), "The same for tiles of keys.")
        .def(
            "heads_of", [](const Problem& p, Span kv_head) { return heads_of(p, kv_head); }, py::arg("kv_head"),
            "The query heads that share a head of K and V, each a tile of one.")
        .def("visible_keys", &Problem::visible_keys, py::arg("keys"), py::arg("rows"),
             "The key tiles in which one of these rows sees a key.")
        .def("seeing_rows", &Problem::seeing_rows, py::arg("rows"), py::arg("keys"),
             "The tiles of queries in which one sees one of these keys.")
        .def("visible", &Problem::visible, py::arg("keys"), "The same for every tile of a range: see graded().")
        .def("seeing", &Problem::seeing, py::arg("rows"))
        .def(py::self == py::self)
        .def("__repr__", &shown);
    problem.attr("__hash__") = py::none();
}

}  // namespace tilescope::python
