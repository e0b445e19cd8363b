// What the machine knows of a tensor in HBM.
#pragma once

#include <memory>
#include <string>

#include "core/machine/tensor.hpp"

namespace tilescope {

class Storage;

/// Where the rows of a tensor in pages lie: in a pool of pages of `size` rows each, found through a table. Row r of
/// slice s is row r % size of page table[s / sharing][r / size], in the pool's slice s % sharing.
struct Pages {
    Index size = 0;                           ///< 0: the tensor is in one piece
    Index in_pool = 0;                        ///< pages
    Index sharing = 1;                        ///< consecutive slices (heads of K or V) that share a row of the table
    TensorId table = no_tensor;               ///< [rows of the table, pages of a slice, 1], i32
    std::shared_ptr<Storage> pool = nullptr;  ///< [sharing, in_pool x size, cols]; in modes with data

    explicit operator bool() const { return size > 0; }
    /// The rows of the pool, in all of its slices together.
    Index rows() const { return sharing * in_pool * size; }
};

/// A tensor of `slices` matrices of rows x cols.
struct TensorInfo {
    std::string name;
    Role role;
    Dtype dtype;
    Index slices, rows, cols;
    std::shared_ptr<Storage> data = nullptr;  ///< allocated by the Gpu in modes with data, unless given
    Meaning meaning = Meaning::other;
    Index heads_per_slice = 1;  ///< consecutive heads that share a slice; more than 1 where K and V are grouped
    Pages pages = {};
    Meaning gradient_of = Meaning::other;  ///< of a gradient: the meaning of the numbers whose gradient it is
    bool only_read = false;                ///< stores are refused
    bool blank = false;                    ///< begins without values: loads of what was not stored are refused
    Index shared_by = 1;  ///< consecutive rows of another tensor that share an element, as values share a scale

    Index size() const { return slices * rows * cols; }
    Bytes bytes() const { return (pages ? pages.rows() * cols : size()) * size_of(dtype); }
};

}  // namespace tilescope
