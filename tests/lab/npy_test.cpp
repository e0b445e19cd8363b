#include "lab/workload/npy.hpp"

#include <sys/stat.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <functional>
#include <limits>
#include <numeric>
#include <random>
#include <stdexcept>

#include "core/machine/conversions.hpp"
#include "core/machine/error.hpp"
#include "tests/support/bits.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/folder.hpp"
#include "tests/support/seeds.hpp"

using namespace tilescope;
using namespace tilescope::lab;
using Shape = std::vector<Index>;

namespace {

/// A plain comparison: inside CHECK it would print both large arrays.
bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
    return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0);
}

std::string little(std::uint64_t n, int bytes) {
    std::string out;
    for (int i = 0; i < bytes; ++i) out += static_cast<char>(n >> (8 * i) & 0xff);
    return out;
}

std::string npy(const std::string& header, const std::string& data, char version = 1) {
    return std::string("\x93NUMPY") + version + '\0' + little(header.size(), version == 1 ? 2 : 4) + header + data;
}

std::string header(const std::string& descr, const std::string& order, const std::string& shape) {
    return "{'descr': " + descr + ", 'fortran_order': " + order + ", 'shape': " + shape + "}\n";
}

/// One number in the formats f2 and f4.
struct Number {
    std::uint64_t f2;
    float f4;
};
constexpr float inf = std::numeric_limits<float>::infinity();
const std::array<Number, 10> numbers{{{0x0000, 0.0f},
                                      {0x8000, -0.0f},
                                      {0x3c00, 1.0f},
                                      {0xc100, -2.5f},
                                      {0x7bff, 65504.0f},
                                      {0x0001, 0x1p-24f},
                                      {0x83ff, -0x3ffp-24f},
                                      {0x7c00, inf},
                                      {0xfc00, -inf},
                                      {0x7e00, std::numeric_limits<float>::quiet_NaN()}}};

std::string stored(const Number& number, char order, int size) {
    std::uint64_t n = number.f2;
    if (size == 4) n = testing::bits_of<std::uint32_t>(number.f4);
    if (size == 8) n = testing::bits_of<std::uint64_t>(static_cast<double>(number.f4));
    std::string out = little(n, size);
    return order == '>' ? std::string(out.rbegin(), out.rend()) : out;
}

/// The position in C order of the f-th element in Fortran order.
Index c_position(Index f, const Shape& shape) {
    Index position = 0, stride = std::accumulate(shape.begin(), shape.end(), Index{1}, std::multiplies<>());
    for (const Index n : shape) {
        stride /= n;
        position += f % n * stride;
        f /= n;
    }
    return position;
}

const std::string small_file = npy(header("'<f4'", "False", "(2, 3)"), std::string(24, 'x'));

}  // namespace

TEST_CASE("npy: what is written is read back, rounded to its dtype") {
    const Folder folder;
    const auto [dtype, descr] = GENERATE(table<Dtype, std::string>({{Dtype::f32, "<f4"},
                                                                    {Dtype::f16, "<f2"},
                                                                    {Dtype::bf16, "<f4"},
                                                                    {Dtype::e4m3, "|V1"},
                                                                    {Dtype::e5m2, "|V1"},
                                                                    {Dtype::i8, "|i1"}}));
    const Shape shape = GENERATE(Shape{}, Shape{0}, Shape{3, 0, 2}, Shape{7}, Shape{1, 1}, Shape{3, 4},
                                 Shape{2, 3, 1, 2, 5}, Shape{3, (1 << 17) - 1}, Shape(32, 1));
    std::mt19937 random(7);
    std::normal_distribution<float> normal(0, 300);
    std::vector<float> values;
    const Index n = std::accumulate(shape.begin(), shape.end(), Index{1}, std::multiplies<>());
    for (Index i = 0; i < n; ++i) values.push_back(normal(random));

    write_npy(folder / "a.npy", shape, dtype, values);
    const FileArray array = read_npy(folder / "a.npy", nullptr, dtype);
    round_to(dtype, values.data(), n);
    CHECK(array.shape == shape);
    CHECK(array.type == descr);
    CHECK(same_bits(array.values, values));
    const auto data = static_cast<std::uintmax_t>(n * (descr[2] - '0'));
    CHECK((std::filesystem::file_size(folder / "a.npy") - data) % 64 == 0);
    CHECK(folder.entries() == 1);
}

