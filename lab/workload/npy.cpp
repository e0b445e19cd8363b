#include "lab/workload/npy.hpp"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <stdexcept>
#include <string_view>
#include <system_error>

#include "core/machine/error.hpp"
#include "core/text/message.hpp"
#include "core/text/words.hpp"
#include "lab/system/atomic_file.hpp"
#include "lab/system/memory.hpp"
#include "lab/workload/followed.hpp"

namespace tilescope::lab {
using text::message;
namespace {

namespace fs = std::filesystem;

constexpr std::string_view magic = "\x93NUMPY";
constexpr std::string_view in_type_words = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_<>=|[]";
constexpr char native_order = std::endian::native == std::endian::little ? '<' : '>';
constexpr std::size_t max_rank = 32;                  // NumPy's own limit
constexpr Index max_elements = Index{1} << 60;        // the byte count of fewer f8 elements is still a valid Bytes
constexpr Bytes max_header = Bytes{1} << 20;          // far more than 32 axes need
constexpr Index elements_per_chunk = Index{1} << 17;  // 1 MiB of f8

/// Why a file cannot be read and what to do about it, as clauses of one message; read_npy() adds which file.
struct Refusal {
    std::string what;
    std::string fix = message("npy.save_again");
};

std::string to_text(std::span<const Index> shape) {
    std::string out = "(";
    for (std::size_t i = 0; i < shape.size(); ++i) out += (i > 0 ? ", " : "") + std::to_string(shape[i]);
    return out + (shape.size() == 1 ? ",)" : ")");
}

/// The number of elements, or -1 if it is past the limit. Also with an axis of size 0, others have to be within it.
Index element_count(std::span<const Index> shape) {
    Index product = 1;
    for (const Index n : shape)
        if (__builtin_mul_overflow(product, std::max<Index>(n, 1), &product) || product >= max_elements) return -1;
    return std::find(shape.begin(), shape.end(), 0) != shape.end() ? 0 : product;
}

// ---- The header: a Python dict literal with three keys

struct Header {
    std::string descr;
    bool fortran_order = false;
    std::vector<Index> shape;
};

/// Reads the few kinds of Python literal that a header is made of, and no others.
class HeaderParser {
  public:
    explicit HeaderParser(std::string_view text) : all_(text), rest_(text) {}

    Header parse() {
        Header header;
        std::set<std::string> seen;
        if (!take('{')) unexpected();
        while (!take('}')) {
            const std::string key = text();
            if (!take(':')) unexpected();
            if (!seen.insert(key).second) throw Refusal{message("npy.key_twice", text::shown(key))};
            value_of(key, header);
            if (!take(',') && !at('}')) unexpected();
        }
        if (!at_end()) unexpected();
        for (const char* key : {"descr", "fortran_order", "shape"})
            if (!seen.contains(key)) throw Refusal{message("npy.key_missing", text::shown(key))};
        return header;
    }

  private:
    void value_of(const std::string& key, Header& header) {
        if (key == "descr")
            header.descr = descr();
        else if (key == "fortran_order")
            header.fortran_order = boolean();
        else if (key == "shape")
            header.shape = shape();
        else
            throw Refusal{message("npy.unknown_key", text::shown(key))};
    }

    std::string descr() {
        if (at('[')) throw Refusal{message("npy.structures"), message("npy.save_field")};
        return text();
    }

    bool boolean() {
        const std::string_view word = at('T') ? "True" : "False";
        if (at_end() || !rest_.starts_with(word)) throw Refusal{message("npy.no_order", position())};
        rest_.remove_prefix(word.size());
        return word == "True";
    }

    std::vector<Index> shape() {
        if (!take('(')) not_a_shape();
        std::vector<Index> out;
        bool comma = true;
        while (!take(')')) {
            if (!comma) not_a_shape();
            out.push_back(integer());
            comma = take(',');
        }
        if (out.size() == 1 && !comma) not_a_shape();  // (3) is a number, (3,) a tuple
        return out;
    }

