#include "cli/output_files.hpp"

#include "cli/commands.hpp"
#include "cli/progress.hpp"
#include "lab/flags/values.hpp"

namespace tilescope::cli {
using namespace lab;

OutputFiles::OutputFiles(const Options& o, const Computation& computation, const Problem& problem)
    : layout_(layout_from(o)) {
    if (o.out.empty()) return;
    std::vector<std::string> names;
    for (const TensorDecl& t : computation.tensors(problem))
        if (t.role == Role::output) names.emplace_back(t.name);
    const std::string stem = o.out.substr(0, o.out.size() - std::string_view(".npy").size());
    for (const std::string& name : names)
        files_.emplace_back(name, names.size() == 1 ? o.out : stem + '-' + name + ".npy");
}

void OutputFiles::write(const Outputs& outputs, Index batch, std::size_t file_rank) {
    if (files_.empty()) return;
    const std::size_t rank = file_rank > 0 ? file_rank : batch > 1 ? 4 : 3;
    const Progress progress = Progress::blocks("writing the output");
    for (File& f : files_) write_tensor(f.file.stream(), *outputs.at(f.output), batch, rank, layout_, &control());
    for (File& f : files_) f.file.commit();
}

}  // namespace tilescope::cli
