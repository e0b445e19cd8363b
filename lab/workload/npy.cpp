#include "lab/workload/npy.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "core/machine/conversions.hpp"
#include "core/machine/error.hpp"
#include "core/text/message.hpp"
#include "core/text/words.hpp"
#include "lab/system/atomic_file.hpp"
#include "lab/system/memory.hpp"
#include "lab/workload/c_order.hpp"
#include "lab/workload/followed.hpp"
#include "lab/workload/npy_elements.hpp"
#include "lab/workload/npy_header.hpp"

namespace tilescope::lab {
using text::message;
namespace {

constexpr Bytes max_header = Bytes{1} << 20;  // far more than 32 axes need

/// A piece of the header.
std::string header_piece(ArrayInput& file, Bytes n) {
    if (n > file.left()) throw NpyRefusal(message("npy.short_header", std::to_string(n - file.left())));
    return file.read(n);
}

/// Reads up to the first element.
NpyHeader read_header(ArrayInput& file) {
    const std::string start = header_piece(file, std::min<Bytes>(file.left(), static_cast<Bytes>(npy_magic.size())));
    if (start.starts_with("PK\3\4") || start.starts_with("PK\5\6"))
        throw NpyRefusal{message("npy.archive"), message("npy.save_one_of_archive")};
    if (start != npy_magic) throw NpyRefusal{message("npy.no_npy"), message("npy.save")};
    const std::string version = header_piece(file, 2);
    if (version[0] < 1 || version[0] > 3 || version[1] != 0)
        throw NpyRefusal{message("npy.unknown_version", static_cast<unsigned char>(version[0]),
                                 static_cast<unsigned char>(version[1]))};
    const Bytes length = little_endian(header_piece(file, version[0] == 1 ? 2 : 4));
    if (length > max_header) throw NpyRefusal{message("npy.long_header", std::to_string(length))};
    return parse_npy_header(header_piece(file, length));
}

/// The number of elements by the header, checked against the bytes that the file really has.
Index checked_count(const NpyHeader& header, StoredElement element, Bytes available) {
    if (header.shape.size() > npy_max_rank)
        throw NpyRefusal{message("npy.too_many_axes", std::to_string(header.shape.size()))};
    const Index count = element_count(header.shape);
    const std::string shape = shape_text(header.shape);
    if (count < 0) throw NpyRefusal{message("npy.shape_overflows", shape)};
    const Bytes promised = count * static_cast<Bytes>(element.size);
    if (promised == available) return count;
    const bool lacks = promised > available;
    const Bytes difference = lacks ? promised - available : available - promised;
    throw NpyRefusal{message(lacks ? "npy.bytes_missing" : "npy.bytes_left_over", shape, text::shown(header.descr),
                             std::to_string(promised), std::to_string(difference)),
                     message(lacks ? "npy.copy_again" : "npy.save_one_array")};
}

}  // namespace

FileArray read_npy(const std::string& path, Control* control, std::optional<Dtype> bits, WholeNumbers whole) {
    try {
        ArrayInput file(path);
        NpyHeader header = read_header(file);
        const StoredElement element = stored_element(header.descr, bits, whole);
        const bool is_mask = element.type == Stored::boolean || element.type == Stored::whole;
        const Index count = checked_count(header, element, file.left());
        // With fewer than two axes the two orders are the same.
        const bool reorder = header.fortran_order && header.shape.size() > 1 && count > 0;
        check_memory((reorder ? 2 : 1) * count * size_of(Dtype::f32), "npy.too_large", text::shown(path));
        Index overflowed = 0;
        std::vector<float> values = read_elements(file, element, count, overflowed, control);
        if (element.bits) check_bits(header.descr, element.dtype, values, whole);
        if (reorder) values = to_c_order(values, header.shape, control);
        return {
            std::move(header.shape), std::move(header.descr), std::move(values), element.dtype, is_mask, overflowed};
    } catch (const ArrayRefusal& refusal) {
        throw UsageError(message("npy.cannot_read", text::shown(path), refusal.what, refusal.fix));
    }
}

void write_npy(std::ostream& out, std::span<const Index> shape, Dtype dtype, const NpyValues& values,
               Control* control) {
    const Index count = element_count(shape);
    if (count < 0 || shape.size() > npy_max_rank ||
        std::any_of(shape.begin(), shape.end(), [](Index n) { return n < 0; }))
        throw std::invalid_argument("write_npy: impossible shape " + shape_text(shape));

    constexpr std::array as_they_are = {Dtype::f16, Dtype::e4m3, Dtype::e5m2, Dtype::i8};
    const bool as_it_is = std::find(as_they_are.begin(), as_they_are.end(), dtype) != as_they_are.end();
    const Dtype stored = as_it_is ? dtype : Dtype::f32;
    out << npy_preamble(shape, stored);
    std::vector<float> part(static_cast<std::size_t>(std::min(count, elements_per_chunk)));
    std::vector<std::byte> bytes(part.size() * static_cast<std::size_t>(size_of(stored)));
    const Followed followed(control, ceil_div(count, elements_per_chunk));
    for (Index first = 0; first < count; first += elements_per_chunk) {
        followed.step();
        const Index n = std::min(elements_per_chunk, count - first);
        values(first, std::span(part).first(static_cast<std::size_t>(n)));
        if (stored != dtype) round_to(dtype, part.data(), n);
        encode(stored, part.data(), bytes.data(), n);
        out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(n * size_of(stored)));
    }
}

void write_npy(const std::string& path, std::span<const Index> shape, Dtype dtype, const NpyValues& values) {
    AtomicFile file(path);
    write_npy(file.stream(), shape, dtype, values);
    file.commit();
}

void write_npy(const std::string& path, std::span<const Index> shape, Dtype dtype, std::span<const float> values) {
    if (element_count(shape) != static_cast<Index>(values.size()))
        throw std::invalid_argument("write_npy: shape " + shape_text(shape) + " is not that of the values");
    write_npy(path, shape, dtype,
              [&](Index first, std::span<float> out) { std::copy_n(values.data() + first, out.size(), out.data()); });
}

}  // namespace tilescope::lab
