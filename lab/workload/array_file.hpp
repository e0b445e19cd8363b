// Files with arrays in them: what is read from one, and why one cannot be read.
#pragma once

#include <fstream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/machine/dtype.hpp"

namespace tilescope::lab {

struct FileArray {
    std::vector<Index> shape;
    std::string type;           ///< in the file, as it is spelt there: "<f2", "F16"
    std::vector<float> values;  ///< in C order, whatever the order in the file
    Dtype stored;               ///< the type in the file; of f8, and where there is none, f32
    bool boolean;               ///< a mask: 1 where True
    Index overflowed;           ///< finite f8 elements beyond the range of f32
};

inline constexpr Index elements_per_chunk = Index{1} << 17;  ///< of reading and writing: 1 MiB of f8

/// What other whole numbers mean: unknown (they are refused), or a mask, where all of them are 0 or 1.
enum class WholeNumbers : std::uint8_t { unknown, mask };

/// Why a file cannot be read and what to do about it, as clauses of one message; the reader adds which file.
struct ArrayRefusal {
    std::string what, fix;
};

/// A regular file, and how many of its bytes are left to read. Its real size bounds all memory that is allocated.
class ArrayInput {
  public:
    /// Throws ArrayRefusal, as all functions do.
    explicit ArrayInput(const std::string& path);
    Bytes left() const { return left_; }
    void read(std::span<char> to);
    /// The next n bytes, which are left.
    std::string read(Bytes n);
    void skip(Bytes n);

  private:
    std::ifstream file_;
    Bytes left_ = 0;
};

/// The number of its bytes, the first one the least.
Bytes little_endian(std::string_view bytes);

}  // namespace tilescope::lab
