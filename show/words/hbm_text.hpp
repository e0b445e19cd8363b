// The texts about HBM: the tensors in it, and how often their parts were read.
#pragma once

#include <string>
#include <vector>

#include "show/run/run.hpp"

namespace tilescope::show {

/// "HBM 40.0 GiB · 2.11 MB used · of which 16.4 kB extra (LSE)", the longest version first.
std::vector<std::string> hbm_titles(const Run& run);

/// A tensor of the whole run, one slice of which is looked at.
struct TensorShown {
    const RecordedTensor& tensor;
    Index slice, slices;  ///< the slice that is looked at, and how many there are
    Bytes bytes;          ///< of all slices
};
std::string tensor_size(const TensorShown& t);   ///< "1.05 MB"
std::string tensor_title(const TensorShown& t);  ///< "K  1.05 MB"
std::string tensor_shape(const TensorShown& t);  ///< "1024 × 64 f16"
/// The lines below the title, the most important first, each with shorter versions.
std::vector<std::vector<std::string>> tensor_lines(const TensorShown& t, const Computation& computation,
                                                   bool with_type);
/// The first line of the tensor's tooltip.
std::string about_tensor(const TensorShown& t);

/// What was done to a part of a tensor.
struct Touches {
    Count loads = 0, stores = 0;
    bool read_now = false, written_now = false;  ///< in the tick shown
};
/// The operation of the tick (↑ read, ↓ written) and how often the part was read: "↑×8"; shorter: the count alone.
std::vector<std::string> touch_marks(const Touches& t);
/// How often parts without room for a mark each were read: "×8", "up to ×8"; empty before the first read.
std::string counts_text(Count least, Count most);
/// "K rows 64–127: 8.19 kB\nread 8×, written 0×"; without a region: the most of any of several parts.
std::string about_part(const Run& run, const RecordedTensor& tensor, const Region* region, const Touches& t);

}  // namespace tilescope::show
