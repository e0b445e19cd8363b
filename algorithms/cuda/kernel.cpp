#include "algorithms/cuda/kernel.hpp"

#include <stdexcept>

#include "core/machine/error.hpp"
#include "core/text/message.hpp"

namespace tilescope {
using text::message;

DeviceTensor DeviceTensors::operator[](std::string_view name) const {
    for (const auto& [n, tensor] : tensors_)
        if (n == name) return tensor;
    throw std::logic_error("the algorithm declares no tensor " + std::string(name));
}

void require_heads_of_grid(Index batch_heads) {
    constexpr Index most = 65535;
    if (batch_heads > most) throw RunError(message("kernel.too_many_heads", std::to_string(most)));
}

void require_positive_scale(const Problem& p) {
    if (!(p.logit_scale() > 0)) throw UsageError(message("kernel.scale_not_positive"));
}

}  // namespace tilescope
