#include "lab/workload/npy_header.hpp"

#include <algorithm>
#include <charconv>
#include <set>
#include <system_error>

#include "core/text/words.hpp"

namespace tilescope::lab {
using text::message;
namespace {

constexpr std::string_view in_type_words = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_<>=|[]";
constexpr Index max_elements = Index{1} << 60;  // the byte count of fewer f8 elements is still a valid Bytes

class HeaderParser {
  public:
    explicit HeaderParser(std::string_view text) : all_(text), rest_(text) {}

    NpyHeader parse() {
        NpyHeader header;
        std::set<std::string> seen;
        if (!take('{')) unexpected();
        while (!take('}')) {
            const std::string key = text();
            if (!take(':')) unexpected();
            if (!seen.insert(key).second) throw NpyRefusal{message("npy.key_twice", text::shown(key))};
            value_of(key, header);
            if (!take(',') && !at('}')) unexpected();
        }
        if (!at_end()) unexpected();
        for (const char* key : {"descr", "fortran_order", "shape"})
            if (!seen.contains(key)) throw NpyRefusal{message("npy.key_missing", text::shown(key))};
        return header;
    }

  private:
    void value_of(const std::string& key, NpyHeader& header) {
        if (key == "descr")
            header.descr = descr();
        else if (key == "fortran_order")
            header.fortran_order = boolean();
        else if (key == "shape")
            header.shape = shape();
        else
            throw NpyRefusal{message("npy.unknown_key", text::shown(key))};
    }

    std::string descr() {
        if (at('[')) throw NpyRefusal{message("npy.structures"), message("npy.save_field")};
        return text();
    }

    bool boolean() {
        const std::string_view word = at('T') ? "True" : "False";
        if (at_end() || !rest_.starts_with(word)) throw NpyRefusal{message("npy.no_order", position())};
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
        if (at('-')) throw NpyRefusal{message("npy.negative_size", position())};
        Index n = 0;
        const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), n);
        if (error == std::errc::result_out_of_range) throw NpyRefusal{message("npy.size_overflows", position())};
        const auto digits = static_cast<std::size_t>(end - rest_.data());
        // A leading zero is an error in Python 3 and octal in Python 2.
        if (error != std::errc() || (digits > 1 && rest_[0] == '0')) not_a_shape();
        rest_.remove_prefix(digits);
        if (rest_.starts_with('L')) rest_.remove_prefix(1);  // Python 2 marks long integers with L
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

    [[noreturn]] void not_a_shape() { throw NpyRefusal{message("npy.no_shape", position())}; }
    [[noreturn]] void unexpected() { throw NpyRefusal{message("npy.no_dict", position())}; }

    /// The position in the header, in bytes, for messages.
    std::string position() const { return std::to_string(all_.size() - rest_.size()); }

    std::string_view all_, rest_;
};

}  // namespace

NpyHeader parse_npy_header(std::string_view text) { return HeaderParser(text).parse(); }

std::string shape_text(std::span<const Index> shape) {
    std::string out = "(";
    for (std::size_t i = 0; i < shape.size(); ++i) out += (i > 0 ? ", " : "") + std::to_string(shape[i]);
    return out + (shape.size() == 1 ? ",)" : ")");
}

Index element_count(std::span<const Index> shape) {
    Index product = 1;
    for (const Index n : shape)
        if (__builtin_mul_overflow(product, std::max<Index>(n, 1), &product) || product >= max_elements) return -1;
    return std::find(shape.begin(), shape.end(), 0) != shape.end() ? 0 : product;
}

namespace {

std::string descr_of(Dtype stored) {
    if (stored == Dtype::e4m3 || stored == Dtype::e5m2) return "|V1";
    if (stored == Dtype::i8) return "|i1";
    return std::string(1, npy_native_order) + 'f' + std::to_string(size_of(stored));
}

}  // namespace

std::string npy_preamble(std::span<const Index> shape, Dtype stored) {
    constexpr std::size_t alignment = 64, prefix = 10;
    std::string header =
        "{'descr': '" + descr_of(stored) + "', 'fortran_order': False, 'shape': " + shape_text(shape) + ", }";
    header.append(alignment - 1 - (prefix + header.size()) % alignment, ' ');
    header += '\n';
    const std::size_t length = header.size();  // 32 axes of 19 digits are far below version 1's limit of 2^16
    return std::string(npy_magic) + '\1' + '\0' + static_cast<char>(length % 256) + static_cast<char>(length / 256) +
           header;
}

}  // namespace tilescope::lab
