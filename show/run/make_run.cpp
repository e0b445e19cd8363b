#include "show/run/make_run.hpp"

#include "core/machine/out_of_chip_memory.hpp"
#include "lab/flags/small_run.hpp"

namespace tilescope::show {
using namespace lab;

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
