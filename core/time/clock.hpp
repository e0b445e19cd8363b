// How long an operation takes on the modelled GPU. Modelled, not measured: operations of a thread block follow one
// another, none overlaps, and the SMs that are busy share HBM's bandwidth evenly.
#pragma once

#include "core/machine/counters.hpp"
#include "core/machine/dtype.hpp"
#include "core/machine/gpu_spec.hpp"

namespace tilescope {

/// Seconds that an operation of this cost takes on one SM while `busy_sms` SMs work: the longest of its bytes over its
/// share of HBM's bandwidth, its matrix FLOPs over the SM's rate (tensor cores for f16 and bf16, CUDA cores for f32),
/// its exponentials over the special-function unit's and its other FLOPs over the CUDA cores'.
double seconds(const Counters& cost, const GpuSpec& gpu, Dtype dtype, Index busy_sms);

}  // namespace tilescope