    Index integer() {
        if (at('-')) throw Refusal{message("npy.negative_size", position())};
        Index n = 0;
        const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), n);
        if (error == std::errc::result_out_of_range) throw Refusal{message("npy.size_overflows", position())};
        const auto digits = static_cast<std::size_t>(end - rest_.data());
        // A leading zero is an error in Python 3 and octal in Python 2.
        if (error != std::errc() || (digits > 1 && rest_[0] == '0')) not_a_shape();
        rest_.remove_prefix(digits);
        if (rest_.starts_with('L')) rest_.remove_prefix(1);  // Python 2 marks long integers so
        return n;
    }

    std::string text() {
        if (!at('\'') && !at('"')) unexpected();
        const std::size_t end = rest_.find_first_not_of(in_type_words, 1);
        if (end == std::string_view::npos || rest_[end] != rest_.front()) unexpected();
        std::string out(rest_.substr(1, end - 1));
        rest_.remove_prefix(end + 1);
        return out;
    }

    /// Skips white space first.
    bool at_end() {
        rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\r\n"), rest_.size()));
        return rest_.empty();
    }

    bool at(char c) { return !at_end() && rest_.front() == c; }

    bool take(char c) {
        if (!at(c)) return false;
        rest_.remove_prefix(1);
        return true;
    }

    [[noreturn]] void not_a_shape() { throw Refusal{message("npy.no_shape", position())}; }
    [[noreturn]] void unexpected() { throw Refusal{message("npy.no_dict", position())}; }

    /// A byte of the header.
    std::string position() const { return std::to_string(all_.size() - rest_.size()); }

    std::string_view all_, rest_;
};

// ---- Reading

/// A regular file and how much of it has not been read yet. Its real size bounds everything that is allocated.
class Input {
  public:
    explicit Input(const std::string& path) {
        std::error_code error;
        const fs::file_status status = fs::status(path, error);
        if (!fs::exists(status)) refuse(error.value());
        if (fs::is_directory(status)) throw Refusal{message("npy.folder"), message("npy.name_file_in_it")};
        if (!fs::is_regular_file(status)) throw Refusal{message("npy.no_regular_file"), message("npy.save_to_file")};
        errno = 0;
        file_.open(path, std::ios::binary);
        if (!file_) refuse(errno);
        left_ = static_cast<Bytes>(fs::file_size(path, error));
        if (error) refuse(error.value());
    }

    Bytes left() const { return left_; }

    void read(std::span<char> to) {
        if (!file_.read(to.data(), static_cast<std::streamsize>(to.size())))
            throw Refusal{message("npy.reading_failed"), message("npy.check_disk")};
        left_ -= static_cast<Bytes>(to.size());
    }

    /// A piece of the header.
    std::string read(Bytes n) {
        if (n > left_) throw Refusal{message("npy.short_header", std::to_string(n - left_))};
        std::string out(static_cast<std::size_t>(n), '\0');
        read(std::span(out));
        return out;
    }

  private:
    [[noreturn]] static void refuse(int error) {
        throw Refusal{std::generic_category().message(error), message("npy.name_readable")};
    }

    std::ifstream file_;
    Bytes left_ = 0;
};

Bytes little_endian(std::string_view bytes) {
    Bytes n = 0;
    for (std::size_t i = bytes.size(); i-- > 0;) n = n << 8 | static_cast<unsigned char>(bytes[i]);
    return n;
}

/// Reads up to the first element.
Header read_header(Input& file) {
    const std::string start = file.read(std::min<Bytes>(file.left(), static_cast<Bytes>(magic.size())));
    if (start.starts_with("PK\3\4") || start.starts_with("PK\5\6"))
        throw Refusal{message("npy.archive"), message("npy.save_one_of_archive")};
    if (start != magic) throw Refusal{message("npy.no_npy"), message("npy.save")};
    const std::string version = file.read(2);
    if (version[0] < 1 || version[0] > 3 || version[1] != 0)
        throw Refusal{message("npy.unknown_version", static_cast<unsigned char>(version[0]),
                              static_cast<unsigned char>(version[1]))};
    const Bytes length = little_endian(file.read(version[0] == 1 ? 2 : 4));
    if (length > max_header) throw Refusal{message("npy.long_header", std::to_string(length))};
    return HeaderParser(file.read(length)).parse();
}

