// A kernel on the device: its tensors in device memory, launches, and times.
#pragma once

#include <memory>

#include "device/kernel_case.hpp"

namespace tilescope::device {

/// The tensors do not fit into what is free of the device's memory: a result, not a failure.
struct OutOfDeviceMemory : RunError {
    OutOfDeviceMemory(Bytes need, Bytes have);
    Bytes needed, free;
};

/// Medians, in milliseconds, of all launches of the algorithm together.
struct KernelTimes {
    double warm = 0;  ///< run after run, with whatever the run before left in L2
    double cold = 0;  ///< with other data in L2, none of it dirty, before each run
};

/// What outputs and scratch hold before the first launch.
enum class Untouched : std::uint8_t {
    poisoned,      ///< NaN everywhere, so that what a kernel forgets to write shows
    uninitialised  ///< as cudaMalloc leaves it, so that compute-sanitizer sees what is read too early
};

class KernelRun {
  public:
    /// Puts the tensors into device memory. The padding of input rows is NaN, so that using it shows.
    /// Throws OutOfDeviceMemory, and RunError for everything else that CUDA refuses; so do all members.
    KernelRun(const KernelCase& c, const Inputs& inputs, Untouched untouched);
    ~KernelRun();
    KernelRun(const KernelRun&) = delete;
    KernelRun& operator=(const KernelRun&) = delete;

    /// Runs all launches of the algorithm once, and waits for them.
    void launch();
    /// A tensor's current contents.
    std::shared_ptr<Storage> download(std::string_view tensor) const;
    /// Medians over up to `most` runs, fewer (at least 3) where they would take longer than half a second. A short run
    /// is repeated between its two events. Throws Interrupted.
    KernelTimes time(Index most, Control* control);

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace tilescope::device
