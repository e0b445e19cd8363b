#include "show/run/make_run.hpp"

#include "core/machine/out_of_chip_memory.hpp"

namespace tilescope::show {
using namespace lab;
namespace {

/// Cuts the inputs of a larger problem to a part of it: the first slices, rows and columns.
Inputs first_of_each(const Inputs& all, const std::vector<TensorDecl>& wanted) {
    Inputs first;
    for (const TensorDecl& t : wanted) {
        const auto found = all.find(std::string_view(t.name));
        if (t.role != Role::input || found == all.end()) continue;
        auto to = std::make_shared<Storage>(t.dtype, t.slices, t.rows, t.cols);
        std::vector<float> values(static_cast<std::size_t>(t.rows * t.cols));
        for (Index slice = 0; slice < t.slices; ++slice) {
            found->second->read(slice, {0, t.rows}, {0, t.cols}, values.data());
            to->write(slice, {0, t.rows}, {0, t.cols}, values.data());
        }
        first.emplace(t.name, std::move(to));
    }
    return first;
}

}  // namespace

InputsFor inputs_for_part(const Options& options, const Request& request, const Algorithm& algorithm) {
    return [options, request, &algorithm](const Problem& recorded) {
        Request part = request;
        part.problem = recorded;
        part.inputs =
            packed_inputs(first_of_each(request.inputs, algorithm.tensors(unpacked(recorded), {1, 1})), recorded);
        return inputs_for(options, part, algorithm);
    };
}

Run make_run(const Experiment& e, const Options& options, const Request& request, Control* control) {
    check_hbm(e);
    const auto counted_on = [&](const GpuSpec& gpu) {
        Experiment other = e;
        other.gpu = gpu;
        return count_for_show(other, control);
    };
    Counted counted = [&] {
        try {
            return counted_on(e.gpu);
        } catch (const OutOfChipMemory&) {
            Counted roomy = counted_on(with_room(e.gpu));
            roomy.report.time.reset();  // of a machine that does not exist
            return roomy;
        }
    }();
    const Index heads = heads_to_record(counted);
    Recorder recorder(counted, heads, inputs_for_part(options, request, *e.algorithm), {});
    if (!recorder.record_at_once(e.gpu, control))
        while (!recorder.work(control)) {
        }
    counted.report.experiment.gpu = e.gpu;
    return {std::move(counted), std::move(recorder)};
}

}  // namespace tilescope::show