TEST_CASE("npy: every type, byte order and element order is read") {
    const Folder folder;
    const int size = GENERATE(2, 4, 8);
    const char order = GENERATE('<', '>');
    const char version = GENERATE('\1', '\2', '\3');
    const std::string descr = std::string(1, order) + "f" + std::to_string(size);
    std::string data;
    std::vector<float> expected;
    for (const Number& number : numbers) {
        data += stored(number, order, size);
        expected.push_back(number.f4);
    }
    write_bytes(folder / "a.npy", npy(header("'" + descr + "'", "False", "(2, 5)"), data, version));
    const FileArray c = read_npy(folder / "a.npy");
    CHECK(c.shape == Shape{2, 5});
    CHECK(c.type == descr);
    CHECK(same_bits(c.values, expected));

    const Shape shape{5, 2};
    for (Index f = 0; f < 10; ++f)
        expected[static_cast<std::size_t>(c_position(f, shape))] = numbers[static_cast<std::size_t>(f)].f4;
    write_bytes(folder / "a.npy", npy(header("'" + descr + "'", "True", "(5, 2)"), data, version));
    CHECK(same_bits(read_npy(folder / "a.npy").values, expected));
}

TEST_CASE("npy: Fortran order of any rank becomes C order") {
    const Folder folder;
    const Shape shape =
        GENERATE(Shape{1, 1}, Shape{0, 3}, Shape{2, 3}, Shape{33, 65}, Shape{5, 7, 3}, Shape{2, 1, 3, 4},
                 Shape{1000, 2, 3}, Shape{2, 1000, 2}, Shape(12, 2), Shape{1, 5000, 1}, Shape{3, 2049});
    std::string data, tuple;
    const Index n = std::accumulate(shape.begin(), shape.end(), Index{1}, std::multiplies<>());
    for (Index f = 0; f < n; ++f) data += stored({0, static_cast<float>(c_position(f, shape))}, '<', 4);
    for (const Index size : shape) tuple += std::to_string(size) + ", ";
    write_bytes(folder / "a.npy", npy(header("'<f4'", "True", "(" + tuple + ")"), data));

    std::vector<float> expected(static_cast<std::size_t>(n));
    std::iota(expected.begin(), expected.end(), 0.0f);
    CHECK(same_bits(read_npy(folder / "a.npy").values, expected));
}

TEST_CASE("npy: every spelling of a header that Python would accept is read") {
    const Folder folder;
    const std::string text = GENERATE("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }          \n",
                                      "{\"shape\":(2,3,),\"descr\":\"<f4\",\"fortran_order\":False}",
                                      "{'shape': (2L, 3L), 'fortran_order': False, "
                                      "'descr': '=f4'}",
                                      " \t{ 'shape' : ( 2 , 3 ) ,\r\n 'fortran_order' : False , 'descr' : '|f4' } \n");
    write_bytes(folder / "a.npy", npy(text, std::string(24, '\0')));
    CHECK(read_npy(folder / "a.npy").shape == Shape{2, 3});
}

