// Kernels that libraries run, by name: data, each with its library and source.
#pragma once

#include <span>
#include <string_view>

namespace tilescope::lab {

/// A kernel, or the launches of an unfused graph, on a program that exists.
struct NamedKernel {
    const char* name;       ///< "cudnn-9.19"
    const char* algorithm;  ///< the program: "flash_v3"
    const char* key;        ///< the flag, without dashes, that makes the program this kernel: "like"; nullptr: none
    const char* value;      ///< of that flag
    const char* of;         ///< whose it is, with version: "cuDNN 9.19"
    const char* source;     ///< where the description comes from: a file of the library, "counters"
    const char* measured;  ///< where measured times are, in docs/measured; nullptr: the id in `unmeasured` says why not
    const char* unmeasured;  ///< the id of a message
};
std::span<const NamedKernel> named_kernels();
/// nullptr where there is none of this name.
const NamedKernel* find_kernel(std::string_view name);

}  // namespace tilescope::lab
