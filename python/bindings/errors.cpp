#include "python/bindings/errors.hpp"

#include <exception>

#include "core/machine/mistakes.hpp"
#include "python/bindings/running.hpp"

namespace tilescope::python {
namespace {

constexpr const char* native = "_native";  // the attribute of a Python exception that keeps the C++ exception

py::object error_of(const char* type, const char* what) {
    return py::module_::import("tilescope._errors").attr(type)(std::string(what));
}

void set_place(const py::object& error, const Place& place) {
    error.attr("launch") = place.launch;
    error.attr("block") = place.block;
    error.attr("line") = place.line;
}

py::object does_not_fit(const OutOfChipMemory& e) {
    py::object error = error_of("DoesNotFit", e.what());
    error.attr("space") = e.space == Space::sram ? "sram" : "registers";
    error.attr("tile") = e.wanted.name;
    error.attr("needed") = e.used + e.wanted.bytes;
    error.attr("capacity") = e.capacity;
    set_place(error, {e.place.launch, e.place.block, e.line});
    return error;
}

py::object bad_value(const BadValue& e) {
    py::object error = error_of("UsageError", e.what());
    error.attr("field") = e.field;
    error.attr("value") = e.value;
    error.attr("allowed") = e.allowed;
    error.attr("fix") = e.fix;
    return error;
}

template <class E>
py::object placed(const char* type, const E& e) {
    py::object error = error_of(type, e.what());
    set_place(error, e.place);
    return error;
}

/// The Python exception for a C++ exception. An exception of any other type is thrown again.
py::object in_python(const std::exception_ptr& thrown) {
    try {
        std::rethrow_exception(thrown);
    } catch (const py::builtin_exception&) {
        throw;
    } catch (const BadValue& e) {
        return bad_value(e);
    } catch (const UsageError& e) {
        return error_of("UsageError", e.what());
    } catch (const OutOfChipMemory& e) {
        return does_not_fit(e);
    } catch (const BrokenPromise& e) {
        return placed("BrokenPromise", e);
    } catch (const Race& e) {
        return placed("Race", e);
    } catch (const Interrupted&) {
        return py::reinterpret_borrow<py::object>(PyExc_KeyboardInterrupt)();
    } catch (const ProgramError& e) {
        return error_of("ProgramError", e.what());
    } catch (const RunError& e) {
        return error_of("RunError", e.what());
    } catch (const std::logic_error& e) {
        return error_of("ProgramError", e.what());
    }
}

/// The C++ exception that this Python exception was made from; nullptr for an exception of Python's own.
std::exception_ptr thrown_as(const py::object& error) {
    if (!error || !py::hasattr(error, native)) return nullptr;
    return *error.attr(native).cast<py::capsule>().get_pointer<std::exception_ptr>();
}

void translate(std::exception_ptr thrown) {
    if (!thrown) return;
    if (runs_under_way() > 0 && thrown_as(last_raised()) == thrown) {  // passes on outwards: its traceback grows
        const py::object& error = last_raised();
        PyErr_Restore(py::type::of(error).inc_ref().ptr(), error.inc_ref().ptr(),
                      PyException_GetTraceback(error.ptr()));
        return;
    }
    const py::object error = in_python(thrown);
    // Kept with the error, which becomes the C++ exception again where it passes through a tile program.
    error.attr(native) = py::capsule(new std::exception_ptr(std::move(thrown)),
                                     [](void* p) { delete static_cast<std::exception_ptr*>(p); });
    if (runs_under_way() == 0 && last_raised()) PyException_SetCause(error.ptr(), last_raised().release().ptr());
    PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error.ptr())), error.ptr());
}

/// The text that a function of tilescope._errors makes of the error. The trace is None where no function was entered.
std::string in_words(const char* function, py::error_already_set& error) {
    const py::object trace = error.trace() ? py::object(error.trace()) : py::none();
    return py::module_::import("tilescope._errors").attr(function)(error.value(), trace).cast<std::string>();
}

}  // namespace

py::object& last_raised() {
    static py::object* const last = new py::object;  // outlives the interpreter, as other statics cannot
    return *last;
}

bool& embedded() {
    static bool is = false;
    return is;
}

void throw_native(py::error_already_set& error) {
    const py::object& value = error.value();
    if (error.trace()) PyException_SetTraceback(value.ptr(), error.trace().ptr());
    const std::exception_ptr thrown = thrown_as(value);
    if (thrown) {
        last_raised() = value;
        std::rethrow_exception(thrown);
    }
    if (const std::string what = in_words("wrong_call", error); !what.empty()) throw ProgramError(what);
    if (embedded()) throw RunError(in_a_line(error));
    throw;
}

std::string in_a_line(py::error_already_set& error) { return in_words("in_a_line", error); }

void define_errors(py::module_&) { py::register_exception_translator(translate); }

}  // namespace tilescope::python
