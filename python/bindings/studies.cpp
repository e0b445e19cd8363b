// Studies: runs at many points.
#include <pybind11/stl.h>

#include "core/text/message.hpp"
#include "lab/flags/like.hpp"
#include "lab/study/row.hpp"
#include "python/bindings/requests.hpp"
#include "python/bindings/results.hpp"

namespace tilescope::python {
namespace {

using namespace lab;

/// Rows of values, and the names of their columns.
struct Study {
    std::vector<std::string> columns;
    std::vector<std::vector<MetricValue>> rows;

    void add(const RunRow& row) {
        std::vector<MetricValue> values;
        const bool first = columns.empty();
        for (auto& [name, value] : columns_of(row)) {
            if (first) columns.emplace_back(name);
            values.push_back(std::move(value));
        }
        rows.push_back(std::move(values));
    }
};

/// The points of a study: the flags that vary, and for each point a value of each flag.
struct Points {
    std::vector<std::string> keys;
    std::vector<std::vector<std::string>> values;

    Named of(const Options& base, Variant variant, std::size_t n) const {
        for (std::size_t k = 0; k < keys.size(); ++k) variant.settings.emplace_back(keys[k], values[n][k]);
        return named(variant, base);
    }
};

Outcome counted(const Experiment& e, Control& control) {
    try {
        return {.experiment = e, .report = count(e, &control)};
    } catch (const OutOfChipMemory& error) {
        return {.experiment = e, .remark = error.what(), .lacks = error.space};
    }
}

Study evaluated(const std::vector<std::string>& variants, const Words& words, const Points& points, Index threads,
                bool time) {
    const Options base = options_of(words);
    std::vector<Variant> list;
    for (const std::string& v : variants) list.push_back(variant_from(v));
    const std::size_t each = points.values.size();
    return natively([&](Control& control) {
        Study study;
        const auto point = [&](std::size_t k) {
            check_stop(&control);
            const Named n = points.of(base, list[k / each], k % each);
            return std::pair(n.algorithm, resolve(n.options, *n.algorithm, &control));
        };
        // All points are checked before the first one runs. Requests are not kept, because each is some kB.
        std::vector<std::pair<std::string, std::string>> layers(list.size() * each);
        for (std::size_t k = 0; k < layers.size(); ++k) {
            const Request request = point(k).second;
            layers[k] = {request.model, request.phase};
        }
        const auto evaluate = [&](Index k) {
            const auto n = static_cast<std::size_t>(k);
            const auto [algorithm, request] = point(n);
            const Experiment e = experiment_of(*algorithm, request, &control);
            return time ? outcome_of(e, &control) : counted(e, control);
        };
        lab::study(static_cast<Index>(layers.size()), static_cast<int>(threads), evaluate,
                   [&](Index k, const Outcome& outcome) {
                       const auto n = static_cast<std::size_t>(k);
                       study.add({list[n / each].label, layers[n].first, layers[n].second, outcome});
                   });
        return study;
    });
}

py::list records_of(const Study& s) {
    std::vector<py::str> keys(s.columns.begin(), s.columns.end());
    py::list all;
    for (const auto& row : s.rows) {
        py::dict d;
        for (std::size_t k = 0; k < keys.size(); ++k) d[keys[k]] = in_python(row[k]);
        all.append(std::move(d));
    }
    return all;
}

py::list column_of(const Study& s, const std::string& key) {
    const auto found = std::find(s.columns.begin(), s.columns.end(), key);
    if (found == s.columns.end()) throw py::key_error(text::message("result.no_column", key));
    py::list all;
    for (const auto& row : s.rows) all.append(in_python(row[static_cast<std::size_t>(found - s.columns.begin())]));
    return all;
}

}  // namespace

void define_studies(py::module_& m) {
    py::class_<Study>(m, "Records", "Rows of a study: tilescope.Study has them.")
        .def("__len__", [](const Study& s) { return s.rows.size(); })
        .def_readonly("columns", &Study::columns)
        .def("records", &records_of)
        .def("column", &column_of, py::arg("key"));
    m.def(
        "study",
        [](const std::vector<std::string>& variants, const Words& words, const std::vector<std::string>& keys,
           const std::vector<std::vector<std::string>>& values, Index threads, bool time) {
            return evaluated(variants, words, {keys, values}, threads, time);
        },
        py::arg("algorithms"), py::arg("words"), py::arg("keys"), py::arg("points"), py::arg("threads"),
        py::arg("time"), "See tilescope.study.");
}

}  // namespace tilescope::python
