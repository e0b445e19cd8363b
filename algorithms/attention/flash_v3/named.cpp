#include "algorithms/attention/flash_v3/named.hpp"

#include <algorithm>
#include <iterator>

#include "algorithms/attention/flash_v3/compiled.hpp"

namespace tilescope::flash_v3 {
namespace {

Index dim_of(const Problem& p) { return std::max(p.dim, p.dim_v); }
/// A window, documents or a block mask: what FlashAttention-3's source calls local.
bool is_local(const Problem& p) { return p.mask.hides() && !p.mask.is_causal(); }

/// How much longer a compiled softmax takes than its instructions: one number a compiler. By hand: what one warp of a
/// sub-core reaches in microbenchmarks. Triton: from FlexAttention's counted cycles at d = 128.
constexpr double by_hand = 1.1, by_triton = 1.4;

/// Cycles until a warpgroup has issued its stores of O, and further ones until O's place is free again.
struct Storing {
    double issued = 0, freed = 0;
};

/// Counted: a store for each 64 columns; above d = 128 cuDNN's next one waits until the last was read. cuDNN stores the
/// rows of a warp, others those of the tile at once, 50 bytes a cycle.
Storing cudnn_stores(Index dim, Index) {
    const double stores = static_cast<double>(ceil_div(dim, 64));
    return {dim <= 128 ? 512 + 50 * (stores - 1) : 930 * stores - 510, 510};
}
Storing usual_stores(Index dim, Index rows) {
    const double stores = static_cast<double>(ceil_div(dim, 64)), bytes = static_cast<double>(rows * dim * 2);
    return {512 + 50 * (stores - 1), bytes / 50 + 180};
}

/// A kernel of a library on this program: which knobs it has for a problem, and what is no knob.
struct NamedKernel {
    Tiling (*tiling)(const Problem&);  ///< br, bc and slots are given
    bool apart = false;
    bool rescales_first = false;  ///< for a head dimension above 128
    bool spills_weights = false;  ///< P goes through shared memory where MmaPV_is_RS of hopper/tile_size.h is false
    bool longest_first = false;   ///< under a mask: Order::longest_in_l2
    OutputPlace output = OutputPlace::own;
    bool rounds_late = false;  ///< P is rounded when the product that reads the last one is done
    double unfused = 0;        ///< instructions an exponential more: scale and maximum apart
    Index batons = 1;          ///< 2: turns at Q K^T and at P V go round by themselves
    double sigma = by_hand;
    Storing (*stores)(Index dim, Index rows) = usual_stores;
    double ragged = 0;  ///< cycles a step where the keys are cut: counted, the mask is applied in every step
    bool pads = true;   ///< head dimensions between those that it is compiled for
    std::optional<StatedError> error = {};  ///< of modelled times: scripts/lanes-forward
};

bool in_8_bits(const Problem& p) { return size_of(p.query_type()) == 1; }

/// hopper/tile_size.h: queries x keys.
Tiling current_tiles(const Problem& p) {
    const Index dim = dim_of(p);
    const bool causal = p.mask.is_causal(), local = is_local(p), hides = causal || local;
    if (in_8_bits(p)) {
        if (dim <= 96) return {192, dim <= 64 ? 160 : 128};
        if (dim <= 128) return {128, p.soft_cap && local ? 192 : 224};
        if (dim <= 192) return {128, p.soft_cap && local ? 128 : 160};
        return {128, local ? 64 : 128};
    }
    if (dim <= 64) return {192, causal ? 128 : local ? 160 : 192};
    if (dim <= 96) return {192, local ? 128 : 144};
    if (dim <= 128) return {128, hides ? 128 : 176};
    if (dim <= 192) return {128, local ? 96 : p.dim_v <= 128 ? 128 : 112};
    return {128, local ? 64 : 80};
}

/// Rings of two tiles of K and two of V. Turns up to d = 128, in 8 bits from d = 128 on (UseSchedulerBarrier in
/// mainloop_fwd_sm90_tma_gmma_ws.hpp); clusters of two from d = 128 on, in 8 bits from 192, where nothing is hidden and
/// the row blocks are even in number; and a counter for masks (flash_fwd_launch_template.h).
Tiling in_flash_attention(const Problem& p, Tiling t) {
    const Index dim = dim_of(p);
    const bool hides = p.mask.hides(), narrow = in_8_bits(p);
    t.slots = 4;
    t.turns = (narrow ? dim >= 128 : dim <= 128) ? on : off, t.overlap = is_local(p) && dim <= 64 && !narrow ? off : on;
    t.cluster = dim >= (narrow ? 192 : 128) && !hides && ceil_div(p.seq_q, t.br) % 2 == 0 ? 2 : 1;
    t.persistent = hides ? by_counter : dealt;
    return t;
}
Tiling fa3_2025(const Problem& p) { return in_flash_attention(p, current_tiles(p)); }
/// The release of July 2024: 192 x 128 for d = 64.
Tiling fa3_2024(const Problem& p) {
    return in_flash_attention(p, dim_of(p) <= 64 && !in_8_bits(p) ? Tiling{192, 128} : current_tiles(p));
}

/// Counted on an H100 and an H200: 132 thread blocks of 384 threads, tiles of 128 x 128, and 134,144 or 232,448 bytes
/// of shared memory. The ring holds whole tiles: two waits for bytes a step, two releases. Above d = 128 a warpgroup
/// waits for its Q K^T and its P V, at d = 64 and 128 for less than either takes.
Tiling cudnn(const Problem& p) {
    const Index dim = dim_of(p), slots = dim <= 64 ? 7 : dim <= 128 ? 6 : 2;
    Tiling t{128, 128};
    t.slots = slots, t.overlap = dim <= 128 ? on : off, t.persistent = by_counter;
    return t;
}
/// Triton's fused attention: 128 x 128, two warpgroups, and four schedules of the same loop.
Tiling triton(Index specialised, Index overlap, Index turns, Index persistent) {
    Tiling t{128, 128};
    t.slots = 4, t.specialised = specialised, t.overlap = overlap, t.turns = turns, t.persistent = persistent;
    return t;
}
/// FlexAttention as compiled for d = 64 (one warpgroup of 128 rows, two thread blocks on an SM) and for d = 128.
Tiling flex(const Problem& p) {
    Tiling t = triton(off, off, off, a_block_each);
    t.slots = 6;
    if (dim_of(p) <= 64) return t.warpgroups = 1, t;
    return t.bc = 64, t;
}

constexpr NamedKernel named_kernels[] = {
    {.tiling = fa3_2024, .apart = true, .rescales_first = true, .output = OutputPlace::ring, .rounds_late = true},
    {.tiling = fa3_2025,
     .apart = true,
     .rescales_first = true,
     .spills_weights = true,
     .longest_first = true,
     .output = OutputPlace::ring,
     .rounds_late = true},
    {.tiling = cudnn,
     .output = OutputPlace::query,
     .unfused = 1,
     .batons = 2,
     .stores = cudnn_stores,
     .ragged = 290,
     .error = StatedError{0.03, 0.11}},
    {.tiling = [](const Problem&) { return triton(off, off, off, a_block_each); }, .sigma = by_triton, .pads = false},
    {.tiling = [](const Problem&) { return triton(on, off, off, a_block_each); }, .sigma = by_triton, .pads = false},
    {.tiling = [](const Problem&) { return triton(on, on, off, a_block_each); }, .sigma = by_triton, .pads = false},
    {.tiling = [](const Problem&) { return triton(on, on, on, dealt); },
     .output = OutputPlace::query,
     .sigma = by_triton,
     .pads = false},
    {.tiling = flex, .sigma = by_triton, .pads = false},
};
static_assert(std::size(named_kernels) == std::size(like_names));

constexpr Index usual = 2;  // fa3-2025

const NamedKernel& named(Index like) { return named_kernels[static_cast<std::size_t>((like > 0 ? like : usual) - 1)]; }

/// setmaxnreg in flash_fwd_kernel_sm90.h, for 1, 2 and 3 warpgroups of consumers. A thread can use 255 of 256.
struct RegistersOf {
    Index consumer = 0, producer = 0;
};
constexpr RegistersOf registers_of[] = {{255, 56}, {240, 24}, {160, 32}};
/// These numbers share out a register file of 256 KiB. Other ones are those of teaching GPUs: lanes take there what
/// their tiles need.
bool shares_out(const GpuSpec& gpu) { return gpu.registers_per_sm == Bytes{256} << 10; }

/// For d <= 64 P goes through shared memory with tiles of 192 x 192, whose S, P and O are too much for the registers of
/// three warpgroups.
bool weights_in_sram(const Problem& p, const Tiling& t, Index groups) {
    if (in_8_bits(p)) return false;
    if (const Index dim = dim_of(p); dim > 64) return dim <= 96;
    constexpr Index threads = 128, bytes = 4;  // of a warpgroup, of a register
    const Index needs = t.br * (bytes * (t.bc + p.dim_v + 3) + size_of(p.query_type()) * t.bc);
    return needs > groups * threads * bytes * registers_of[groups - 1].consumer;
}

constexpr StatedError of_own_kernel = {0.05, 0.16};  // of the survey: docs/validation.md

/// The roles of `tile` that differ from `asked`. Without a mask that shortens row tiles, pairs are dealt out as single
/// ones are.
Tiling other_roles(const Problem& p, const Tiling& tile, const Tiling& asked) {
    Tiling other;
    for (const Knob& k : knobs) {
        const bool dealt_alike = k.value == &Tiling::persistent && asked.persistent == dealt && !in_pairs(p, tile) &&
                                 tile.persistent == dealt_in_pairs;
        if (!k.is_size && k.value != &Tiling::like && tile.*k.value != asked.*k.value && !dealt_alike)
            other.*k.value = tile.*k.value;
    }
    return other;
}

}  // namespace

Tiling released_tiles(const Problem& p, const GpuSpec&) { return fa3_2025(p); }

Tiling complete(const Problem& p, Tiling t, const GpuSpec&) {
    const Tiling whole = named(t.like).tiling(p);
    const auto fill = [&](Index Tiling::*knob, Index otherwise) {
        if (t.*knob == 0) t.*knob = whole.*knob > 0 ? whole.*knob : otherwise;
    };
    fill(&Tiling::br, 128), fill(&Tiling::bc, 128), fill(&Tiling::slots, 4);
    fill(&Tiling::warpgroups, std::clamp<Index>(ceil_div(t.br, 64), 1, 3));
    fill(&Tiling::specialised, on), fill(&Tiling::overlap, on);
    fill(&Tiling::turns, on), fill(&Tiling::cluster, 1), fill(&Tiling::persistent, dealt);
    if (t.warpgroups == 1) t.turns = off;
    return t;
}

LanedKernel laned(const Problem& p, const Tiling& given, const GpuSpec& gpu) {
    const Tiling t = complete(p, given, gpu);
    const NamedKernel& kernel = named(t.like);
    const Roles roles = roles_of(p, t, gpu);
    const Storing stores = kernel.stores(padded(p.dim_v, t), t.br);
    return {.output = kernel.output,
            .slots = roles.apart ? 0 : roles.slots,
            .sigma = kernel.sigma,
            .unfused = kernel.unfused,
            // Of integers, which Hopper has: kernel_rows.cuh. What deals out pairs is our own kernel.
            .maxima = in_8_bits(p) && t.persistent == dealt_in_pairs ? 2.0 : 1.0,
            .rounds_late = kernel.rounds_late,
            .batons = kernel.batons,
            .store = stores.issued,
            .stored = stores.freed,
            .ragged = kernel.ragged,
            .persistent = t.persistent != a_block_each,
            .cluster = t.cluster};
}

/// What the kernels are compiled for: 64, 96 (FlashAttention-3), 128, 192 and 256.
Index padded(Index dim, const Tiling& t) {
    const NamedKernel& kernel = named(t.like);
    if (!kernel.pads) return dim;
    const Index least[] = {64, kernel.apart ? 96 : 128, 128, 192, 256};
    const auto* const found = std::find_if(std::begin(least), std::end(least), [&](Index d) { return d >= dim; });
    return found == std::end(least) ? dim : *found;
}

std::optional<ComparedKernel> compared(const Problem& p, const Tiling& given, const GpuSpec& gpu) {
    if (given.like > 0) {
        const auto error = named(given.like).error;
        return error ? std::optional(ComparedKernel{*error}) : std::nullopt;
    }
    const Tiling asked = complete(p, given, gpu);
    const Compiled* nearest = nullptr;
    for (const Compiled& c : compiled_kernels) {
        const bool same_tiles =
            c.dtype == p.dtype && c.dim == p.dim && c.dim == p.dim_v && c.tile.br == asked.br && c.tile.bc == asked.bc;
        if (same_tiles && (!nearest || other_roles(p, c.tile, asked) == Tiling{})) nearest = &c;
    }
    return nearest ? std::optional(ComparedKernel{of_own_kernel, other_roles(p, nearest->tile, asked)}) : std::nullopt;
}

Order order(const Problem& p, const Tiling& t) {
    const bool own_kernel = t.like == 0 && t.persistent == a_block_each;  // fa3-2025's stay on their SMs
    if (in_pairs(p, t) || own_kernel) return Order::kernel;
    return named(t.like).longest_first && p.mask.hides() ? Order::longest_in_l2 : Order::rows;
}

Roles roles_of(const Problem& p, const Tiling& given, const GpuSpec& gpu) {
    const Tiling t = complete(p, given, gpu);
    const NamedKernel& kernel = named(t.like);
    const Index dim = dim_of(p);
    const bool apart = kernel.apart && t.slots > 1, specialised = t.specialised == on;
    const Index groups = std::min<Index>(t.warpgroups, std::ssize(registers_of));
    const bool in_sram = kernel.spills_weights && weights_in_sram(p, t, groups);
    const auto [of_consumer, of_producer] = specialised && shares_out(gpu) ? registers_of[groups - 1] : RegistersOf{};
    return {.producer = {.warps = 4, .registers_per_thread = of_producer},
            .consumer = {.warps = 4 * groups, .registers_per_thread = of_consumer, .turns = t.turns == on},
            .specialised = specialised,
            .overlap = t.overlap == on,
            .apart = apart,
            .slots = apart ? t.slots - t.slots / 2 : t.slots,
            .slots_of_v = apart ? t.slots / 2 : 0,
            .cluster = t.cluster,
            .width = apart ? p.dim : dim,
            .rescales_first = kernel.rescales_first && dim > 128,
            .weights_in = in_sram ? Space::sram : Space::registers};
}

}  // namespace tilescope::flash_v3