TEST_CASE("npy: a malformed file is refused in one line that names it and says what is wrong") {
    struct Case {
        std::string bytes, message;
    };
    const std::string f4 = "'<f4'", data(24, 'x');
    const auto shaped = [&](const std::string& shape) { return npy(header(f4, "False", shape), data); };
    const auto typed = [&](const std::string& descr) { return npy(header(descr, "False", "(2, 3)"), data); };
    const std::vector<Case> cases{
        {"", "not an npy file"},
        {"1.0,2.0,3.0\n", "not an npy file"},
        {"PK\3\4 and so on", ".npz archive"},
        {std::string("\x93NUMPY\4\0\0\0", 10), "version 4.0"},
        {std::string("\x93NUMPY\1\1\0\0", 10), "version 1.1"},
        {std::string("\x93NUMPY\1\0\x76\0{'de", 14), "truncated header: 114 bytes are missing"},
        {std::string("\x93NUMPY\1\0\x76\0", 10) + std::string(117, ' '), "truncated header: 1 byte is missing"},
        {std::string("\x93NUMPY\2\0\1\0\x10\0", 12), "longer than 1 MiB (1048577 bytes)"},
        {npy("", data), "not the dict"},
        {npy("None", data), "not the dict"},
        {npy("{}", data), "lacks the key descr"},
        {npy("{'descr': '<f4', 'shape': (2, 3)}", data), "lacks the key fortran_order"},
        {npy("{'descr': '<f4', 'fortran_order': False}", data), "lacks the key shape"},
        {npy("{'descr': '<f4', 'descr': '<f4'}", data), "descr twice"},
        {npy("{'x': 1}", data), "unknown key x"},
        {npy("{,}", data), "not the dict"},
        {npy("{'descr': '<f4' 'shape': ()}", data), "not the dict"},
        {npy("{'descr': __import__('os')}", data), "not the dict that NumPy writes, header byte 10"},
        {npy("{'descr': '<\\x66\\x34'}", data), "not the dict"},
        {npy(header(f4, "False", "(2, 3)") + "x", data), "not the dict"},
        {npy(header(f4, "0", "(2, 3)"), data), "fortran_order"},
        {npy(header(f4, "Falsehood", "(2, 3)"), data), "not the dict"},
        {shaped("6"), "not a tuple of sizes"},
        {shaped("(6)"), "not a tuple of sizes"},
        {shaped("[2, 3]"), "not a tuple of sizes"},
        {shaped("(2 3)"), "not a tuple of sizes"},
        {shaped("(2, 3"), "not a tuple of sizes"},
        {shaped("(,)"), "not a tuple of sizes"},
        {shaped("(2.0, 3)"), "not a tuple of sizes"},
        {shaped("(02, 3)"), "not a tuple of sizes"},
        {shaped("(True, 6)"), "not a tuple of sizes"},
        {shaped("(-2, -3)"), "negative"},
        {shaped("(99999999999999999999,)"), "overflows"},
        {shaped("(1152921504606846976,)"), "(1152921504606846976,) overflows"},
        {shaped("(4294967296, 4294967296)"), "overflows"},
        {shaped("(0, 4294967296, 4294967296)"), "overflows"},
        {shaped("(1152921504606846975,)"), "4611686018427387876 bytes are missing"},
        {shaped("(1" + std::string(32, ',') + ")"), "not a tuple of sizes"},
        {shaped("(1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,6)"), "33 axes"},
        {shaped("(2, 4)"), "shape (2, 4) of <f4 takes 32 bytes of data, 8 bytes are missing"},
        {shaped("(5,)"), "shape (5,) of <f4 takes 20 bytes of data, 4 bytes are left over"},
        {shaped("(0,)"), "24 bytes are left over"},
        {typed("'<i8'"),
         "descr <i8: TileScope reads f2, f4, f8, b1, bf16 as V2, e5m2 as f1, and 8 bits as a flag "
         "says; convert with a.astype('f4')"},
        {typed("'<u2'"), "add --bits16 bf16 where these are the bits of bf16, or convert numbers with a.astype('f4')"},
        {typed("'|V1'"),
         "descr |V1: TileScope reads f2, f4, f8, b1, bf16 as V2, e5m2 as f1, and 8 bits as a flag "
         "says; say its type (--dtype e4m3, or --kv-dtype) where these are the bits of 8-bit floats"},
        {typed("'|V4'"), "say what the bytes are, as in a.view('f4')"},
        {typed("'<c8'"), "descr <c8"},
        {typed("'|O'"), "descr |O"},
        {typed("'<f16'"), "descr <f16"},
        {typed("''"), "descr ''"},
        {typed("'<'"), "descr <"},
        {typed("'<M8[ns]'"), "descr <M8[ns]"},
        {typed("[('x', '<f4')]"), "structures"},
    };
    const Folder folder;
    for (const Case& c : cases) {
        write_bytes(folder / "a.npy", c.bytes);
        const std::string message = message_of<UsageError>([&] { read_npy(folder / "a.npy"); });
        INFO(c.bytes << "\n-> " << message);
        CHECK(contains(message, c.message));
        CHECK(message.starts_with("cannot read " + (folder / "a.npy") + ": "));
        CHECK(contains(message, "; "));
        CHECK(!contains(message, "\n"));
    }
}

TEST_CASE("npy: booleans, bf16 as V2, and as u2 and i2 where that is said") {
    const Folder folder;
    const auto read = [&](const char* descr, const std::string& data, std::optional<Dtype> bits16 = std::nullopt) {
        write_bytes(folder / "a.npy", npy(header(descr, "False", "(2,)"), data));
        return read_npy(folder / "a.npy", nullptr, bits16);
    };
    const FileArray mask = read("'|b1'", std::string("\0\2", 2));
    CHECK((mask.boolean && mask.values == std::vector<float>{0, 1}));
    const std::string bits("\x00\x3e\x80\xff", 4);  // 0.125 and -inf
    const std::vector<float> both = {0.125f, -INFINITY};
    const FileArray plain = read("'|V2'", bits);
    CHECK((plain.stored == Dtype::bf16 && !plain.boolean && plain.values == both));
    for (const char* descr : {"'<u2'", "'<i2'"}) {
        CHECK(read(descr, bits, Dtype::bf16).values == both);
        CHECK_THROWS_AS(read(descr, bits), UsageError);
    }
    CHECK(read("'>u2'", std::string("\x3e\x00\xff\x80", 4), Dtype::bf16).values == both);
}

