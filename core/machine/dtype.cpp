#include "core/machine/dtype.hpp"

#include <Eigen/Core>
#include <cstring>

#include "core/machine/half.hpp"

namespace tilescope {
namespace {

template <class T>
using Stored = Eigen::Map<Eigen::Array<T, Eigen::Dynamic, 1>>;
template <class T>
using ConstStored = Eigen::Map<const Eigen::Array<T, Eigen::Dynamic, 1>>;

template <class T>
void encode_as(const float* from, std::byte* to, Index n) {
    Stored<T>(reinterpret_cast<T*>(to), n) = ConstStored<float>(from, n).cast<T>();
}

template <class T>
void decode_as(const std::byte* from, float* to, Index n) {
    Stored<float>(to, n) = ConstStored<T>(reinterpret_cast<const T*>(from), n).template cast<float>();
}

template <class T>
void round_as(float* x, Index n) {
    Stored<float> a(x, n);
    a = a.cast<T>().template cast<float>();
}

template <>
void encode_as<Half>(const float* from, std::byte* to, Index n) {
    auto* const halves = reinterpret_cast<std::uint16_t*>(to);
    for (Index k = 0; k < n; ++k) halves[k] = Half::encoded(from[k]);
}

template <>
void decode_as<Half>(const std::byte* from, float* to, Index n) {
    const auto* const halves = reinterpret_cast<const std::uint16_t*>(from);
    for (Index k = 0; k < n; ++k) to[k] = Half::decoded(halves[k]);
}

template <>
void round_as<Half>(float* x, Index n) {
    for (Index k = 0; k < n; ++k) x[k] = Half::rounded(x[k]);
}

}  // namespace

const char* name_of(Dtype t) {
    switch (t) {
        case Dtype::f32:
            return "f32";
        case Dtype::f16:
            return "f16";
        case Dtype::bf16:
            return "bf16";
        case Dtype::i32:
            return "i32";
        case Dtype::u8:
            return "u8";
    }
    return "?";
}

std::optional<Dtype> dtype_from(std::string_view name) {
    for (Dtype t : {Dtype::f32, Dtype::f16, Dtype::bf16})
        if (name == name_of(t)) return t;
    return std::nullopt;
}

void round_to(Dtype t, float* x, Index n) {
    if (t == Dtype::f16) round_as<Half>(x, n);
    if (t == Dtype::bf16) round_as<Eigen::bfloat16>(x, n);
}

void encode(Dtype t, const float* from, std::byte* to, Index n) {
    if (n == 0) return;  // an empty range may be at nullptr, which memcpy does not allow
    switch (t) {
        case Dtype::f32:
            std::memcpy(to, from, static_cast<std::size_t>(n) * sizeof(float));
            break;
        case Dtype::f16:
            encode_as<Half>(from, to, n);
            break;
        case Dtype::bf16:
            encode_as<Eigen::bfloat16>(from, to, n);
            break;
        case Dtype::i32:
            encode_as<std::int32_t>(from, to, n);
            break;
        case Dtype::u8:
            encode_as<std::uint8_t>(from, to, n);
            break;
    }
}

void decode(Dtype t, const std::byte* from, float* to, Index n) {
    if (n == 0) return;  // an empty range may be at nullptr, which memcpy does not allow
    switch (t) {
        case Dtype::f32:
            std::memcpy(to, from, static_cast<std::size_t>(n) * sizeof(float));
            break;
        case Dtype::f16:
            decode_as<Half>(from, to, n);
            break;
        case Dtype::bf16:
            decode_as<Eigen::bfloat16>(from, to, n);
            break;
        case Dtype::i32:
            decode_as<std::int32_t>(from, to, n);
            break;
        case Dtype::u8:
            decode_as<std::uint8_t>(from, to, n);
            break;
    }
}

}  // namespace tilescope
