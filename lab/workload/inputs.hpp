// Input tensors: seeded random numbers, patterns that show something, or the user's own matrices.
#pragma once

#include <initializer_list>
#include <map>
#include <memory>
#include <ostream>
#include <span>
#include <string>
#include <vector>

#include "algorithms/contract/algorithm.hpp"
#include "core/machine/storage.hpp"
#include "lab/workload/npy.hpp"

namespace tilescope::lab {

enum class Distribution : std::uint8_t {
    normal,    ///< N(0, 1)
    uniform,   ///< U[-1, 1)
    outliers,  ///< N(0, 1) + N(0, 100) * Bernoulli(0.001): FlashAttention-3 (arXiv 2407.08608), section 4.3
    // Patterns: see lab/workload/patterns.hpp.
    sentence,     ///< eight words, each of which attends to one word; O shows to which
    band,         ///< every query attends to the keys beside its own
    sink,         ///< every query attends to the first key
    new_maximum,  ///< logits grow from key to key: every block of keys has a new row maximum
    overflow,     ///< logits around 100: exp leaves what f32 holds
};
inline constexpr std::initializer_list<Distribution> distributions = {
    Distribution::normal, Distribution::uniform, Distribution::outliers,    Distribution::sentence,
    Distribution::band,   Distribution::sink,    Distribution::new_maximum, Distribution::overflow};
const char* name_of(Distribution d);
std::optional<Distribution> distribution_from(std::string_view name);

/// Values for the inputs among `tensors`, except inputs that follow from others (lab/run/reference.hpp adds these). A
/// value depends only on the seed, the tensor's name and its position (in a pattern also on the numbers of queries and
/// keys): not on threads, tiles or other tensors. Throws Interrupted, as all functions here that take a Control.
Inputs random_inputs(const std::vector<TensorDecl>& tensors, std::uint64_t seed, Distribution distribution,
                     Control* control = nullptr);

/// The order of the dimensions in a file: batch, heads, sequence and head dimension.
enum class Layout : std::uint8_t { bhsd, bshd };

/// How a file is to be read.
struct FileFormat {
    Layout layout = Layout::bhsd;
    std::optional<Dtype> bits = std::nullopt;  ///< as read_npy() has it
    bool masks = false;  ///< booleans, or whole numbers 0 and 1, mask logits: 0 is added where True, -inf where False
};

/// A tensor read from a NumPy file: 2-D [rows, cols], 3-D [heads, rows, cols] or 4-D [batch, heads, rows, cols] of
/// numbers that read_npy() reads; with Layout::bshd, rows come before heads. Any other file is a UsageError that names
/// `flag` and the file.
struct FileTensor {
    Index batch = 1, heads = 1, rows = 0, cols = 0;
    std::size_t rank = 0;  ///< as in the file
    Dtype stored;          ///< the type in the file
    Index overflowed;      ///< finite f8 elements beyond the range of f32
    std::string name;      ///< "--q q.npy", to be printed
    std::vector<float> values;
};
FileTensor read_tensor(const std::string& flag, const std::string& path, const FileFormat& format = {},
                       Control* control = nullptr);
std::shared_ptr<Storage> to_storage(const FileTensor& file, Dtype dtype, Control* control = nullptr);

/// "--q q.npy: 2 of 4 elements became infinite in f16, ...": a sentence, without its full stop, about finite numbers
/// that become infinite when they are rounded to a type. Empty where there are none. `overflowed`: how many of the
/// values were finite in the file, and are infinite already.
std::string about_infinite(const std::string& name, Dtype dtype, std::span<const float> values, Index overflowed = 0);

/// Writes a tensor as a NumPy file of `rank` 2, 3 or 4 dimensions, splitting slices into batch x heads. bf16 becomes
/// f4.
/// Writes one number a row: [batch, heads, rows], or with Layout::bshd [batch, rows, heads].
void write_rows(std::ostream& out, const Storage& tensor, Index batch, Layout layout, Control* control = nullptr);
void write_tensor(std::ostream& out, const Storage& tensor, Index batch, std::size_t rank, Layout layout = Layout::bhsd,
                  Control* control = nullptr);

}  // namespace tilescope::lab
