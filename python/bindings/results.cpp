#include "python/bindings/results.hpp"

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
    if (tensor->dtype() == Dtype::bf16) {
        py::array_t<float> copy(shape);
        tensor->read(0, {copy.mutable_data(), static_cast<std::size_t>(tensor->size())});
        return copy;
    }
    const char* const type = tensor->dtype() == Dtype::f16   ? "f2"
                             : tensor->dtype() == Dtype::f32 ? "f4"
                             : tensor->dtype() == Dtype::i32 ? "i4"
                                                             : "u1";
    const void* const data = tensor->data();
    const py::capsule keeper(new std::shared_ptr<const Storage>(std::move(tensor)),
                             [](void* p) { delete static_cast<std::shared_ptr<const Storage>*>(p); });
    py::array view(py::dtype(type), shape, data, keeper);
    view.attr("flags").attr("writeable") = false;
    return view;
}

}  // namespace tilescope::python
