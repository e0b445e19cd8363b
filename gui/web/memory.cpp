// Where code is to be small, emscripten links a library that copies and compares byte by byte. WebAssembly has
// instructions for copies; from some bytes on, they are worth their start-up cost.
#include <cstddef>
#include <cstdint>

namespace {
constexpr std::size_t few = 32;  // bytes
}

extern "C" {

void* memcpy(void* to, const void* from, std::size_t n) {
    if (n >= few) return __builtin_memcpy(to, from, n);
    auto* const a = static_cast<unsigned char*>(to);
    const auto* const b = static_cast<const unsigned char*>(from);
    for (std::size_t k = 0; k < n; ++k) a[k] = b[k];
    return to;
}

void* memmove(void* to, const void* from, std::size_t n) { return __builtin_memmove(to, from, n); }

void* memset(void* to, int byte, std::size_t n) {
    if (n >= few) return __builtin_memset(to, byte, n);
    auto* const a = static_cast<unsigned char*>(to);
    for (std::size_t k = 0; k < n; ++k) a[k] = static_cast<unsigned char>(byte);
    return to;
}

int memcmp(const void* left, const void* right, std::size_t n) {
    const auto* const a = static_cast<const unsigned char*>(left);
    const auto* const b = static_cast<const unsigned char*>(right);
    std::size_t k = 0;
    for (; k + sizeof(std::uint64_t) <= n; k += sizeof(std::uint64_t)) {  // while words are equal
        std::uint64_t x, y;
        __builtin_memcpy(&x, a + k, sizeof x);
        __builtin_memcpy(&y, b + k, sizeof y);
        if (x != y) break;
    }
    for (; k < n; ++k)
        if (a[k] != b[k]) return a[k] < b[k] ? -1 : 1;
    return 0;
}
}
