// tilescope-python.so: a Python interpreter that the programs load to run a file of Python. Its bindings are those of
// the module, but they use the library of the program that has loaded it.
#include <dlfcn.h>

#include <cstdlib>
#include <exception>
#include <filesystem>

#include "core/text/message.hpp"
#include "python/bindings/errors.hpp"

namespace tilescope::python {
using text::message;
namespace {

namespace fs = std::filesystem;

/// The folder of the Python package: python/ beside this object, as built and installed, or the one around it, as in a
/// wheel.
fs::path package_folder() {
    Dl_info info{};
    dladdr(reinterpret_cast<const void*>(&package_folder), &info);
    const fs::path here = fs::weakly_canonical(info.dli_fname).parent_path();
    return fs::exists(here / "python" / "tilescope") ? here / "python" : here.parent_path().parent_path();
}

/// The Python whose packages are found: that of the virtual environment if it has this version, else that of the build.
std::string python_program() {
    const std::string version = std::to_string(PY_MAJOR_VERSION) + '.' + std::to_string(PY_MINOR_VERSION);
    if (const char* environment = std::getenv("VIRTUAL_ENV"))
        if (fs::exists(fs::path(environment) / "lib" / ("python" + version)))
            return std::string(environment) + "/bin/python3";
    return TILESCOPE_PYTHON_PROGRAM;
}

/// Starts Python, which leaves signals and the command line to the program.
void start() {
    PyConfig config;
    PyConfig_InitPythonConfig(&config);
    config.install_signal_handlers = 0;
    config.parse_argv = 0;
    config.buffered_stdio = 0;
    config.write_bytecode = 0;
    PyConfig_SetBytesString(&config, &config.program_name, python_program().c_str());
    const PyStatus status = Py_InitializeFromConfig(&config);
    PyConfig_Clear(&config);
    if (PyStatus_Exception(status)) throw RunError(message("interpreter.does_not_start", status.err_msg));
    static PyModuleDef definition;
    auto core = py::module_::create_extension_module("tilescope._core", nullptr, &definition);
    define(core);
    const py::module_ sys = py::module_::import("sys");
    sys.attr("modules")["tilescope._core"] = core;
    sys.attr("path").attr("insert")(0, package_folder().string());
    PyEval_SaveThread();  // releases the lock (GIL), which every user of Python takes
}

/// "my_kernel.py:12: NameError: ..." as "line 12: NameError: ...", for a caller that names the file.
std::string without_file(const std::string& what, const std::string& file) {
    return what.starts_with(file + ':') ? message("interpreter.at_line", what.substr(file.size() + 1)) : what;
}

void load(const char* path, const char* file) {
    static const bool started = [] { return start(), true; }();
    embedded() = started;
    const py::gil_scoped_acquire locked;
    const py::object run = [] {
        try {
            return py::object(py::module_::import("tilescope._load").attr("load"));
        } catch (py::error_already_set& e) {  // NumPy is missing, for instance: nothing else would report it
            throw RunError(py::str(e.value()));
        }
    }();
    try {
        run(path, file);
    } catch (py::error_already_set& e) {
        throw RunError(without_file(in_a_line(e), file));
    }
}

}  // namespace
}  // namespace tilescope::python

/// Runs the file at `path`, which adds its algorithms; messages call it `file`. Returns nullptr, or what is wrong: one
/// line that is valid until the next call.
extern "C" __attribute__((visibility("default"))) const char* tilescope_load_python(const char* path,
                                                                                    const char* file) {
    static std::string wrong;
    try {
        tilescope::python::load(path, file);
        return nullptr;
    } catch (const std::exception& e) {
        wrong = e.what();
        return wrong.c_str();
    }
}
