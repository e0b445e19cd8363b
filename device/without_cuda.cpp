// In a build without CUDA: the same functions, which say so.
#include "device/device.hpp"
#include "device/kernel_run.hpp"
#include "device/microbenchmarks.hpp"

namespace tilescope::device {
namespace {

constexpr const char* missing = "This tilescope was built without CUDA, so it has no kernels to run.";

}  // namespace

DeviceSearch find_device() {
    return {std::nullopt, missing,
            "install the CUDA toolkit, set CUDA_HOME to it if nvcc is not on PATH, and build tilescope again with "
            "scripts/demo --kernels"};
}

struct KernelRun::State {};

KernelRun::KernelRun(const KernelCase&, const Inputs&, Untouched) { throw RunError(missing); }
KernelRun::~KernelRun() = default;
void KernelRun::launch() { throw RunError(missing); }
std::shared_ptr<Storage> KernelRun::download(std::string_view) const { throw RunError(missing); }
KernelTimes KernelRun::time(Index, Control*) { throw RunError(missing); }

Reading measure(Benchmark, const Device&, Control*) { throw RunError(missing); }

}  // namespace tilescope::device
