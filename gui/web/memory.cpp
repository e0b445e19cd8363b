// The library that emscripten links where code is to be small copies byte by byte. WebAssembly has instructions for it,
// which are worth their start from some bytes on.
#include <cstddef>

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
}