enum class Stored : std::uint8_t { f16, bf16, f32, f64, boolean, whole };

struct StoredElement {
    Stored type;
    std::size_t size;
    bool swapped;
    bool bits = false;  ///< whole numbers that stand for bf16
};

/// What to do about elements of a type that is not read. Every command here makes a file that can be read.
Refusal no_number(std::string_view descr, std::string_view type) {
    const std::string what = message("npy.other_type", text::shown(descr));
    if (type == "u2" || type == "i2") return {what, message("npy.bits_or_convert")};
    if (type == "V1") return {what, message("npy.convert_fp8")};
    if (type.starts_with('V')) return {what, message("npy.view")};
    if (type.starts_with('c')) return {what, message("npy.save_part")};
    if (type.starts_with('O')) return {what, message("npy.convert_objects")};
    return {what, message("npy.convert")};
}

bool is_whole(std::string_view type) {
    constexpr std::string_view sizes = "1248";
    return type.size() == 2 && (type[0] == 'i' || type[0] == 'u') && sizes.find(type[1]) != std::string_view::npos;
}

StoredElement stored_element(std::string_view descr, Bits16 bits16, WholeNumbers whole) {
    // '=' and '|' leave the order to the machine, as does having no mark at all.
    const bool marked = !descr.empty() && std::string_view("<>=|").find(descr[0]) != std::string_view::npos;
    const char order = marked && (descr[0] == '<' || descr[0] == '>') ? descr[0] : native_order;
    const std::string_view type = descr.substr(marked ? 1 : 0);
    constexpr std::pair<std::string_view, Stored> known[] = {
        {"f2", Stored::f16}, {"f4", Stored::f32}, {"f8", Stored::f64}, {"b1", Stored::boolean}, {"V2", Stored::bf16}};
    const bool bits = bits16 == Bits16::bf16 && (type == "u2" || type == "i2");
    for (const auto& [name, stored] : known)
        if (type == name || (bits && stored == Stored::bf16))
            return {stored, static_cast<std::size_t>(type[1] - '0'), order != native_order, bits};
    if (whole == WholeNumbers::mask && is_whole(type))
        return {Stored::whole, static_cast<std::size_t>(type[1] - '0'), order != native_order};
    throw no_number(descr, type);
}

/// Whole numbers below 3456, read as bits of bf16, are less than 2^-100: a file with no others holds no such bits.
void check_bits(const Header& header, std::span<const float> values, WholeNumbers whole) {
    const auto too_small = [](float x) { return std::abs(x) < 0x1p-100f; };
    if (!std::all_of(values.begin(), values.end(), too_small) ||
        std::all_of(values.begin(), values.end(), [](float x) { return x == 0; }))
        return;
    throw Refusal{message("npy.small_bits", text::shown(header.descr)),
                  message(whole == WholeNumbers::mask ? "npy.save_bits_mask_or_numbers" : "npy.save_bits_or_numbers")};
}

/// Checks the header's promise against what the file really holds.
Index checked_count(const Header& header, StoredElement element, Bytes available) {
    if (header.shape.size() > max_rank)
        throw Refusal{message("npy.too_many_axes", std::to_string(header.shape.size()))};
    const Index count = element_count(header.shape);
    const std::string shape = to_text(header.shape);
    if (count < 0) throw Refusal{message("npy.shape_overflows", shape)};
    const Bytes promised = count * static_cast<Bytes>(element.size);
    if (promised == available) return count;
    const bool lacks = promised > available;
    const Bytes difference = lacks ? promised - available : available - promised;
    throw Refusal{message(lacks ? "npy.bytes_missing" : "npy.bytes_left_over", shape, text::shown(header.descr),
                          std::to_string(promised), std::to_string(difference)),
                  message(lacks ? "npy.copy_again" : "npy.save_one_array")};
}

