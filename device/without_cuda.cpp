// The functions that need CUDA, in a build without CUDA: they say that CUDA is missing.
#include "core/text/message.hpp"
#include "device/device.hpp"
#include "device/kernel_run.hpp"
#include "device/microbenchmarks.hpp"

namespace tilescope::device {
using text::message;
namespace {

std::string missing() { return message("device.built_without_cuda"); }

}  // namespace

DeviceSearch find_device() { return {std::nullopt, missing(), message("device.build_with_cuda")}; }

struct KernelRun::State {};

KernelRun::KernelRun(const KernelCase&, const Inputs&, Untouched) { throw RunError(missing()); }
KernelRun::~KernelRun() = default;
void KernelRun::launch() { throw RunError(missing()); }
std::shared_ptr<Storage> KernelRun::download(std::string_view) const { throw RunError(missing()); }
KernelTimes KernelRun::time(Index, Control*) { throw RunError(missing()); }

bool built_for_hopper() { return false; }
Reading measure(Benchmark, const Device&, Control*) { throw RunError(missing()); }

}  // namespace tilescope::device
