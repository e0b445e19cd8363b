// Tensors that HBM has no room for: what fits, what spills over, and the ways out.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lab/flags/request.hpp"
#include "lab/run/experiment.hpp"

namespace tilescope::show {

struct Spill {
    struct Tensor {
        std::string name;
        Meaning meaning;
        Index slices, rows, cols;
        Dtype dtype;
        Bytes bytes;
    };

    std::string algorithm, gpu;
    std::vector<Tensor> tensors;  ///< from the smallest to the largest
    Bytes needed, capacity;

    /// Another algorithm of the same computation that HBM has room for, and the bytes that it takes.
    std::optional<std::pair<std::string, Bytes>> other;
    /// The sequence length, halved until there is room for it.
    std::optional<Index> shorter;
};

/// nullopt where HBM has room. `preferred`: the algorithm that is offered first.
std::optional<Spill> spill_of(const lab::Experiment& experiment, const std::string& preferred);

/// "275 GB of 42.9 GB: the tensors of standard spill over HBM".
std::string spill_title(const Spill& spill);
/// Why a run whose tensors spill over is counted, and not played.
std::string spill_reason();
/// rim_text(), at the line where HBM is full: "HBM of A100-40GB: 42.9 GB". beyond_text(), above: "232 GB too much".
std::string rim_text(const Spill& spill);
std::string beyond_text(const Spill& spill);
/// "S alone takes 137 GB, 3.2 times all of HBM: 16 × 65,536 × 65,536 f16."
std::string culprit_text(const Spill& spill);
/// "P  137 GB", the longest version first.
std::vector<std::string> spilled_tensor(const Spill::Tensor& tensor);
std::string about_spilled(const Spill::Tensor& tensor);
/// What buttons say: "Use flash_v2: 541 MB", "Use N = 16,384".
std::string other_text(const Spill& spill);
std::string shorter_text(const Spill& spill);

}  // namespace tilescope::show