/// The storage type that has the same elements; f8 and masks have none.
Dtype dtype_of(Stored type) {
    return type == Stored::f16 ? Dtype::f16 : type == Stored::bf16 ? Dtype::bf16 : Dtype::f32;
}

/// Whole numbers of a mask, in this machine's byte order. Numbers other than 0 and 1 might be anything: ids, bits,
/// numbers to add.
void convert_mask(std::span<const char> from, std::size_t size, std::span<float> to) {
    std::vector<char> one(size, 0);
    one[std::endian::native == std::endian::little ? 0 : size - 1] = 1;
    for (std::size_t i = 0; i < to.size(); ++i) {
        const std::span<const char> element = from.subspan(i * size, size);
        const bool zero = std::all_of(element.begin(), element.end(), [](char c) { return c == 0; });
        if (!zero && !std::equal(element.begin(), element.end(), one.begin()))
            throw Refusal{message("npy.no_mask"), message("npy.save_mask_or_numbers")};
        to[i] = zero ? 0.0f : 1.0f;
    }
}

/// Converts `to.size()` stored elements to floats, changing `from` on the way. Returns how many finite elements are
/// beyond the range of f32.
Index convert(std::span<char> from, StoredElement element, std::span<float> to) {
    if (element.swapped)
        for (std::size_t i = 0; i < from.size(); i += element.size) std::reverse(&from[i], &from[i] + element.size);
    if (element.type == Stored::boolean) {
        std::transform(from.begin(), from.end(), to.begin(), [](char c) { return c != 0 ? 1.0f : 0.0f; });
        return 0;
    }
    if (element.type == Stored::whole) {
        convert_mask(from, element.size, to);
        return 0;
    }
    if (element.type != Stored::f64) {
        decode(dtype_of(element.type), std::as_bytes(from).data(), to.data(), static_cast<Index>(to.size()));
        return 0;
    }
    Index overflowed = 0;
    for (std::size_t i = 0; i < to.size(); ++i) {
        double x = 0;
        std::memcpy(&x, &from[8 * i], sizeof x);
        to[i] = static_cast<float>(x);
        overflowed += std::isfinite(x) && !std::isfinite(to[i]);
    }
    return overflowed;
}

/// The elements in the order of the file; `overflowed` as convert() has it.
std::vector<float> read_values(Input& file, StoredElement element, Index count, Index& overflowed, Control* control) {
    std::vector<float> values(static_cast<std::size_t>(count));
    std::vector<char> stored(static_cast<std::size_t>(std::min(count, elements_per_chunk)) * element.size);
    const Followed followed(control, ceil_div(count, elements_per_chunk));
    for (std::span<float> rest(values); !rest.empty();) {
        followed.step();
        const std::span<float> to = rest.first(std::min(rest.size(), static_cast<std::size_t>(elements_per_chunk)));
        const std::span<char> from = std::span(stored).first(to.size() * element.size);
        file.read(from);
        overflowed += convert(from, element, to);
        rest = rest.subspan(to.size());
    }
    return values;
}

// ---- Fortran order

struct ArrayAxis {
    Index size, from_stride, to_stride;
};

bool shorter(const ArrayAxis& a, const ArrayAxis& b) { return a.size < b.size; }

void copy_block(std::span<const ArrayAxis> axes, const float* from, float* to) {
    const auto [size, from_stride, to_stride] = axes.front();
    for (Index i = 0; i < size; ++i)
        if (axes.size() == 1)
            to[i * to_stride] = from[i * from_stride];
        else
            copy_block(axes.subspan(1), from + i * from_stride, to + i * to_stride);
}

