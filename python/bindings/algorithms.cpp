// Algorithms that are written in Python, and the list of all algorithms.
#include <pybind11/stl.h>

#include "algorithms/contract/pseudo_code.hpp"
#include "algorithms/contract/registry.hpp"
#include "core/text/message.hpp"
#include "core/text/words.hpp"
#include "python/bindings/program.hpp"
#include "python/bindings/running.hpp"
#include "python/bindings/texts.hpp"

namespace tilescope::python {
using text::message;
namespace {

/// A Python object that algorithms never release, because the interpreter may have ended before them.
struct Kept {
    PyObject* object;
    explicit Kept(py::object o) : object(o.release().ptr()) {}
    py::object get() const { return py::reinterpret_borrow<py::object>(object); }
};

/// A tensor that a Python program declares besides the tensors of its computation.
struct Declared {
    std::string name, role, meaning, sliced, dtype;
    Index rows, cols;
};

TensorDecl declaration(const Problem& p, const Declared& d) {
    if (d.rows < 1 || d.cols < 1)
        throw BadValue("tensors", d.name, message("added.no_elements"), "rows=p.seq_q, cols=1");
    TensorDecl t = declare(p, for_ever(d.name), role_of(d.role), meaning_of(d.meaning), sliced_of(d.sliced), d.rows,
                           d.cols, dtype_of(d.dtype));
    return t;
}

/// Calls f(). A Python exception that was made from a C++ exception becomes the C++ exception again.
template <class F>
auto in_python_code(F&& f) {
    const py::gil_scoped_acquire locked;
    try {
        return f();
    } catch (py::error_already_set& e) {
        throw_native(e);
    }
}

std::vector<TensorDecl> tensors_of(const Computation& computation, const Kept& more, const Problem& p,
                                   const Tiling& tile) {
    std::vector<TensorDecl> all = computation.tensors(p);
    return in_python_code([&] {
        if (!more.get().is_none())
            for (const py::handle each : more.get()(p, tile)) all.push_back(declaration(p, each.cast<Declared>()));
        return std::move(all);
    });
}

using Line = std::tuple<Index, std::string, std::string>;

std::span<const CodeLine> code_lines(const std::vector<Line>& lines) {
    auto* const kept = new std::vector<CodeLine>;  // never freed, like the algorithm
    for (const auto& [number, code, why] : lines) {
        if (number < 1 || number > 0xffff) throw BadValue("code", std::to_string(number), message("added.line_number"));
        kept->push_back({static_cast<std::uint16_t>(number), for_ever(code), for_ever(why)});
    }
    return *kept;
}

Knobs knobs_of(const std::vector<std::string>& names) {
    for (const std::string& name : names)
        if (name != "br" && name != "bc" && name != "splits")
            throw BadValue("knobs", name, message("given.one_of", "br, bc, splits"), "br");
    return std::find(names.begin(), names.end(), "splits") != names.end() ? Knobs(split_knobs) : Knobs(tile_knobs);
}

/// Adds an algorithm whose program is `run`, on lines `first` to `last` of `file` if these lines are its pseudo-code.
void add_of_python(const std::string& name, const std::string& computes, const std::string& file, Index first,
                   Index last, const std::vector<Line>& code, const std::vector<std::string>& features,
                   const std::string& idea, const std::string& paper, const std::vector<std::string>& knobs,
                   py::object run, py::object tensors) {
    if (runs_under_way() > 0) throw RunError(message("added.while_running", name));
    const Computation& computation = computation_of(computes);
    FeatureSet supports;
    for (const std::string& f : features) supports = supports.with(feature_of(f));
    const char* const where = for_ever(file);
    // A notebook may define an algorithm again. A file that a program loads may not replace another file's algorithm.
    if (const Algorithm* known = find_algorithm(name);
        embedded() && known && known->lineage.file && std::string_view(known->lineage.file) != file)
        throw UsageError(message("added.name_taken", text::shown(name), text::shown(known->lineage.file)));
    const Kept program(std::move(run)), more(std::move(tensors));
    Algorithm a{.name = for_ever(name),
                .computes = &computation,
                .supports = supports,
                .idea = for_ever(idea),
                .paper = {.source = for_ever(paper)},
                .code = code_lines(code),
                .tensors = [&computation, more](const Problem& p,
                                                const Tiling& tile) { return tensors_of(computation, more, p, tile); },
                .run =
                    [=](Gpu& gpu, const Tensors& t, const Problem& p, const Tiling& tile) {
                        in_python_code([&] { run_python(program.get(), where, first, last, gpu, t, p, tile); });
                    },
                .knobs = knobs_of(knobs)};
    add_algorithm(std::move(a), where);
}

py::dict about(const Algorithm& a) {
    py::dict d;
    d["name"] = a.name;
    d["computes"] = a.computes->name;
    d["idea"] = idea_of(a);
    d["paper"] = a.paper.source;
    d["file"] = a.lineage.file ? py::cast(a.lineage.file) : py::none();
    py::list code;
    for (const CodeLine& line : a.code) code.append(py::make_tuple(line.number, line.code, why_of(a, line)));
    d["code"] = code;
    return d;
}

}  // namespace

void define_algorithms(py::module_& m) {
    py::class_<Declared>(m, "TensorDecl", "A tensor in HBM that a program declares.")
        .def(py::init([](std::string name, std::string role, std::string meaning, std::string sliced, std::string dtype,
                         Index rows, Index cols) {
                 return Declared{std::move(name),
                                 std::move(role),
                                 std::move(meaning),
                                 std::move(sliced),
                                 std::move(dtype),
                                 rows,
                                 cols};
             }),
             py::arg("name"), py::arg("role"), py::arg("meaning"), py::arg("sliced"), py::arg("dtype"), py::arg("rows"),
             py::arg("cols"))
        .def_readonly("name", &Declared::name);
    m.def("add_algorithm", &add_of_python, py::arg("name"), py::arg("computes"), py::arg("file"), py::arg("first"),
          py::arg("last"), py::arg("code"), py::arg("features"), py::arg("idea"), py::arg("paper"), py::arg("knobs"),
          py::arg("run"), py::arg("tensors"), "Adds an algorithm in Python: see tilescope.algorithm.");
    m.def(
        "algorithms",
        [] {
            py::list all;
            for (const Algorithm& a : algorithms()) all.append(about(a));
            return all;
        },
        "Every algorithm: name, computes, idea, paper, file and code.");
}

}  // namespace tilescope::python
