#include "lab/library/kernels.hpp"

#include <algorithm>

namespace tilescope::lab {
namespace {

constexpr const char *flash_repository = "Dao-AILab/flash-attention", *triton_schedules = "facebookexperimental/triton",
                     *not_here = "library.not_measured", *as_published_alone = "library.published_alone",
                     *of_backends = "backends.csv", *of_library = "library-forward.csv";

constexpr NamedKernel kernels_by_name[] = {
    {"fa1", "flash_v1", nullptr, nullptr, "FlashAttention 1.0.9", "csrc/flash_attn/src/fmha_fwd_hdim*.cu", nullptr,
     as_published_alone},
    {"fa2", "flash_v2", nullptr, nullptr, "FlashAttention 2.8", "csrc/flash_attn/src/flash_fwd_launch_template.h",
     of_library, nullptr},
    {"fa3-2024", "flash_v3", "like", "fa3-2024", "FlashAttention-3, July 2024", flash_repository, nullptr,
     as_published_alone},
    {"fa3-2025", "flash_v3", "like", "fa3-2025", "FlashAttention-3, 2025", "hopper/tile_size.h", nullptr,
     as_published_alone},
    {"cudnn-9.19", "flash_v3", "like", "cudnn-9.19", "cuDNN 9.19", "counters", of_library, nullptr},
    {"efficient", "memory_efficient", nullptr, nullptr, "PyTorch 2.11",
     "aten/src/ATen/native/transformers/cuda/mem_eff_attention/kernel_forward.h", of_backends, nullptr},
    {"xformers", "memory_efficient", nullptr, nullptr, "xformers 0.0.20",
     "xformers/csrc/attention/cuda/fmha/kernel_forward.h", nullptr, not_here},
    {"flex", "flash_v3", "like", "flex", "PyTorch 2.11, Triton 3.6", "counters", of_library, nullptr},
    {"triton-plain", "flash_v3", "like", "triton-plain", "Triton, 2025", triton_schedules, nullptr, as_published_alone},
    {"triton-ws", "flash_v3", "like", "triton-ws", "Triton, 2025", triton_schedules, nullptr, as_published_alone},
    {"triton-pipelined", "flash_v3", "like", "triton-pipelined", "Triton, 2025", triton_schedules, nullptr,
     as_published_alone},
    {"triton-ping-pong", "flash_v3", "like", "triton-ping-pong", "Triton, 2025", triton_schedules, nullptr,
     as_published_alone},
    {"typed", "standard", "passes", "typed", "PyTorch 2.11", "softmax(q @ k.mT * scale + mask, -1) @ v", of_backends,
     nullptr},
    {"eager", "standard", "passes", "transformers", "Transformers 4", "eager_attention_forward", nullptr, not_here},
    {"math", "standard", "passes", "math", "PyTorch 2.11", "aten/src/ATen/native/transformers/attention.cpp",
     of_backends, nullptr},
    {"xla", "standard", "passes", "xla", "JAX 0.11", "jax/_src/nn/functions.py", nullptr, not_here},
};

}  // namespace

std::span<const NamedKernel> named_kernels() { return kernels_by_name; }

const NamedKernel* find_kernel(std::string_view name) {
    const auto found = std::find_if(named_kernels().begin(), named_kernels().end(),
                                    [&](const NamedKernel& k) { return k.name == name; });
    return found == named_kernels().end() ? nullptr : &*found;
}

}  // namespace tilescope::lab
