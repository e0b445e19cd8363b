#include "cli/output_files.hpp"

#include <algorithm>

#include "algorithms/contract/registry.hpp"
#include "cli/commands.hpp"
#include "cli/progress.hpp"
#include "core/text/message.hpp"
#include "core/text/words.hpp"
#include "lab/flags/input_files.hpp"
#include "lab/flags/values.hpp"
#include "lab/workload/file_axes.hpp"

namespace tilescope::cli {
using namespace lab;
namespace {

constexpr std::string_view lse = "LSE";

}  // namespace

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

void OutputFiles::add_lse(const Options& o, const Experiment& e) {
    if (o.out_lse.empty()) return;
    const auto writes = [](const Algorithm& a, const Problem& p) {
        const std::vector<TensorDecl> all = a.tensors(p, {1, 1});
        return std::any_of(all.begin(), all.end(),
                           [](const TensorDecl& t) { return t.name == lse && t.role == Role::output; });
    };
    if (!writes(*e.algorithm, e.problem)) {
        std::vector<std::string> others;
        for (const Algorithm& a : algorithms())
            if (!a.lineage.file && writes(a, Problem())) others.emplace_back(a.name);
        throw UsageError(
            text::message("output_files.no_lse", text::shown(o.out_lse), e.algorithm->name, text::listed(others)));
    }
    files_.emplace_back(std::string(lse), e.problem.batch, layout_from(o), o.out_lse).has_columns = false;
}

void OutputFiles::write(const Outputs& outputs, std::size_t file_rank) {
    if (files_.empty()) return;
    const std::size_t rank = file_rank > 0 ? file_rank : usual_rank_;
    const Progress progress = Progress::blocks(text::message("progress.writing_output"));
    for (File& f : files_) {
        const Storage& values = *outputs.at(f.output);
        f.has_columns ? write_tensor(f.file.stream(), values, f.batch, rank, f.layout, &control())
                      : write_rows(f.file.stream(), values, f.batch, f.layout, &control());
    }
    for (File& f : files_) f.file.commit();
}

}  // namespace tilescope::cli
