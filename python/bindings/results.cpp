#include "python/bindings/results.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/machine/storage.hpp"

namespace tilescope::python {

py::object in_python(const lab::Json& j) {
    switch (j.type()) {
        case lab::Json::value_t::boolean:
            return py::bool_(j.get<bool>());
        case lab::Json::value_t::number_integer:
        case lab::Json::value_t::number_unsigned:
            return py::int_(j.get<Index>());
        case lab::Json::value_t::number_float:
            return py::float_(j.get<double>());
        case lab::Json::value_t::string:
            return py::str(j.get_ref<const std::string&>());
        case lab::Json::value_t::array: {
            py::list list;
            for (const lab::Json& each : j) list.append(in_python(each));
            return list;
        }
        case lab::Json::value_t::object: {
            py::dict dict;
            for (const auto& [key, value] : j.items()) dict[py::str(key)] = in_python(value);
            return dict;
        }
        default:
            return py::none();
    }
}

py::object in_python(const lab::MetricValue& value) {
    return std::visit(
        [](const auto& v) -> py::object {
            if constexpr (std::is_same_v<decltype(v), const std::monostate&>)
                return py::none();
            else
                return py::cast(v);
        },
        value);
}

py::array array_of(std::shared_ptr<const Storage> tensor) {
    const std::vector<py::ssize_t> shape = {tensor->slices(), tensor->rows(), tensor->cols()};
    constexpr std::pair<Dtype, const char*> in_numpy[] = {
        {Dtype::f32, "f4"}, {Dtype::f16, "f2"}, {Dtype::i32, "i4"}, {Dtype::u8, "u1"}, {Dtype::i8, "i1"}};
    const auto* const type = std::find_if(std::begin(in_numpy), std::end(in_numpy),
                                          [&](const auto& t) { return t.first == tensor->dtype(); });
    if (type == std::end(in_numpy)) {
        py::array_t<float> copy(shape);
        tensor->read(0, {copy.mutable_data(), static_cast<std::size_t>(tensor->size())});
        return copy;
    }
    const void* const data = tensor->data();
    const py::capsule keeper(new std::shared_ptr<const Storage>(std::move(tensor)),
                             [](void* p) { delete static_cast<std::shared_ptr<const Storage>*>(p); });
    py::array view(py::dtype(type->second), shape, data, keeper);
    view.attr("flags").attr("writeable") = false;
    return view;
}

}  // namespace tilescope::python
