// Owners of CUDA's objects, for host code: device memory, streams, events.
#pragma once

#include <cuda_runtime.h>

#include <string>
#include <utility>

#include "core/text/message.hpp"
#include "device/kernel_run.hpp"

namespace tilescope::device {

/// Throws what CUDA says of one of its functions, by whose name.
inline void check(cudaError_t code, const char* function) {
    if (code != cudaSuccess) throw RunError(std::string(function) + ": " + cudaGetErrorString(code));
}

/// Throws what CUDA says; `id`: the message, about what was done.
inline void require(cudaError_t code, const char* id) {
    if (code != cudaSuccess) throw RunError(text::message(id, cudaGetErrorString(code)));
}

inline Bytes free_memory() {
    std::size_t free = 0, total = 0;
    check(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
    return static_cast<Bytes>(free);
}

/// Owns device memory.
class Buffer {
  public:
    explicit Buffer(Bytes size) {
        const cudaError_t e = cudaMalloc(&data_, static_cast<std::size_t>(size));
        if (e == cudaErrorMemoryAllocation) {
            cudaGetLastError();  // clears the error, which the next call would return
            throw OutOfDeviceMemory(size, free_memory());
        }
        check(e, "cudaMalloc");
    }
    Buffer(Buffer&& b) noexcept : data_(std::exchange(b.data_, nullptr)) {}
    ~Buffer() { cudaFree(data_); }
    Buffer& operator=(Buffer&&) = delete;

    void* data() const { return data_; }
    template <class T>
    T* as() const {
        return static_cast<T*>(data_);
    }

  private:
    void* data_ = nullptr;
};

class Stream {
  public:
    Stream() { check(cudaStreamCreate(&stream_), "cudaStreamCreate"); }
    ~Stream() { cudaStreamDestroy(stream_); }
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;

    cudaStream_t get() const { return stream_; }
    /// Throws where a kernel of the stream failed.
    void wait() const { require(cudaStreamSynchronize(stream_), "device.runs_kernel"); }

  private:
    cudaStream_t stream_ = nullptr;
};

class Moment {
  public:
    Moment() { check(cudaEventCreate(&event_), "cudaEventCreate"); }
    ~Moment() { cudaEventDestroy(event_); }
    Moment(const Moment&) = delete;
    Moment& operator=(const Moment&) = delete;

    void record(const Stream& s) { check(cudaEventRecord(event_, s.get()), "cudaEventRecord"); }
    /// Milliseconds from `start` to this event; waits until this event is reached.
    double since(const Moment& start) const {
        require(cudaEventSynchronize(event_), "device.runs_kernel");
        float ms = 0;
        check(cudaEventElapsedTime(&ms, start.event_, event_), "cudaEventElapsedTime");
        return static_cast<double>(ms);
    }

  private:
    cudaEvent_t event_ = nullptr;
};

}  // namespace tilescope::device
