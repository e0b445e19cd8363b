// The modelled GPUs.
#include <pybind11/stl.h>

#include "lab/gpu/gpu_json.hpp"
#include "lab/gpu/gpu_presets.hpp"
#include "python/bindings/bindings.hpp"

namespace tilescope::python {

void define_machines(py::module_& m) {
    py::class_<GpuSpec> machine(m, "Machine", "A modelled GPU, as plain numbers. gpu(\"h100\") gives one.");
    machine.def("json", &lab::gpu_json, "A JSON text without sources, which --gpu and gpu() read back.")
        .def("__eq__", [](const GpuSpec& a, const GpuSpec& b) { return lab::gpu_json(a) == lab::gpu_json(b); })
        .def("__repr__", [](const GpuSpec& g) { return "<tilescope.Machine " + g.name + ": " + g.title + '>'; });
    machine.attr("__hash__") = py::none();
    const auto field = [&](const char* name, auto member) { machine.def_readonly(name, member); };
    field("name", &GpuSpec::name), field("title", &GpuSpec::title);
    field("compute_capability", &GpuSpec::compute_capability), field("sms", &GpuSpec::sms);
    field("sram_per_sm", &GpuSpec::sram_per_sm), field("sram_per_block", &GpuSpec::sram_per_block);
    field("registers_per_sm", &GpuSpec::registers_per_sm), field("l2_bytes", &GpuSpec::l2_bytes);
    field("hbm_bytes", &GpuSpec::hbm_bytes), field("max_warps_per_sm", &GpuSpec::max_warps_per_sm);
    field("max_blocks_per_sm", &GpuSpec::max_blocks_per_sm), field("clock_mhz", &GpuSpec::clock_mhz);
    field("tensor_clock_mhz", &GpuSpec::tensor_clock_mhz), field("hbm_gbs", &GpuSpec::hbm_gbs);
    field("fp32_tflops", &GpuSpec::fp32_tflops), field("tensor_tflops", &GpuSpec::tensor_tflops);
    field("tensor_flops_per_clk", &GpuSpec::tensor_flops_per_clk), field("fp32_lanes", &GpuSpec::fp32_lanes);
    field("exp_per_clk", &GpuSpec::exp_per_clk);
    m.def("load_gpu", &lab::load_gpu, py::arg("name"), "What --gpu accepts: a preset's name, a .json file, or JSON.");
    m.def("changed_gpu", &lab::changed_gpu, py::arg("gpu"), py::arg("changes"),
          "The same GPU with the numbers that a JSON object has, and what follows from them.");
    m.def("gpu_names", &lab::gpu_preset_names, "The presets' names.");
    m.def("gpu_sheet", py::overload_cast<const std::string&>(&lab::gpu_sheet_json), py::arg("name"),
          "The same as JSON, with a unit and a source for each number.");
}

}  // namespace tilescope::python
