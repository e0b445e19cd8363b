// The state of a modelled GPU from launch to launch. Only sources of core/machine include this header.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "core/machine/gpu.hpp"
#include "core/machine/gpu_spec.hpp"
#include "core/machine/launch_info.hpp"
#include "core/machine/mode.hpp"
#include "core/machine/tensor_info.hpp"
#include "core/machine/worker.hpp"

namespace tilescope {

struct Gpu::State {
    const GpuSpec spec;
    const Mode mode;
    int threads;
    Control* control;
    Worker main;
    std::deque<TensorInfo> tensors = {};  // a deque: handles keep pointers to the names
    Index page_size = 0;                  // of tensors in pages; 0: there are none
    std::vector<Index> shares = {};       // rows that share something: TensorInfo::shared_by
    std::vector<Listener*> listeners = {};
    std::vector<std::string> notes = {};
    std::vector<LaunchInfo> launches = {};
};

}  // namespace tilescope
