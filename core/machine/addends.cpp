#include "core/machine/addends.hpp"

namespace tilescope {

void Addends::Addend::add() const {
    std::vector<float> sum(values.size());
    to->read(region.slice, region.rows, region.cols, sum.data());
    for (std::size_t k = 0; k < sum.size(); ++k) sum[k] += values[k];
    to->write(region.slice, region.rows, region.cols, sum.data());
}

void Addends::add(Storage& to, const Region& region, std::span<const float> values) {
    kept_.push_back({&to, region, {values.begin(), values.end()}});
    if (at_once_) take()();
}

std::function<void()> Addends::take() {
    if (kept_.empty()) return {};
    return [all = std::exchange(kept_, {})] {
        for (const Addend& a : all) a.add();
    };
}

}  // namespace tilescope
