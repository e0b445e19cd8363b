// wgmma: products that a warpgroup (four warps) asks the tensor cores for and does not wait for. For f16, bf16 and
// e4m3, on compute capability 9.0 alone (PTX ISA, "Asynchronous Warpgroup Level Matrix Multiply-Accumulate Operation").
//
// The accumulator of a product is 64 rows. Warp w of the warpgroup has rows 16 w to 16 w + 15, laid out as in
// mma.sync's tiles: element 4 n + e of lane 4 g + q is in column 8 n + 2 q + e % 2 of row g + 8 (e / 2).
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include <cstdint>
#include <type_traits>

namespace tilescope::cuda {

/// Bytes of a row of a panel: shared memory holds tiles as panels, one after the other, whose rows of 128 bytes are
/// swizzled in groups of eight; of a tile with 64 bytes in a row, rows have 64.
inline constexpr int row_of_panel = 128;
/// Bytes of a row of A, and of B^T, in one product.
inline constexpr int row_of_product = 32;

/// An address, or a distance, in the form in which wgmma is told: 18 bits without the last four.
__device__ constexpr std::uint64_t address_bits(unsigned bytes) { return (bytes & 0x3ffff) >> 4; }
/// What wgmma is told about an operand in shared memory: where it begins, how far each panel is from the next, and the
/// bytes of a panel's row.
template <int row = row_of_panel>
__device__ inline std::uint64_t operand(unsigned address, unsigned panel) {
    static_assert(row == 128 || row == 64);
    constexpr std::uint64_t swizzle = std::uint64_t{row == 128 ? 1 : 2} << 62;
    return swizzle | address_bits(8 * row) << 32 | address_bits(panel) << 16 | address_bits(address);
}

/// Before products are asked for: registers that they read or add to may have been written.
__device__ inline void begin_products() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ inline void end_products() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
/// Keeps the compiler from moving what reads or writes `x` across this place.
template <int n>
__device__ inline void pin(float (&x)[n]) {
#pragma unroll
    for (int i = 0; i < n; ++i) asm volatile("" : "+f"(x[i])::"memory");
}
/// Waits until at most `pending` of the last batches of products are not done, the one that makes `x` not among them.
template <int pending, int n>
__device__ inline void wait_for_products(float (&x)[n]) {
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(pending) : "memory");
    pin(x);
}

/// Products of 64 x k and k x N; k: 16, or 32 for e4m3. `scores`: A and B^T are in shared memory; C = A B, or, with
/// `add`, C += A B. `sums`: A is in registers, B in shared memory, or, for e4m3, B^T; C += A B.
template <int N>
struct Wgmma;

#define TILESCOPE_0_31                                                                                               \
    "%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29," \
    "%30,%31"
#define TILESCOPE_0_39 TILESCOPE_0_31 ",%32,%33,%34,%35,%36,%37,%38,%39"
#define TILESCOPE_0_47 TILESCOPE_0_39 ",%40,%41,%42,%43,%44,%45,%46,%47"
#define TILESCOPE_0_63 TILESCOPE_0_47 ",%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63"
#define TILESCOPE_0_87 \
    TILESCOPE_0_63     \
    ",%64,%65,%66,%67,%68,%69,%70,%71,%72,%73,%74,%75,%76,%77,%78,%79,%80,%81,%82,%83,%84,%85,%86,%87"
#define TILESCOPE_0_95 TILESCOPE_0_87 ",%88,%89,%90,%91,%92,%93,%94,%95"
#define TILESCOPE_0_127                                                            \
    TILESCOPE_0_95                                                                 \
    ",%96,%97,%98,%99,%100,%101,%102,%103,%104,%105,%106,%107,%108,%109,%110,%111" \
    ",%112,%113,%114,%115,%116,%117,%118,%119,%120,%121,%122,%123,%124,%125,%126,%127"
#define TILESCOPE_C8(i)                                                                                         \
    "+f"(c[i]), "+f"(c[i + 1]), "+f"(c[i + 2]), "+f"(c[i + 3]), "+f"(c[i + 4]), "+f"(c[i + 5]), "+f"(c[i + 6]), \
        "+f"(c[i + 7])
#define TILESCOPE_C32() TILESCOPE_C8(0), TILESCOPE_C8(8), TILESCOPE_C8(16), TILESCOPE_C8(24)
#define TILESCOPE_C40() TILESCOPE_C32(), TILESCOPE_C8(32)
#define TILESCOPE_C48() TILESCOPE_C40(), TILESCOPE_C8(40)
#define TILESCOPE_C64() TILESCOPE_C48(), TILESCOPE_C8(48), TILESCOPE_C8(56)
#define TILESCOPE_C88() TILESCOPE_C64(), TILESCOPE_C8(64), TILESCOPE_C8(72), TILESCOPE_C8(80)
#define TILESCOPE_C96() TILESCOPE_C88(), TILESCOPE_C8(88)
#define TILESCOPE_C128() TILESCOPE_C96(), TILESCOPE_C8(96), TILESCOPE_C8(104), TILESCOPE_C8(112), TILESCOPE_C8(120)

