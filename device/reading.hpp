// What several repetitions of one measurement read.
#pragma once

#include <vector>

#include "core/machine/units.hpp"

namespace tilescope::device {

struct Reading {
    double median = 0, least = 0, most = 0;
    Index repetitions = 0;
};
/// `values`: at least one.
Reading reading_of(std::vector<double> values);

}  // namespace tilescope::device