TEST_CASE("npy: numbers of 8 bits where it is said which, and e5m2 as f1") {
    const Folder folder;
    const auto read = [&](const char* descr, std::optional<Dtype> bits) {
        write_bytes(folder / "a.npy", npy(header(descr, "False", "(2,)"), "\x39\xfb"));
        return read_npy(folder / "a.npy", nullptr, bits);
    };
    const std::vector<float> as_e4m3{1.125f, -352}, as_e5m2{0.625f, -57344};
    // ml_dtypes saves e4m3 as <V1; loaded by NumPy and saved again, it is |V1. PyTorch needs a view as u1.
    for (const char* descr : {"'<V1'", "'|V1'", "'|u1'"}) {
        CHECK(read(descr, Dtype::e4m3).values == as_e4m3);
        CHECK(read(descr, Dtype::e5m2).values == as_e5m2);
        CHECK(read(descr, Dtype::e4m3).stored == Dtype::e4m3);
        CHECK_THROWS_AS(read(descr, std::nullopt), UsageError);
        CHECK_THROWS_AS(read(descr, Dtype::bf16), UsageError);
    }
    // Whole numbers are no bits of floats, unless they were saved as bits.
    CHECK(contains(message_of<UsageError>([&] { read("'|i1'", Dtype::e4m3); }), "a.view('u1')"));
    CHECK(contains(message_of<UsageError>([&] { read("'|i1'", std::nullopt); }), "--kv-dtype i8"));
    CHECK(contains(message_of<UsageError>([&] { read("'|u1'", std::nullopt); }), "--dtype e4m3"));
    CHECK(read("'|i1'", Dtype::i8).values == std::vector<float>{57, -5});
    for (const auto bits : {std::optional<Dtype>(), std::optional(Dtype::e4m3)}) {
        CHECK(read("'<f1'", bits).values == as_e5m2);
        CHECK(read("'<f1'", bits).stored == Dtype::e5m2);
    }
}

TEST_CASE("npy: a mask of 0 and 1 is no bits of an 8-bit type") {
    const Folder folder;
    const Dtype dtype = GENERATE(Dtype::e4m3, Dtype::e5m2);
    const std::string limit = dtype == Dtype::e4m3 ? "e4m3 0 or below 0.004" : "e5m2 0 or below 3.1e-05";
    const auto read = [&](const char* descr, const std::string& data) {
        write_bytes(folder / "a.npy", npy(header(descr, "False", "(2,)"), data));
        return read_npy(folder / "a.npy", nullptr, dtype).values;
    };
    const std::string mask("\1\0", 2);
    const std::string message = message_of<UsageError>([&] { read("'|u1'", mask); });
    CHECK(contains(message, "its |u1 are small whole numbers, as bits of " + limit));
    CHECK(contains(message, "if they are bits, save a.astype('u1').view('V1'); numbers as a.astype('f4')"));
    CHECK(read("'|V1'", mask)[0] > 0);
    CHECK(read("'|u1'", std::string(2, '\0')) == std::vector<float>{0, 0});
    CHECK(read("'|u1'", std::string("\2\0", 2))[0] > 0);
}

TEST_CASE("npy: small whole numbers are no bits of bf16") {
    const Folder folder;
    const auto said = [&](const char* descr, const std::string& data, WholeNumbers whole = WholeNumbers::unknown) {
        write_bytes(folder / "a.npy", npy(header(descr, "False", "(2,)"), data));
        return message_of<UsageError>([&] { read_npy(folder / "a.npy", nullptr, Dtype::bf16, whole); });
    };
    const std::string mask("\1\0\0\0", 4), swapped("\0\1\0\0", 4), ids("\7\0\xff\0", 4), zeros(4, '\0');
    for (const std::string& message :
         {said("'<i2'", mask), said("'<u2'", mask), said("'>i2'", swapped), said("'<i2'", ids)}) {
        CAPTURE(message);
        CHECK(contains(message, "small whole numbers, as bits of bf16 0 or below 1e-30"));
        CHECK(contains(message, "if they are bits, save a.astype('u2').view('V2'); numbers as a.astype('f4')"));
    }
    CHECK(contains(said("'<i2'", mask, WholeNumbers::mask), "; a mask of 0 and 1 as a != 0, numbers as"));
    // All zeros mean the same either way, and a file of type V2 is bf16.
    write_bytes(folder / "a.npy", npy(header("'<i2'", "False", "(2,)"), zeros));
    CHECK(read_npy(folder / "a.npy", nullptr, Dtype::bf16).values == std::vector<float>{0, 0});
    write_bytes(folder / "a.npy", npy(header("'|V2'", "False", "(2,)"), mask));
    CHECK(read_npy(folder / "a.npy", nullptr, Dtype::bf16).values == std::vector<float>{0x1p-133f, 0});
}

