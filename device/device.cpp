#include "device/device.hpp"

#include <cuda_runtime.h>

#include <fstream>

#include "core/text/message.hpp"

namespace tilescope::device {
using text::message;
namespace {

/// 13010 as "13.1".
std::string version(int number) { return std::to_string(number / 1000) + '.' + std::to_string(number % 1000 / 10); }

/// The driver's own version, which CUDA does not tell, and the newest CUDA that it supports.
std::string driver_version(int cuda) {
    std::string own;
    std::ifstream("/sys/module/nvidia/version") >> own;
    return own.empty() ? "CUDA " + version(cuda) : own + " (CUDA " + version(cuda) + ")";
}

/// Why the runtime found no device.
DeviceSearch explain(cudaError_t error, int driver, int runtime) {
    const char* const says = cudaGetErrorString(error);
    if (driver == 0) return {std::nullopt, message("device.no_driver", says), message("device.get_driver")};
    if (error == cudaErrorInsufficientDriver)
        return {std::nullopt, message("device.old_driver", version(driver), version(runtime)),
                message("device.update_driver")};
    return {std::nullopt, message("device.none", says), message("device.look_for_gpu")};
}

/// A device attribute; 0 where the driver does not say.
double asked(cudaDeviceAttr what) {
    int value = 0;
    if (cudaDeviceGetAttribute(&value, what, 0) == cudaSuccess) return value;
    cudaGetLastError();  // clears this call's error
    return 0;
}

void ask_limits(Device& d, const cudaDeviceProp& p) {
    d.shared_per_sm = static_cast<Bytes>(p.sharedMemPerMultiprocessor);
    d.registers_per_sm = Bytes{4} * p.regsPerMultiprocessor;
    d.max_warps_per_sm = p.maxThreadsPerMultiProcessor / p.warpSize;
    d.max_blocks_per_sm = p.maxBlocksPerMultiProcessor;
    d.clock_mhz = asked(cudaDevAttrClockRate) / 1e3;
    d.memory_gbs = 2 * asked(cudaDevAttrMemoryClockRate) * asked(cudaDevAttrGlobalMemoryBusWidth) / 8 / 1e6;
}

}  // namespace

DeviceSearch find_device() {
    int driver = 0, runtime = 0, devices = 0;
    cudaDriverGetVersion(&driver);
    cudaRuntimeGetVersion(&runtime);
    if (const cudaError_t e = cudaGetDeviceCount(&devices); e != cudaSuccess || devices == 0)
        return explain(e != cudaSuccess ? e : cudaErrorNoDevice, driver, runtime);
    cudaDeviceProp p{};
    std::size_t free = 0, total = 0;
    cudaError_t e = cudaSetDevice(0);
    if (e == cudaSuccess) e = cudaGetDeviceProperties(&p, 0);
    if (e == cudaSuccess) e = cudaMemGetInfo(&free, &total);
    if (e != cudaSuccess) return explain(e, driver, runtime);
    Device d{.name = p.name,
             .compute_capability = std::to_string(p.major) + '.' + std::to_string(p.minor),
             .sms = p.multiProcessorCount,
             .l2 = p.l2CacheSize,
             .memory = static_cast<Bytes>(total),
             .memory_free = static_cast<Bytes>(free),
             .shared_per_block = static_cast<Bytes>(p.sharedMemPerBlockOptin),
             .driver = driver_version(driver),
             .runtime = version(runtime)};
    ask_limits(d, p);
    return {std::move(d), "", ""};
}

}  // namespace tilescope::device
