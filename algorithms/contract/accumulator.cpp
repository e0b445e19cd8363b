#include "algorithms/contract/accumulator.hpp"

#include <string>
#include <system_error>

#include "algorithms/contract/choices.hpp"
#include "core/text/numbers.hpp"

namespace tilescope {

std::string name_of_accumulator(const Problem& p) {
    return !p.sum_bits ? "gpu" : *p.sum_bits == 0 ? "f32" : std::to_string(*p.sum_bits);
}

bool set_accumulator(Problem& p, std::string_view text) {
    p.sum_bits = std::nullopt;
    if (text == "gpu") return true;
    Index bits = 0;
    if (text != "f32" && (text::to_whole(text, bits) != std::errc() || bits == 0)) return false;
    p.sum_bits = bits;
    return true;
}

int sum_bits(const Problem& p, const GpuSpec& gpu) {
    if (p.query_type() != Dtype::e4m3 && p.query_type() != Dtype::e5m2) return 0;
    constexpr int hopper = 13;  // docs/measured/h200/forward/float8_accumulation.csv
    return static_cast<int>(p.sum_bits.value_or(gpu.compute_capability == "9.0" ? hopper : 0));
}

}  // namespace tilescope
