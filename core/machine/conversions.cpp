#include "core/machine/conversions.hpp"

#include <Eigen/Core>
#include <type_traits>

#include "core/machine/number_formats.hpp"

namespace tilescope {
namespace {

static_assert(largest(Dtype::f16) == Half::largest && largest(Dtype::e4m3) == E4m3::largest &&
              largest(Dtype::e5m2) == E5m2::largest && largest(Dtype::i8) == Whole8::largest);

/// A type of numbers by its functions for one element.
template <class Number>
struct OneByOne {
    using Code = typename Number::Code;
    // 16-bit types have infinity for what is too large.
    static constexpr bool saturates = sizeof(Code) == 1;

    static void encode(const float* from, std::byte* to, Index n, Overflow overflow) {
        auto* const codes = reinterpret_cast<Code*>(to);
        for (Index k = 0; k < n; ++k) codes[k] = Number::encoded(from[k], saturates ? overflow : Overflow::not_finite);
    }
    static void decode(const std::byte* from, float* to, Index n) {
        const auto* const codes = reinterpret_cast<const Code*>(from);
        for (Index k = 0; k < n; ++k) to[k] = Number::decoded(codes[k]);
    }
    static void round(float* x, Index n, Overflow overflow) {
        for (Index k = 0; k < n; ++k) x[k] = Number::rounded(x[k], saturates ? overflow : Overflow::not_finite);
    }
};

/// A type by Eigen's conversions.
template <class T>
struct Cast {
    template <class U>
    using Array = Eigen::Map<Eigen::Array<U, Eigen::Dynamic, 1>>;
    template <class U>
    using ConstArray = Eigen::Map<const Eigen::Array<U, Eigen::Dynamic, 1>>;

    static void encode(const float* from, std::byte* to, Index n, Overflow) {
        Array<T>(reinterpret_cast<T*>(to), n) = ConstArray<float>(from, n).template cast<T>();
    }
    static void decode(const std::byte* from, float* to, Index n) {
        Array<float>(to, n) = ConstArray<T>(reinterpret_cast<const T*>(from), n).template cast<float>();
    }
    static void round(float* x, Index n, Overflow) {
        if constexpr (std::is_same_v<T, Eigen::bfloat16>)
            Array<float>(x, n) = ConstArray<float>(x, n).template cast<T>().template cast<float>();
    }
};

/// Calls `use` with the conversions of a type.
template <class Use>
void with_conversions(Dtype t, Use use) {
    switch (t) {
        case Dtype::f32:
            return use(Cast<float>());
        case Dtype::f16:
            return use(OneByOne<Half>());
        case Dtype::bf16:
            return use(Cast<Eigen::bfloat16>());
        case Dtype::i32:
            return use(Cast<std::int32_t>());
        case Dtype::u8:
            return use(Cast<std::uint8_t>());
        case Dtype::e4m3:
            return use(OneByOne<E4m3>());
        case Dtype::e5m2:
            return use(OneByOne<E5m2>());
        case Dtype::i8:
            return use(OneByOne<Whole8>());
    }
}

}  // namespace

void round_to(Dtype t, float* x, Index n, Overflow overflow) {
    with_conversions(t, [&](auto type) { type.round(x, n, overflow); });
}

void encode(Dtype t, const float* from, std::byte* to, Index n, Overflow overflow) {
    with_conversions(t, [&](auto type) { type.encode(from, to, n, overflow); });
}

void decode(Dtype t, const std::byte* from, float* to, Index n) {
    with_conversions(t, [&](auto type) { type.decode(from, to, n); });
}

}  // namespace tilescope
