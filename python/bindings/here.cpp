#include "python/bindings/here.hpp"

#include <unordered_map>

namespace tilescope::python {
namespace {

constexpr int most_callers = 64;  // the most frames that are searched

PyCodeObject* code_of_frame(PyFrameObject* frame) {
    PyCodeObject* const code = PyFrame_GetCode(frame);
    Py_DECREF(code);  // the frame still holds a reference
    return code;
}

#if PY_VERSION_HEX >= 0x030B0000
/// An instruction of a code object. The object is kept as long as the program runs.
struct Instruction {
    PyCodeObject* code;
    int at;
    friend bool operator==(const Instruction&, const Instruction&) = default;
};
struct Hash {
    std::size_t operator()(const Instruction& i) const {
        return std::hash<void*>()(i.code) ^ (static_cast<std::size_t>(i.at) * 0x9e3779b97f4a7c15u);
    }
};

/// Python finds the line of an instruction by reading a table from its beginning, so the line is cached.
Here here_of(PyFrameObject* frame) {
    static auto* const known = new std::unordered_map<Instruction, Here, Hash>;
    PyCodeObject* const code = code_of_frame(frame);
    const Instruction key{code, PyFrame_GetLasti(frame)};
    if (const auto found = known->find(key); found != known->end()) return found->second;
    Py_INCREF(code);
    const Here here{static_cast<std::uint32_t>(PyFrame_GetLineNumber(frame)),
                    for_ever(py::str(py::handle(code->co_filename)))};
    return known->emplace(key, here).first->second;
}
#else
Here here_of(PyFrameObject* frame) {
    return {static_cast<std::uint32_t>(PyFrame_GetLineNumber(frame)),
            for_ever(py::str(py::handle(code_of_frame(frame)->co_filename)))};
}
#endif

}  // namespace

Here here_in_python() {
    PyFrameObject* const frame = PyEval_GetFrame();
    return frame ? here_of(frame) : Here{0, ""};
}

std::uint32_t line_within(const char* file, Index first, Index last) {
    PyFrameObject* const innermost = PyEval_GetFrame();
    auto frame = py::reinterpret_borrow<py::object>(reinterpret_cast<PyObject*>(innermost));
    for (int k = 0; frame && k < most_callers; ++k) {
        auto* const f = reinterpret_cast<PyFrameObject*>(frame.ptr());
        const Here here = here_of(f);
        if (here.file == file && here.line >= first && here.line <= last) return here.line;
        frame = py::reinterpret_steal<py::object>(reinterpret_cast<PyObject*>(PyFrame_GetBack(f)));
    }
    return 0;
}

}  // namespace tilescope::python
