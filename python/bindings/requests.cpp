#include "python/bindings/requests.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "core/machine/conversions.hpp"
#include "core/text/message.hpp"
#include "lab/flags/parse.hpp"

namespace tilescope::python {
using text::message;
namespace {

std::string shape_text(Index slices, Index rows, Index cols) {
    return '[' + std::to_string(slices) + ", " + std::to_string(rows) + ", " + std::to_string(cols) + ']';
}

std::shared_ptr<Storage> storage_of(const TensorDecl& t, Dtype dtype, const py::buffer& array) {
    const py::buffer_info b = array.request();
    if (b.ndim != 3) throw BadValue(t.name, "", message("given.no_three_dimensions"));
    const auto is = [&](py::ssize_t k) { return static_cast<Index>(b.shape[static_cast<std::size_t>(k)]); };
    const std::string has = shape_text(is(0), is(1), is(2)), wanted = shape_text(t.slices, t.rows, t.cols);
    if (has != wanted) throw BadValue(t.name, has, message("given.other_shape", wanted));
    auto storage = std::make_shared<Storage>(dtype, t.slices, t.rows, t.cols);
    const bool half = b.format == "e";
    if (half && dtype == Dtype::f16) {
        std::copy_n(static_cast<const std::byte*>(b.ptr), storage->bytes(), storage->data());
    } else if (half) {
        std::vector<float> wide(static_cast<std::size_t>(storage->size()));
        decode(Dtype::f16, static_cast<const std::byte*>(b.ptr), wide.data(), storage->size());
        storage->write(0, wide);
    } else {
        storage->write(0, {static_cast<const float*>(b.ptr), static_cast<std::size_t>(storage->size())});
    }
    return storage;
}

/// A note where numbers of an f32 array are too large for `dtype`, in which they are stored; else "".
std::string about_infinite_in(const std::string& name, Dtype dtype, const py::buffer& array) {
    const py::buffer_info b = array.request();
    if (b.format == "e") return "";  // every type can hold the numbers of f16
    const std::span<const float> values(static_cast<const float*>(b.ptr), static_cast<std::size_t>(b.size));
    return lab::about_infinite(name, dtype, values);
}

}  // namespace

lab::Options options_of(const Words& words) {
    lab::Options options;
    CLI::App app;
    lab::add_problem_options(app, options);
    lab::add_numeric_options(app, options);
    lab::parse(app, words);
    return options;
}

lab::Request request_of(const lab::Options& options, const Algorithm& algorithm, const Arrays& arrays) {
    lab::Request request = lab::resolve(options, algorithm);
    const std::vector<TensorDecl> declared = algorithm.computes->tensors(request.problem);
    for (const auto& [name, array] : arrays) {
        const auto t = std::find_if(declared.begin(), declared.end(), [&n = name](const TensorDecl& d) {
            return d.name == n && d.role == Role::input && !d.saved && d.dtype != Dtype::i32;
        });
        if (t == declared.end()) throw BadValue(name, "", message("given.no_input", algorithm.computes->name));
        request.inputs[name] = storage_of(*t, t->dtype, array);
        if (const std::string note = about_infinite_in(name, t->dtype, array); !note.empty())
            request.notes.push_back(note);
    }
    request.file_rank = arrays.empty() ? 0 : 4;
    return request;
}

}  // namespace tilescope::python
