// FlashAttention-3: the kernel is in kernel_sm90a.cu, which is compiled for compute capability 9.0 alone.
#include "algorithms/attention/flash_v3/kernel.hpp"
#include "core/machine/error.hpp"
#include "core/text/message.hpp"

namespace tilescope::flash_v3 {

void launch_kernel(const KernelCall& call) {
    if constexpr (TILESCOPE_SM90A)
        launch_sm90a(call);
    else
        throw RunError(text::message("kernel.built_without_hopper", "flash_v3"));
}

}  // namespace tilescope::flash_v3
