// One run, and its results.
#include <pybind11/stl.h>

#include "core/machine/mistakes.hpp"
#include "core/record/profile.hpp"
#include "core/text/message.hpp"
#include "lab/flags/like.hpp"
#include "lab/flags/mode.hpp"
#include "lab/flags/other_answers.hpp"
#include "lab/model/mapping.hpp"
#include "lab/model/timing.hpp"
#include "lab/model/with_forward.hpp"
#include "lab/run/judgement.hpp"
#include "lab/run/reference.hpp"
#include "python/bindings/requests.hpp"
#include "python/bindings/results.hpp"

namespace tilescope::python {
using text::message;
namespace {

using namespace lab;

/// Calls f(experiment) without Python's lock. The error for tiles that do not fit says what to do.
template <class F>
auto carried_out(const std::string& name, const Words& words, const Arrays& arrays, F&& f) {
    const Named chosen = named(name, options_of(words));
    const Options& options = chosen.options;
    const Algorithm& algorithm = *chosen.algorithm;
    const Request request = request_of(options, algorithm, arrays);
    return natively([&](Control& control) {
        const Experiment e = experiment_of(algorithm, request, &control);
        try {
            return f(options, request, e, control);
        } catch (OutOfChipMemory& error) {
            throw DoesNotFit(error, lab::explain(error, algorithm, e.problem, e.tiling, e.gpu, request.wish.tiling));
        }
    });
}

void compare(Report& report, const Options& o, const Request& request, const Inputs& inputs, Control& control) {
    report.errors = compare_with_reference(*report.experiment.algorithm->computes, request.problem, inputs,
                                           {report.outputs}, static_cast<int>(o.threads), &control)[0];
}

/// The report, why it has numbers or only counts, and notes on numbers of the arrays that became infinite.
std::tuple<Report, std::string, std::vector<std::string>> run(const std::string& name, const Words& words,
                                                              const Arrays& arrays, bool reference, bool forward) {
    return carried_out(name, words, arrays,
                       [&](const Options& o, const Request& request, const Experiment& e, Control& control) {
                           Report report = count_and_time(e, &control);
                           const ModeChoice mode = choose_mode(o, request, {report});
                           if (mode.numeric) {
                               const Inputs inputs = inputs_for(o, request, *e.algorithm, &control);
                               report = with_outputs(report, inputs, static_cast<int>(o.threads), &control);
                               if (reference) compare(report, o, request, inputs, control);
                           }
                           if (forward) report = with_forward(report, request.wish, &control);
                           const std::vector<std::string> notes = notes_on(request, *e.algorithm->computes);
                           report.notes.insert(report.notes.end(), notes.begin(), notes.end());
                           return std::tuple(std::move(report), mode.why, request.notes);
                       });
}

Report count_only(const std::string& name, const Words& words) {
    return carried_out(name, words, {}, [](const Options&, const Request&, const Experiment& e, Control& control) {
        return lab::count(e, &control);
    });
}

/// Counts every thread block and tile one by one, without numbers, and compares with the folded count, which has to be
/// the same.
Json verify(const std::string& name, const Words& words) {
    return carried_out(name, words, {}, [](const Options& o, const Request&, const Experiment& e, Control& control) {
        Gpu gpu(e.gpu, exact_mode, static_cast<int>(o.threads), &control);
        run_program(gpu, *e.algorithm, e.problem, e.tiling, {});
        const Counters folded = lab::count(e, &control).counters;
        for (const auto& [key, member] : Counters::fields)
            if (gpu.total().*member != folded.*member)
                throw BrokenPromise(message("result.broken_promise", e.algorithm->name, key,
                                            std::to_string(gpu.total().*member), std::to_string(folded.*member)));
        return to_json(folded);
    });
}

Json explain(const std::string& name, const Words& words) {
    return carried_out(name, words, {}, [](const Options&, const Request&, const Experiment& e, Control& control) {
        Profile profile;
        Listener* const listeners[] = {&profile};
        lab::count(e, &control, listeners);
        return to_json(e, profile, 0);
    });
}

py::dict counters_of(const Report& r) {
    py::dict d;
    for (const auto& [key, member] : Counters::fields) d[key] = r.counters.*member;
    return d;
}

py::dict outputs_of(const Report& r) {
    py::dict d;
    for (const auto& [name, tensor] : r.outputs) d[py::str(name)] = array_of(tensor);
    return d;
}

/// For each wrong output a text: "O: 3 of 64 outputs are NaN or infinite where the reference is not; ...".
std::vector<std::string> unexpected_outputs(const Report& r) {
    const auto wrong = wrong_outputs(r);
    std::vector<std::string> all;
    for (const auto& [name, e] : r.errors)
        if (e.not_finite > 0 || e.finite_instead > 0 || std::find(wrong.begin(), wrong.end(), name) != wrong.end())
            all.push_back(message("result.of_output", name, describe_error(r, name, e)));
    return all;
}

py::object metric_of(const Report& r, const std::string& key) {
    if (const Metric* m = find_metric(key)) return in_python(m->of(r));
    throw py::key_error(message("result.no_metric", key));
}

py::list metric_list() {
    py::list all;
    for (const Metric& m : metrics()) {
        py::dict d;
        d["key"] = m.key, d["title"] = m.title, d["unit"] = lab::name_of(m.unit), d["meaning"] = m.meaning;
        d["evidence"] = name_of(m.evidence);
        all.append(d);
    }
    return all;
}

Problem problem_of_words(const std::string& computes, const Words& words) {
    const Options options = options_of(words);
    for (const Computation* c : computations())
        if (computes == c->name) return resolve(options, *c).problem;
    throw BadValue("computes", computes, message("given.no_computation"), "attention");
}

}  // namespace

void define_runs(py::module_& m) {
    py::class_<Report>(m, "Report", "What a run moved, computed and took.")
        .def_property_readonly("algorithm", [](const Report& r) { return r.experiment.algorithm->name; })
        .def_property_readonly("problem", [](const Report& r) { return r.experiment.problem; })
        .def_property_readonly("tiling", [](const Report& r) { return r.experiment.tiling; })
        .def_property_readonly("gpu", [](const Report& r) { return r.experiment.gpu; })
        .def_readonly("numeric", &Report::numeric, "Whether it computed on real numbers.")
        .def_readonly("notes", &Report::notes)
        .def_property_readonly("wrong_outputs", &unexpected_outputs,
                               "Outputs that rounding does not explain, in words.")
        .def_property_readonly("counters", &counters_of, "Bytes, FLOPs, launches and thread blocks: counted.")
        .def_property_readonly("outputs", &outputs_of, "Outputs of a numeric run, [slices, rows, cols], not copied.")
        .def_property_readonly(
            "time_us", [](const Report& r) { return r.time ? std::optional(r.time->us()) : std::nullopt; },
            "Modelled; None of what does not fit in HBM, and of what was only counted.")
        .def("__getitem__", &metric_of, py::arg("key"), "The metric of that key: see metrics().")
        .def(
            "to_dict", [](const Report& r) { return in_python(to_json(r)); }, "What `tilescope run --json` prints.")
        .def("__repr__", [](const Report& r) {
            return message("result.report", r.experiment.algorithm->name, tiles_text(r.experiment));
        });
    m.def("run", &run, py::arg("algorithm"), py::arg("words"), py::arg("arrays"), py::arg("reference"),
          py::arg("forward"), "See tilescope.run.");
    m.def("count", &count_only, py::arg("algorithm"), py::arg("words"), "See tilescope.count.");
    m.def(
        "verify", [](const std::string& a, const Words& w) { return in_python(verify(a, w)); }, py::arg("algorithm"),
        py::arg("words"), "See tilescope.verify.");
    m.def(
        "explain", [](const std::string& a, const Words& w) { return in_python(explain(a, w)); }, py::arg("algorithm"),
        py::arg("words"), "See tilescope.explain.");
    m.def("metrics", &metric_list, "See tilescope.metrics.");
    m.def("problem", &problem_of_words, py::arg("computes"), py::arg("words"), "See tilescope.problem.");
}

}  // namespace tilescope::python