// The operands after the accumulator, which is numbered first, are x1, x2, ... REGISTERS is a macro's name, so that its
// commas come last. KIND: k and the types; MAJORS: which of the operands in shared memory are stored by columns, where
// their type can be.
#define TILESCOPE_SCORES(N, KIND, MAJORS, NUMBERS, REGISTERS, x1, x2, x3)                                              \
    asm volatile("{\n.reg .pred add;\nsetp.ne.b32 add, " x3                                                            \
                 ", 0;\n"                                                                                              \
                 "wgmma.mma_async.sync.aligned.m64n" #N KIND " {" NUMBERS "}, " x1 ", " x2 ", add, 1, 1" MAJORS ";\n}" \
                 : REGISTERS()                                                                                         \
                 : "l"(a), "l"(b), "r"(static_cast<int>(add)))
#define TILESCOPE_SUMS(N, KIND, MAJORS, NUMBERS, REGISTERS, x1, x2, x3, x4, x5)                          \
    asm volatile(                                                                                        \
        "{\n.reg .pred add;\nsetp.ne.b32 add, 1, 0;\n"                                                   \
        "wgmma.mma_async.sync.aligned.m64n" #N KIND " {" NUMBERS "}, {" x1 "," x2 "," x3 "," x4 "}, " x5 \
        ", add, 1, 1" MAJORS ";\n}"                                                                      \
        : REGISTERS()                                                                                    \
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b))
#define TILESCOPE_WGMMA(N, NUMBERS, REGISTERS, x1, x2, x3, x4, x5)                                     \
    template <>                                                                                        \
    struct Wgmma<N> {                                                                                  \
        template <class T>                                                                             \
        __device__ static void scores(float (&c)[N / 2], std::uint64_t a, std::uint64_t b, bool add) { \
            if constexpr (std::is_same_v<T, __half>)                                                   \
                TILESCOPE_SCORES(N, "k16.f32.f16.f16", ", 0, 0", NUMBERS, REGISTERS, x1, x2, x3);      \
            else if constexpr (std::is_same_v<T, __nv_bfloat16>)                                       \
                TILESCOPE_SCORES(N, "k16.f32.bf16.bf16", ", 0, 0", NUMBERS, REGISTERS, x1, x2, x3);    \
            else                                                                                       \
                TILESCOPE_SCORES(N, "k32.f32.e4m3.e4m3", "", NUMBERS, REGISTERS, x1, x2, x3);          \
        }                                                                                              \
        template <class T>                                                                             \
        __device__ static void sums(float (&c)[N / 2], const unsigned (&a)[4], std::uint64_t b) {      \
            if constexpr (std::is_same_v<T, __half>)                                                   \
                TILESCOPE_SUMS(N, "k16.f32.f16.f16", ", 1", NUMBERS, REGISTERS, x1, x2, x3, x4, x5);   \
            else if constexpr (std::is_same_v<T, __nv_bfloat16>)                                       \
                TILESCOPE_SUMS(N, "k16.f32.bf16.bf16", ", 1", NUMBERS, REGISTERS, x1, x2, x3, x4, x5); \
            else                                                                                       \
                TILESCOPE_SUMS(N, "k32.f32.e4m3.e4m3", "", NUMBERS, REGISTERS, x1, x2, x3, x4, x5);    \
        }                                                                                              \
    };

TILESCOPE_WGMMA(64, TILESCOPE_0_31, TILESCOPE_C32, "%32", "%33", "%34", "%35", "%36")
TILESCOPE_WGMMA(80, TILESCOPE_0_39, TILESCOPE_C40, "%40", "%41", "%42", "%43", "%44")
TILESCOPE_WGMMA(96, TILESCOPE_0_47, TILESCOPE_C48, "%48", "%49", "%50", "%51", "%52")
TILESCOPE_WGMMA(128, TILESCOPE_0_63, TILESCOPE_C64, "%64", "%65", "%66", "%67", "%68")
TILESCOPE_WGMMA(176, TILESCOPE_0_87, TILESCOPE_C88, "%88", "%89", "%90", "%91", "%92")
TILESCOPE_WGMMA(192, TILESCOPE_0_95, TILESCOPE_C96, "%96", "%97", "%98", "%99", "%100")
TILESCOPE_WGMMA(256, TILESCOPE_0_127, TILESCOPE_C128, "%128", "%129", "%130", "%131", "%132")

}  // namespace tilescope::cuda
