#include "cli/output_files.hpp"

#include "cli/commands.hpp"
#include "cli/progress.hpp"
#include "core/text/message.hpp"
#include "lab/flags/input_files.hpp"
#include "lab/flags/values.hpp"
#include "lab/workload/file_axes.hpp"

namespace tilescope::cli {
using namespace lab;

OutputFiles::OutputFiles(const Options& o, const Computation& computation, const Problem& problem)
    : usual_rank_(problem.batch > 1 ? 4 : 3) {
    if (o.out.empty()) return;
    std::vector<TensorDecl> declared = computation.tensors(problem);
    std::erase_if(declared, [](const TensorDecl& t) { return t.role != Role::output; });
    const std::string stem = o.out.substr(0, o.out.size() - std::string_view(".npy").size());
    for (const TensorDecl& t : declared)
        files_.emplace_back(t.name, batch_in_file(problem, t),
                            t.gradient_of == Meaning::bias ? Layout::bhsd : layout_from(o),  // as biases are read
                            declared.size() == 1 ? o.out : stem + '-' + t.name + ".npy");
}

void OutputFiles::write(const Outputs& outputs, std::size_t file_rank) {
    if (files_.empty()) return;
    const std::size_t rank = file_rank > 0 ? file_rank : usual_rank_;
    const Progress progress = Progress::blocks(text::message("progress.writing_output"));
    for (File& f : files_) write_tensor(f.file.stream(), *outputs.at(f.output), f.batch, rank, f.layout, &control());
    for (File& f : files_) f.file.commit();
}

}  // namespace tilescope::cli
