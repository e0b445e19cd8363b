// Hardware counters of any kernel beside the model, level by level.
#include <pybind11/stl.h>

#include "core/text/message.hpp"
#include "device/levels.hpp"
#include "lab/flags/like.hpp"
#include "lab/model/timing.hpp"
#include "python/bindings/requests.hpp"
#include "python/bindings/results.hpp"

namespace tilescope::python {
namespace {

using namespace lab;

py::list reconcile(const std::string& name, const std::string& path, const Words& words, const std::string& only,
                   Index runs) {
    const Named chosen = named(name, options_of(words));
    const Options& options = chosen.options;
    const Algorithm& algorithm = *chosen.algorithm;
    const Request request = resolve(options, algorithm);
    if (runs < 1) throw BadValue("runs", std::to_string(runs), text::message("given.at_least_1"), "1");
    const auto launches = device::of_file(path, [&] { return device::read_launches(path, only); });
    const auto levels = natively([&](Control& control) {
        const Report report = count_and_time(experiment_of(algorithm, request, &control), &control);
        return device::of_file(path, [&] { return device::levels_of(report, launches, runs); });
    });
    py::list all;
    for (const device::Level& level : levels.there) all.append(in_python(device::to_json(level)));
    return all;
}

}  // namespace

void define_reconcile(py::module_& m) {
    m.def("reconcile", &reconcile, py::arg("algorithm"), py::arg("path"), py::arg("words"), py::arg("only"),
          py::arg("runs"), "See tilescope.reconcile.");
}

}  // namespace tilescope::python
