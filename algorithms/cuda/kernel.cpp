#include "algorithms/cuda/kernel.hpp"

#include <stdexcept>

namespace tilescope {

DeviceTensor DeviceTensors::operator[](std::string_view name) const {
    for (const auto& [n, tensor] : tensors_)
        if (n == name) return tensor;
    throw std::logic_error("the algorithm declares no tensor " + std::string(name));
}

}  // namespace tilescope