/// Halves the longest axis until a block is small: both sides then touch few cache lines at a time and use them up,
/// whatever the rank, the shape and the caches.
void copy_halving(std::vector<ArrayAxis>& axes, const float* from, float* to, const Control* control) {
    check_stop(control);
    constexpr Index small_block = 1024;
    Index elements = 1;
    for (const ArrayAxis& axis : axes) elements *= axis.size;
    if (elements <= small_block) return copy_block(axes, from, to);

    ArrayAxis& longest = *std::max_element(axes.begin(), axes.end(), shorter);
    const Index whole = longest.size;
    const Index half = whole / 2;
    longest.size = half;
    copy_halving(axes, from, to, control);
    longest.size = whole - half;
    copy_halving(axes, from + half * longest.from_stride, to + half * longest.to_stride, control);
    longest.size = whole;
}

std::vector<float> to_c_order(const std::vector<float>& values, std::span<const Index> shape, const Control* control) {
    std::vector<ArrayAxis> axes;
    Index from_stride = 1, to_stride = static_cast<Index>(values.size());
    for (const Index n : shape) {
        to_stride /= n;
        axes.push_back({n, from_stride, to_stride});
        from_stride *= n;
    }
    std::sort(axes.begin(), axes.end(), shorter);  // the longest innermost: fewer, longer loops
    std::vector<float> out(values.size());
    copy_halving(axes, values.data(), out.data(), control);
    return out;
}

// ---- Writing

/// Everything before the first element, padded like NumPy's so that the elements are aligned in a mapped file.
std::string preamble(std::span<const Index> shape, Dtype stored) {
    constexpr std::size_t alignment = 64, prefix = 10;
    std::string header = std::string("{'descr': '") + native_order + "f" + std::to_string(size_of(stored)) +
                         "', 'fortran_order': False, 'shape': " + to_text(shape) + ", }";
    header.append(alignment - 1 - (prefix + header.size()) % alignment, ' ');
    header += '\n';
    const std::size_t length = header.size();  // 32 axes of 19 digits are far below version 1's limit of 2^16
    return std::string(magic) + '\1' + '\0' + static_cast<char>(length % 256) + static_cast<char>(length / 256) +
           header;
}

}  // namespace

NpyArray read_npy(const std::string& path, Control* control, Bits16 bits16, WholeNumbers whole) {
    try {
        Input file(path);
        Header header = read_header(file);
        const StoredElement element = stored_element(header.descr, bits16, whole);
        const bool is_mask = element.type == Stored::boolean || element.type == Stored::whole;
        const Index count = checked_count(header, element, file.left());
        // With fewer than two axes the two orders are the same.
        const bool reorder = header.fortran_order && header.shape.size() > 1 && count > 0;
        check_memory(message("npy.cannot_read_as_it", text::shown(path)),
                     (reorder ? 2 : 1) * count * size_of(Dtype::f32), message("npy.save_a_part"));
        Index overflowed = 0;
        std::vector<float> values = read_values(file, element, count, overflowed, control);
        if (element.bits) check_bits(header, values, whole);
        if (reorder) values = to_c_order(values, header.shape, control);
        return {std::move(header.shape),
                std::move(header.descr),
                std::move(values),
                dtype_of(element.type),
                is_mask,
                overflowed};
    } catch (const Refusal& refusal) {
        throw UsageError(message("npy.cannot_read", text::shown(path), refusal.what, refusal.fix));
    }
}

void write_npy(std::ostream& out, std::span<const Index> shape, Dtype dtype, const NpyValues& values,
               Control* control) {
    const Index count = element_count(shape);
    if (count < 0 || shape.size() > max_rank || std::any_of(shape.begin(), shape.end(), [](Index n) { return n < 0; }))
        throw std::invalid_argument("write_npy: impossible shape " + to_text(shape));

    const Dtype stored = dtype == Dtype::f16 ? Dtype::f16 : Dtype::f32;
    out << preamble(shape, stored);
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
        throw std::invalid_argument("write_npy: shape " + to_text(shape) + " is not that of the values");
    write_npy(path, shape, dtype,
              [&](Index first, std::span<float> out) { std::copy_n(values.data() + first, out.size(), out.data()); });
}

}  // namespace tilescope::lab
