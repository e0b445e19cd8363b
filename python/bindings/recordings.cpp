// Recordings: of a run in this process, and of files that `tilescope trace` writes.
#include <pybind11/stl.h>

#include "core/text/message.hpp"
#include "lab/flags/like.hpp"
#include "lab/flags/mode.hpp"
#include "lab/flags/values.hpp"
#include "lab/report/recording.hpp"
#include "lab/system/atomic_file.hpp"
#include "python/bindings/requests.hpp"
#include "python/bindings/results.hpp"

namespace tilescope::python {
using text::message;
namespace {

using namespace lab;
using Shared = std::shared_ptr<Recording>;

Shared record(const std::string& name, const Words& words, const Arrays& arrays, const std::vector<Index>& blocks,
              bool values) {
    const Named chosen = named(name, options_of(words));
    const Options& o = chosen.options;
    const Algorithm& algorithm = *chosen.algorithm;
    const Request request = request_of(o, algorithm, arrays);
    return natively([&](Control& control) {
        const Experiment e = experiment_of(algorithm, request, &control);
        Gpu gpu(e.gpu, values ? numeric_mode : Mode{false, false, !blocks.empty()}, 1, &control);
        TraceOptions options;
        options.values = values;
        options.blocks = blocks;
        Trace trace(gpu, within_memory(options));
        gpu.listen(trace);
        run_program(gpu, algorithm, e.problem, e.tiling,
                    values ? inputs_for(o, request, algorithm, &control) : Inputs{});
        std::optional<RandomInputs> made;
        if (arrays.empty()) made = RandomInputs{o.seed, to_distribution(o.distribution)};
        return std::make_shared<Recording>(Recording{e, made, std::move(trace), &algorithm});
    });
}

Shared opened(const std::string& path) {
    return natively([&](Control& control) { return std::make_shared<Recording>(read_recording(path, &control)); });
}

void save(const Recording& r, const std::string& path) {
    natively([&](Control& control) {
        AtomicFile file(path);
        write_recording(file.stream(), r.experiment, r.inputs, r.trace, &control);
        file.commit();
    });
}

py::object tile_of(const Trace& t, TileId id) {
    return id == no_tile ? py::none() : py::object(py::str(t.tiles()[id].name));
}

py::object region_of(const Trace& t, const Step& s) {
    const Region& region = s.event.region;
    if (region.tensor == no_tensor) return py::none();
    py::dict d;
    d["tensor"] = t.tensors()[region.tensor].name;
    d["slice"] = region.slice;
    d["rows"] = region.rows, d["cols"] = region.cols;
    return d;
}

void check_step(const Trace& t, Index k) {
    if (k >= 0 && k < t.size()) return;
    throw py::index_error(message("given.steps", std::to_string(t.size())));
}

py::dict step_of(const Recording& r, Index k) {
    const Trace& t = r.trace;
    if (k < 0) k += t.size();
    check_step(t, k);
    const Step& s = t[k];
    const Event& e = s.event;
    py::dict d;
    d["operation"] = e.operation->name;
    d["launch"] = s.launch, d["block"] = e.block;
    d["line"] = e.line, d["source_line"] = e.source_line, d["source_file"] = e.source_file;
    d["tile"] = tile_of(t, s.tile());
    d["reads"] = py::make_tuple(tile_of(t, e.a()), tile_of(t, e.b()));
    d["region"] = region_of(t, s);
    d["sram_used"] = e.sram_used, d["registers_used"] = e.registers_used;
    py::dict cost;
    for (const auto& [key, member] : Counters::fields)
        if (e.cost.*member != 0) cost[key] = e.cost.*member;
    d["cost"] = cost;
    return d;
}

/// The values that step k wrote: the whole tile, or what a store left in HBM; None in a recording without values.
py::object values_of_step(const Recording& r, Index k) {
    const Trace& t = r.trace;
    check_step(t, k);
    const TileData data = t.values(t[k]);
    if (data.empty()) return py::none();
    const RecordedTile& tile = t.tiles()[t[k].tile()];
    py::array_t<float> copy({tile.rows, tile.cols});
    if (copy.size() != static_cast<py::ssize_t>(data.size())) return py::none();
    std::copy(data.begin(), data.end(), copy.mutable_data());
    return copy;
}

py::list named(const auto& all) {
    py::list names;
    for (const auto& each : all) names.append(each.name);
    return names;
}

}  // namespace

void define_recordings(py::module_& m) {
    py::class_<Recording, Shared>(m, "Recording", "Every operation of a run, with the numbers that it wrote.")
        .def("__len__", [](const Recording& r) { return r.trace.size(); })
        .def("__getitem__", &step_of, py::arg("k"), "An operation, as a dict.")
        .def("values", &values_of_step, py::arg("k"), "The numbers that operation k wrote; None where it wrote none.")
        .def_property_readonly("algorithm", [](const Recording& r) { return r.experiment.algorithm->name; })
        .def_property_readonly("problem", [](const Recording& r) { return r.experiment.problem; })
        .def_property_readonly("has_values", [](const Recording& r) { return r.trace.has_values(); })
        .def_property_readonly("tensors", [](const Recording& r) { return named(r.trace.tensors()); })
        .def_property_readonly("tiles", [](const Recording& r) { return named(r.trace.tiles()); })
        .def("save", &save, py::arg("path"), "Writes what `tilescope trace` writes.")
        .def(
            "replay", [](const Recording& r) { return natively([&](Control& c) { return replay(r, &c); }); },
            "Where today's program differs from the recording, in a line; empty where it does not.");
    m.def("record", &record, py::arg("algorithm"), py::arg("words"), py::arg("arrays"), py::arg("blocks"),
          py::arg("values"), "See tilescope.record.");
    m.def("read_recording", &opened, py::arg("path"), "Opens what `tilescope trace` or Recording.save() wrote.");
}

}  // namespace tilescope::python