TEST_CASE("npy: what is not a readable regular file is refused", "[posix]") {
    const Folder folder;
    REQUIRE(::mkfifo((folder / "fifo").c_str(), 0600) == 0);
    const auto message = [](const std::string& path) { return message_of<UsageError>([&] { read_npy(path); }); };
    CHECK(contains(message(folder / "missing.npy"), "No such file"));
    CHECK(contains(message(folder / "fifo/x.npy"), "Not a directory"));
    CHECK(contains(message(folder / "."), "it is a folder"));
    CHECK(contains(message(folder / "fifo"), "not a regular file"));
    CHECK(contains(message("/dev/zero"), "not a regular file"));
    CHECK(contains(message("two\nlines.npy"), "'two\\nlines.npy'"));
}

TEST_CASE("npy: a file cut anywhere is refused") {
    const Folder folder;
    write_bytes(folder / "a.npy", small_file);
    CHECK_NOTHROW(read_npy(folder / "a.npy"));
    for (std::size_t n = 0; n < small_file.size(); ++n) {
        INFO(n << " bytes");
        write_bytes(folder / "a.npy", small_file.substr(0, n));
        CHECK_THROWS_AS(read_npy(folder / "a.npy"), UsageError);
    }
}

TEST_CASE("npy: a damaged header is read or refused, never worse") {
    const Folder folder;
    const std::string likely = "{}()[],:'\"0123456789-LTF<>=|f \n";
    std::mt19937 random(20240607);
    const auto below = [&](std::size_t n) { return random() % n; };
    int refused = 0;
    for (std::uint64_t i = 0; i < seeds(4000); ++i) {
        std::string bytes = small_file;
        for (std::size_t changes = 1 + below(3); changes > 0; --changes) {
            char& c = bytes[below(bytes.size() - 24)];
            c = below(2) == 0 ? likely[below(likely.size())] : static_cast<char>(c ^ (1 << below(8)));
        }
        write_bytes(folder / "a.npy", bytes);
        try {
            const FileArray array = read_npy(folder / "a.npy");
            CHECK(array.values.size() <= 12);
        } catch (const UsageError&) {
            ++refused;
        }
    }
    CHECK(refused > static_cast<int>(seeds(3000)));
}

TEST_CASE("npy: writing asks for the elements in order, and an exception on the way leaves nothing behind") {
    const Folder folder;
    const Shape shape{3, 100'000};
    Index next = 0;
    write_npy(folder / "a.npy", shape, Dtype::f32, [&](Index first, std::span<float> out) {
        CHECK(first == next);
        next += static_cast<Index>(out.size());
    });
    CHECK(next == 300'000);

    const std::string before = bytes_of(folder / "a.npy");
    const auto failing = [](Index first, std::span<float>) {
        if (first > 0) throw Interrupted();
    };
    CHECK_THROWS_AS(write_npy(folder / "a.npy", shape, Dtype::f32, failing), Interrupted);
    CHECK_THROWS_AS(write_npy(folder / "b.npy", shape, Dtype::f32, failing), Interrupted);
    CHECK(bytes_of(folder / "a.npy") == before);
    CHECK(folder.entries() == 1);
    const std::vector<float> five(5);
    CHECK_THROWS_AS(write_npy(folder / "a.npy", shape, Dtype::f32, five), std::invalid_argument);
    CHECK_THROWS_AS(write_npy(folder / "a.npy", Shape{-1, -5}, Dtype::f32, five), std::invalid_argument);
}

TEST_CASE("what memory has no room for is refused before any of it is taken", "[npy][posix]") {
    Folder folder;
    const std::string path = folder / "sparse.npy";
    write_bytes(path, npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2500000000000,), }\n", ""));
    std::error_code error;
    std::filesystem::resize_file(path, std::filesystem::file_size(path) + 10'000'000'000'000, error);
    if (error) return;  // the file system does not allow such large files
    const std::string message = message_of<RunError>([&] { read_npy(path); });
    CHECK(message.starts_with("cannot read " + path + ": it needs 10.0 TB of memory, and "));
    CHECK(message.ends_with(" are left; save a part of the array"));
}
