// --out: the NumPy files that outputs are written to.
#pragma once

#include <list>

#include "lab/flags/request.hpp"
#include "lab/run/experiment.hpp"
#include "lab/system/atomic_file.hpp"

namespace tilescope::cli {

/// The file of a computation's only output, or a file for each of several: --out g.npy becomes g-dQ.npy, g-dK.npy,
/// g-dV.npy; and that of the log-sum-exps, --out-lse, which has no columns. The caller has checked that both end in
/// .npy.
class OutputFiles {
  public:
    /// Opens the files. Throws RunError where one of them cannot be written.
    OutputFiles(const lab::Options& options, const Computation& computation, const Problem& problem);
    /// Adds the file of --out-lse. Throws UsageError where the algorithm does not write it.
    void add_lse(const lab::Options& options, const lab::Experiment& experiment);
    /// `file_rank`: the number of dimensions of the inputs' files; 0 where inputs are from no files.
    void write(const lab::Outputs& outputs, std::size_t file_rank);

  private:
    struct File {
        std::string output;
        Index batch;
        lab::Layout layout;
        lab::AtomicFile file;
        bool has_columns = true;

        File(std::string name, Index of_batch, lab::Layout as, std::string path)
            : output(std::move(name)), batch(of_batch), layout(as), file(std::move(path)) {}
    };
    std::list<File> files_;
    std::size_t usual_rank_;
};

}  // namespace tilescope::cli
