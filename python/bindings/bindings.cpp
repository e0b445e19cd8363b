#include "python/bindings/bindings.hpp"

#include <pybind11/stl.h>

#include <map>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#include "core/text/message.hpp"
#include "core/text/version.hpp"
#include "lab/flags/build_info.hpp"

namespace tilescope::python {

const char* for_ever(const std::string& text) {
    static auto* const texts = new std::unordered_set<std::string>;
    return texts->insert(text).first->c_str();
}

namespace {

/// The message, for Python's own sources. Whole numbers are numbers of things; everything else is as str() has it.
std::string said(const std::string& id, const py::args& about) {
    std::vector<std::string> texts;
    texts.reserve(about.size());
    std::vector<text::Argument> all;
    for (const py::handle& a : about)
        all.push_back(py::isinstance<py::int_>(a) ? text::Argument(a.cast<std::int64_t>())
                                                  : text::Argument(texts.emplace_back(py::str(a).cast<std::string>())));
    return text::message(id, std::span<const text::Argument>(all));
}

}  // namespace

void define(py::module_& m) {
    m.doc() = "TileScope's library in this process; use it by `import tilescope`.";
    m.def("version", &text::version);
    m.def("message", &said, py::arg("id"), "The words of texts/, with what they are about.");
    m.def("build_info", [] {
        const lab::BuildInfo b = lab::build_info();
        return std::map<std::string, std::string>{{"commit", b.commit}, {"compiler", b.compiler}, {"cuda", b.cuda}};
    });
    define_errors(m);
    define_machines(m);
    define_values(m);
    define_program(m);
    define_operations(m);
    define_algorithms(m);
    define_runs(m);
    define_studies(m);
    define_recordings(m);
}

}  // namespace tilescope::python
