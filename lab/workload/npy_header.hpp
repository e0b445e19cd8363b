// The header of a .npy file: a Python dict literal that says what the elements are and in which shape.
#pragma once

#include <bit>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/machine/dtype.hpp"
#include "core/text/message.hpp"
#include "lab/workload/array_file.hpp"

namespace tilescope::lab {

inline constexpr std::string_view npy_magic = "\x93NUMPY";
inline constexpr char npy_native_order = std::endian::native == std::endian::little ? '<' : '>';
inline constexpr std::size_t npy_max_rank = 32;  ///< NumPy's own limit

struct NpyRefusal : ArrayRefusal {
    NpyRefusal(std::string is_wrong, std::string to_do = text::message("npy.save_again"))
        : ArrayRefusal{std::move(is_wrong), std::move(to_do)} {}
};

struct NpyHeader {
    std::string descr;
    bool fortran_order = false;
    std::vector<Index> shape;
};
/// Reads the few kinds of Python literal that a header is made of, and no others. Throws NpyRefusal.
NpyHeader parse_npy_header(std::string_view text);

/// "(3, 4)", as Python has it.
std::string shape_text(std::span<const Index> shape);
/// The number of elements, or -1 if it is past the limit. Where an axis has size 0, the product of the other axes still
/// has to be within the limit.
Index element_count(std::span<const Index> shape);
/// Everything before the first element, padded like NumPy's so that the elements are aligned in a mapped file.
std::string npy_preamble(std::span<const Index> shape, Dtype stored);

}  // namespace tilescope::lab
