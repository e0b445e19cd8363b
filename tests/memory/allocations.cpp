#include "tests/memory/allocations.hpp"

#include <dlfcn.h>
#include <execinfo.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <limits>
#include <new>
#include <string_view>

extern "C" {
void* __real_malloc(std::size_t);
void __real_free(void*);
}

namespace tilescope::testing {
namespace {

constexpr long never = std::numeric_limits<long>::max();

// Initialised before anything allocates.
constinit std::atomic<long> live{0}, calls_made{0}, first_failure{never}, last_failure{never};

/// Whether a library's header code allocates, and not ours: by the innermost function with a known name that belongs to
/// either. (Functions in unnamed namespaces have no known name; their callers decide.)
bool library_asks() {
    void* frames[64];
    const int n = backtrace(frames, 64);
    for (int k = 2; k < n; ++k) {
        Dl_info info{};
        if (dladdr(frames[k], &info) == 0 || !info.dli_sname) continue;
        const std::string_view name = info.dli_sname;
        if (name.find("9tilescope") != name.npos) return false;
        if (name.find("8nlohmann") != name.npos || name.find("3CLI") != name.npos) return true;
    }
    return false;
}

void* take(std::size_t size, std::size_t alignment) noexcept {
    if (const long call = ++calls_made; call >= first_failure && call <= last_failure && !library_asks())
        return nullptr;
    // Rounded up to a multiple of the alignment, as std::aligned_alloc() requires.
    size = std::max<std::size_t>(1, (size + alignment - 1) / alignment) * alignment;
    void* p = alignment <= alignof(std::max_align_t) ? __real_malloc(size) : std::aligned_alloc(alignment, size);
    if (p) ++live;
    return p;
}

void* take_or_throw(std::size_t size, std::size_t alignment) {
    if (void* p = take(size, alignment)) return p;
    throw std::bad_alloc();
}

void give(void* p) noexcept {
    if (p) --live;
    __real_free(p);
}

}  // namespace

long live_allocations() { return live; }

FailingAllocation::FailingAllocation(long n, Kind kind) {
    calls_made = 0;
    last_failure = kind == Kind::once ? n : never;
    first_failure = n;
}
FailingAllocation::~FailingAllocation() { first_failure = never; }

long FailingAllocation::calls() const { return calls_made; }

}  // namespace tilescope::testing

using tilescope::testing::give;
using tilescope::testing::take;
using tilescope::testing::take_or_throw;

extern "C" {
void* __wrap_malloc(std::size_t n) { return take(n, 1); }
void __wrap_free(void* p) { give(p); }
}

constexpr std::size_t usual = alignof(std::max_align_t);

void* operator new(std::size_t n) { return take_or_throw(n, usual); }
void* operator new[](std::size_t n) { return take_or_throw(n, usual); }
void* operator new(std::size_t n, std::align_val_t a) { return take_or_throw(n, static_cast<std::size_t>(a)); }
void* operator new[](std::size_t n, std::align_val_t a) { return take_or_throw(n, static_cast<std::size_t>(a)); }
void* operator new(std::size_t n, const std::nothrow_t&) noexcept { return take(n, usual); }
void* operator new[](std::size_t n, const std::nothrow_t&) noexcept { return take(n, usual); }
void operator delete(void* p) noexcept { give(p); }
void operator delete[](void* p) noexcept { give(p); }
void operator delete(void* p, std::size_t) noexcept { give(p); }
void operator delete[](void* p, std::size_t) noexcept { give(p); }
void operator delete(void* p, std::align_val_t) noexcept { give(p); }
void operator delete[](void* p, std::align_val_t) noexcept { give(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { give(p); }
void operator delete[](void* p, std::size_t, std::align_val_t) noexcept { give(p); }
void operator delete(void* p, const std::nothrow_t&) noexcept { give(p); }
void operator delete[](void* p, const std::nothrow_t&) noexcept { give(p); }
