#include "core/machine/dtype.hpp"

#include <cmath>
#include <vector>

#include "core/machine/conversions.hpp"
#include "core/machine/dtypes.hpp"
#include "core/machine/storage.hpp"
#include "tests/support/catch.hpp"

using namespace tilescope;

TEST_CASE("storage types have names and sizes", "[dtype]") {
    const std::map<std::string_view, Bytes> sizes = {{"f32", 4},  {"f16", 2}, {"bf16", 2}, {"e4m3", 1},
                                                     {"e5m2", 1}, {"i8", 1},  {"i32", 4},  {"u8", 1}};
    CHECK(all_dtypes.size() == sizes.size());
    for (const Dtype t : all_dtypes) CHECK(size_of(t) == sizes.at(name_of(t)));
    for (const Dtype t : number_dtypes) CHECK(dtype_from(name_of(t)) == t);
    CHECK(std::string_view(name_of(Dtype::bf16)) == "bf16");
    CHECK(std::string_view(name_of(Dtype::e4m3)) == "e4m3");
    for (const char* other : {"f64", "", "F16", "i32", "u8", "e4m3fn", "e4m"}) CHECK_FALSE(dtype_from(other));
}

TEST_CASE("a new tensor holds NaN until it is written", "[storage]") {
    const Dtype dtype = GENERATE(Dtype::f32, Dtype::f16, Dtype::bf16, Dtype::e4m3, Dtype::e5m2);
    Storage s(dtype, 2, 3, 4);
    CHECK(s.size() == 24);
    CHECK(s.bytes() == 24 * size_of(dtype));
    std::vector<float> x(24);
    s.read(0, x);
    for (const float v : x) CHECK(std::isnan(v));
}

TEST_CASE("a rectangle of a tensor is read and written in place", "[storage]") {
    const Dtype dtype = GENERATE(values(number_dtypes));
    Storage s(dtype, 2, 5, 6);
    std::vector<float> model(60);
    for (std::size_t i = 0; i < model.size(); ++i) model[i] = static_cast<float>(i);
    s.write(0, model);
    float next = 100;
    for (const Span rows : {Span{0, 5}, Span{1, 3}, Span{4, 1}, Span{2, 0}})
        for (const Span cols : {Span{0, 6}, Span{2, 3}, Span{5, 1}}) {
            std::vector<float> part(static_cast<std::size_t>(rows.size * cols.size));
            for (float& v : part) v = next++;
            s.write(1, rows, cols, part.data());
            for (Index r = 0; r < rows.size; ++r)
                for (Index c = 0; c < cols.size; ++c)
                    model[static_cast<std::size_t>((5 + rows.begin + r) * 6 + cols.begin + c)] =
                        part[static_cast<std::size_t>(r * cols.size + c)];
            round_to(dtype, model.data(), 60);
            std::vector<float> all(60), again(part.size());
            s.read(0, all);
            s.read(1, rows, cols, again.data());
            round_to(dtype, part.data(), static_cast<Index>(part.size()));
            CHECK(all == model);
            CHECK(again == part);
        }
}
