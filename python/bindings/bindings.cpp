#include "python/bindings/bindings.hpp"

#include <string>
#include <unordered_set>

namespace tilescope::python {

const char* for_ever(const std::string& text) {
    static auto* const texts = new std::unordered_set<std::string>;
    return texts->insert(text).first->c_str();
}

void define(py::module_& m) {
    m.doc() = "TileScope's library in this process; use it by `import tilescope`.";
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
