#include "device/causes.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <string_view>

#include "algorithms/contract/roles.hpp"
#include "lab/model/laned.hpp"

namespace tilescope::device {
using namespace lab;
namespace {

constexpr Index bytes_of_a_sector = 32, lanes = 32, floats_of_a_sector = bytes_of_a_sector / 4;

Index ceil_div(Index a, Index b) { return (a + b - 1) / b; }
Index round_up(Index a, Index step) { return ceil_div(a, step) * step; }

/// Bytes that 32-byte sectors add to a row of fp32 numbers.
Bytes padding(Index numbers) { return 4 * (round_up(numbers, floats_of_a_sector) - numbers); }

bool is(const Experiment& e, std::string_view name) { return e.algorithm->name == name; }
bool is_softmax(const Experiment& e) { return e.algorithm->computes != &computation::attention; }
bool on_tensor_cores(const Experiment& e) { return e.problem.dtype != Dtype::f32; }

bool splits(const Experiment& e) { return has_splits(e.algorithm->knobs); }

/// Rows that a warp owns.
Index rows_of_a_warp(const Experiment& e) { return on_tensor_cores(e) && !splits(e) ? 32 : 16; }
/// Warps that divide a tile's keys among them, where decoding leaves no rows for them.
Index warps_along_keys(const Experiment& e) { return on_tensor_cores(e) && splits(e) && e.tiling.br == 16 ? 4 : 1; }

struct RowBlock {
    Index rows, visited;  ///< key tiles ...
    Index first = 0;      ///< ... from this one on
};

/// The parts of the keys that a row block sees, a thread block each. Blocks whose part is not seen return at once.
void add_parts(std::vector<RowBlock>& blocks, const RowBlock& b, const Experiment& e) {
    const Index part = ceil_div(ceil_div(e.problem.seq_k, e.tiling.bc), std::max<Index>(1, e.tiling.splits));
    for (Index first = 0; first < b.visited; first += part)
        blocks.push_back({b.rows, std::min(part, b.visited - first), first});
}

/// The row blocks of a slice.
std::vector<RowBlock> row_blocks(const Experiment& e) {
    const Problem& p = e.problem;
    const Index br = e.tiling.br, bc = e.tiling.bc;
    const Index diagonal = p.mask.is_causal() ? p.diagonal() : p.seq_k;
    std::vector<RowBlock> blocks;
    for (Index i = 0; i < p.seq_q; i += br) {
        RowBlock b{std::min(br, p.seq_q - i), 0};
        if (is_softmax(e) || is(e, "standard"))
            b.visited = ceil_div(p.seq_k, bc);
        else if (is(e, "flash_v1"))  // its outer loop goes over key tiles, each from the first row block that sees it
            for (Index j = 0; j < p.seq_k; j += bc) b.visited += std::max<Index>(0, j - diagonal) / br * br <= i;
        else
            b.visited = ceil_div(std::clamp<Index>(ceil_div(i + b.rows, p.packed) + diagonal, 0, p.seq_k), bc);
        if (splits(e))
            add_parts(blocks, b, e);
        else
            blocks.push_back(b);
    }
    return blocks;
}

/// Sums over all slices, their row blocks and the key tiles that these visit.
struct Sums {
    Count warps = 0, visits = 0, row_visits = 0, scores = 0;
    Count columns = 0, fours = 0;  ///< keys rounded up to `step`, and to 4, summed over warps
};

Sums sums(const Experiment& e, Index step) {
    const Index bc = e.tiling.bc, along = warps_along_keys(e);
    Sums s;
    for (const RowBlock& b : row_blocks(e)) {
        const Index warps = ceil_div(b.rows, rows_of_a_warp(e));
        s.warps += warps * along, s.row_visits += b.rows * b.visited;
        if (b.visited == 0) continue;
        const Index full = b.visited - 1, last = std::min(bc, e.problem.seq_k - (b.first + full) * bc);
        s.visits += warps * (full * along + ceil_div(last * along, bc));
        s.scores += b.rows * (full * bc + last);
        s.columns += warps * (full * round_up(bc, step) + round_up(last, step));
        s.fours += warps * (full * round_up(bc, 4) + round_up(last, 4));
    }
    const Count slices = e.problem.batch_heads();
    for (Count Sums::*m : {&Sums::warps, &Sums::visits, &Sums::row_visits, &Sums::scores, &Sums::columns, &Sums::fours})
        s.*m *= slices;
    return s;
}

/// What a kernel's source says of its exponentials and FMAs.
struct Source {
    const char* algorithm;
    Index passes;                     ///< over the scores, with exponentials
    Index factors;                    ///< correction factors per row and key tile, in the model
    Index instructions;               ///< for these factors, per warp and key tile
    bool every_visit;                 ///< a reciprocal for each key tile, and not only at the end
    Index products;                   ///< how often S = Q K^T is computed
    Index fma_of_visit, fma_of_warp;  ///< besides the products
};
constexpr Source sources[] = {
    {"softmax_naive", 2, 0, 0, false, 1, 0, 0},    {"softmax_safe", 2, 0, 0, false, 1, 0, 0},
    {"softmax_online", 2, 1, 1, false, 1, 0, 0},   {"standard", 1, 0, 0, false, 1, 0, 0},
    {"three_pass", 2, 0, 0, false, 3, 0, 2},       {"two_pass", 2, 1, 1, false, 2, 1, 2},
    {"flash_v1", 1, 2, 1, true, 1, 3, 0},          {"flash_v2", 1, 1, 1, false, 1, 1, 13},
    {"memory_efficient", 1, 1, 1, false, 1, 1, 2}, {"chunked", 1, 1, 1, false, 1, 1, 2},
    {"split_kv", 1, 1, 1, false, 1, 1, 13},        {"flash_v3", 1, 1, 2, false, 1, 0, 0},
};

const Source* source_of(const Experiment& e) {
    const auto found = std::ranges::find_if(sources, [&](const Source& s) { return is(e, s.algorithm); });
    return found == std::end(sources) ? nullptr : found;
}

std::vector<Cause> of_exponentials(Count ragged, Count factors, Count reciprocals) {
    return {{"ragged tiles", "cause.ragged_tiles", ragged},
            {"correction factors", "cause.correction_factors", factors},
            {"reciprocals", "cause.reciprocals", reciprocals}};
}

/// The second launch of `standard`: T = 8 to 256 threads work on a row, each in steps of 4 columns.
std::vector<Cause> standard_exponentials(const Problem& p) {
    Index threads = 8;
    while (threads < 256 && p.seq_k > 64 * threads) threads *= 2;
    const Index full = p.seq_k / (4 * threads);
    Count of_a_row = 0;
    for (Index first = 0; first < threads; first += lanes)
        of_a_row += 4 * full + 4 * (4 * full * threads + first < p.seq_k);
    const Count slices = p.batch_heads();
    const Count exponentials = ceil_div(p.seq_q, std::max<Index>(1, lanes / threads)) * of_a_row * slices;
    const Count reciprocals = ceil_div(p.seq_q, 256 / threads) * slices;
    return of_exponentials(lanes * exponentials - slices * p.seq_q * p.seq_k, 0, lanes * reciprocals);
}

/// split_kv's second launch. A row has a thread for each four columns.
struct Combining {
    Index lanes_of_a_row, warps, warps_with_rows;  ///< of a slice
    Index rows_of_a_block;

    explicit Combining(const Experiment& e) : lanes_of_a_row(e.problem.dim_v / 4) {
        const Index rows_of_a_warp = std::max<Index>(1, lanes / lanes_of_a_row), warps_of_a_block = 4;
        warps_with_rows = ceil_div(e.problem.seq_q, rows_of_a_warp);
        warps = round_up(warps_with_rows, warps_of_a_block);
        rows_of_a_block = rows_of_a_warp * warps_of_a_block;
    }
    /// Bytes that sectors add to the LSE of `rows` rows.
    Bytes lse_padding(Index rows) const {
        return rows / rows_of_a_block * padding(rows_of_a_block) + padding(rows % rows_of_a_block);
    }
};

/// What this launch adds: exp(LSE_s - max), for as many parts at once as a row has threads; and a reciprocal.
Cause combining(const Experiment& e) {
    const Combining c(e);
    const Count instructions = c.warps * ceil_div(e.tiling.splits, c.lanes_of_a_row) + c.warps_with_rows;
    return {"combining", "cause.combining",
            e.problem.batch_heads() * (lanes * instructions - e.tiling.splits * e.problem.seq_q)};
}

/// The causes for exponentials of a kernel that computes columns in steps of `step`.
std::vector<Cause> exponentials_in_steps(const Experiment& e, const Source& source, Index step) {
    const Sums s = sums(e, step);
    const Count dividing = s.warps / warps_along_keys(e);  // one of the warps that share rows divides
    auto causes = of_exponentials(source.passes * (rows_of_a_warp(e) * s.columns - s.scores),
                                  lanes * source.instructions * s.visits - source.factors * s.row_visits,
                                  lanes * (source.every_visit ? s.visits : dividing));
    if (!splits(e)) return causes;
    causes.push_back(
        {"merging", "cause.merging", warps_along_keys(e) > 1 ? lanes * s.warps : 0});  // a factor for each warp
    causes.push_back(combining(e));
    return causes;
}

/// What flash_v3's kernel does, which loads and computes whole tiles only, of all heads. Thread blocks of a cluster
/// visit what any of their rows sees.
class WholeTiles {
  public:
    explicit WholeTiles(const Experiment& e) : e_(e), t_(with_roles(e)) {
        const Problem& p = e.problem;
        const Index diagonal = p.mask.is_causal() ? p.diagonal() : p.seq_k, rows = t_.cluster * t_.br;
        for (Index i = 0; i < p.seq_q; i += rows, ++clusters_of_head_) {
            const Index end = std::min(i + rows, p.seq_q);
            const Index visited = ceil_div(std::clamp<Index>(end + diagonal, 0, p.seq_k), t_.bc);
            visits_ += t_.cluster * visited, seeing_ += visited > 0 ? t_.cluster : 0;
        }
    }

    std::vector<Cause> reads() const {
        std::vector<Cause> causes = {boxes()};
        if (e_.problem.scaled(e_.problem.dtype)) causes.push_back(scales());
        return causes;
    }

    /// The boxes of Q, K and V. Rows beyond the ends are filled with zeros, and counted all the same.
    Cause boxes() const {
        const Problem& p = e_.problem;
        const Count keys = p.dim + p.dim_v;
        Count counted = p.seq_q * p.dim;
        for (const RowBlock& b : row_blocks(e_)) counted += std::min(b.visited * t_.bc, p.seq_k) * keys;
        const Count loaded = seeing_ * t_.br * p.dim + visits_ * t_.bc * keys;
        return {"boxes", "cause.boxes", p.batch_heads() * size_of(p.dtype) * (loaded - counted)};
    }

    /// A scale fills a part of a sector. Each row tile reads three, from the L2 unless its SM has just read them.
    Cause scales() const {
        const Count read = 3 * e_.problem.batch_heads() * t_.cluster * clusters_of_head_;
        return {"sectors", "cause.sectors", (bytes_of_a_sector - 4) * read};
    }

    /// A lane has a part of two of its warp's 16 rows, so that a factor or a reciprocal of each row takes two
    /// instructions.
    std::vector<Cause> exponentials() const {
        const Sums s = sums(e_, t_.bc);
        const Count heads = e_.problem.batch_heads(), warps = t_.br / 16, of_rows = 2 * lanes;
        auto causes = of_exponentials(heads * t_.br * t_.bc * visits_ - s.scores,
                                      heads * of_rows * warps * visits_ - s.row_visits,
                                      heads * of_rows * warps * t_.cluster * clusters_of_head_);
        causes.push_back({"dealing out", "cause.dealing_out", dealing_out()});
        return causes;
    }

  private:
    /// All warps (but one that is idle, where no V is turned) divide by the number of thread blocks in each round, and
    /// by the row tiles of a head for each that they get. A division takes three instructions.
    Count dealing_out() const {
        constexpr Index of_a_division = 3;
        const Index producers = size_of(e_.problem.dtype) == 1 ? 4 : 3;
        const Count all = clusters_of_head_ * e_.problem.batch_heads();
        const Count there = t_.persistent == a_block_each ? all : std::min<Count>(all, e_.gpu.sms / t_.cluster);
        const bool paired = in_pairs(e_.problem, t_) && all > there;
        const Count dealt_out = paired ? ceil_div(clusters_of_head_, 2) * e_.problem.batch_heads() : all;
        const Count warps = 4 * t_.warpgroups + (t_.specialised == on ? producers : 0);
        return lanes * of_a_division * warps * t_.cluster * (round_up(dealt_out, there) + dealt_out);
    }

    const Experiment& e_;
    const Tiling t_;
    Index clusters_of_head_ = 0;     ///< row tiles, those of a cluster as one
    Count visits_ = 0, seeing_ = 0;  ///< of a head: visits of key tiles; row tiles that have any
};

std::vector<Cause> exponential_causes(const Experiment& e, const Source& source, double beyond) {
    if (is(e, "standard")) return standard_exponentials(e.problem);
    if (is(e, "flash_v3")) return WholeTiles(e).exponentials();
    if (!on_tensor_cores(e)) return exponentials_in_steps(e, source, 16);
    // The compiler may skip pieces of 8 columns, or issue all and switch some off.
    const auto off = [&](const std::vector<Cause>& causes) {
        double left = beyond;
        for (const Cause& c : causes) left -= static_cast<double>(c.amount);
        return std::abs(left);
    };
    auto skipped = exponentials_in_steps(e, source, 8),
         issued = exponentials_in_steps(e, source, e.tiling.bc / warps_along_keys(e));
    return off(issued) < off(skipped) ? issued : skipped;
}

std::vector<Cause> fma_causes(const Experiment& e, const Source& source) {
    if (is_softmax(e) || on_tensor_cores(e)) return {};  // no products, or none that are FMAs
    const Sums s = sums(e, 16);
    const Index dim = source.products * e.problem.dim, dim_v = e.problem.dim_v;
    const Count simulated = 2 * s.scores * (dim + dim_v);
    const Count done = 2 * 16 * (s.columns * dim + s.fours * dim_v);
    const Count rows = e.problem.batch_heads() * e.problem.seq_q;
    Count statistics = is(e, "standard") ? 4 * rows  // a reciprocal for each row
                                         : 2 * lanes * (source.fma_of_visit * s.visits + source.fma_of_warp * s.warps);
    if (splits(e)) statistics += 2 * rows * (2 * Combining(e).lanes_of_a_row + 11);  // and a logarithm
    return {{"ragged tiles", "cause.ragged_tiles", done - simulated},
            {"row statistics", "cause.row_statistics", statistics}};
}

/// In split_kv's LSE_s the parts of a row lie side by side: each is written alone, and those of a row are read
/// together. In LSE, each combining block writes its rows. With one part, LSE_s is laid out as LSE.
Bytes sectors_of_parts(const Experiment& e, bool writes) {
    const Index rows = e.problem.seq_q, parts = e.tiling.splits;
    const Combining c(e);
    const Bytes by_warps = bytes_of_a_sector * c.warps_with_rows - 4 * rows;
    const Bytes lse_s = parts == 1 ? (writes ? padding(rows) : by_warps)
                        : writes   ? (bytes_of_a_sector - 4) * parts * rows
                                   : rows * padding(parts);
    return e.problem.batch_heads() * (lse_s + (writes ? c.lse_padding(rows) : 0));
}

/// Bytes that ragged rows of fp32 numbers add, because their ends fill only a part of a sector.
Bytes sectors(const Experiment& e, bool writes) {
    const Problem& p = e.problem;
    const Count slices = p.batch_heads();
    if (is_softmax(e)) {
        const Index passes = writes ? 1 : is(e, "softmax_safe") ? 3 : 2;
        return slices * p.seq_q * padding(p.seq_k) * passes;
    }
    if (is(e, "standard")) return slices * p.seq_q * padding(p.seq_k) * 2;
    if (splits(e)) return sectors_of_parts(e, writes);
    const RowBlock last = row_blocks(e).back();
    if (is(e, "flash_v1"))  // l and m, set to begin with, then updated
        return slices * 2 * padding(last.rows) * (last.visited + writes);
    if (is(e, "chunked")) return slices * 2 * padding(last.rows) * last.visited;                // m_j and s_j
    return (is(e, "flash_v2") || is(e, "flash_v3")) && writes ? slices * padding(p.seq_q) : 0;  // LSE
}

}  // namespace

bool has_causes(const Experiment& e) {
    if (is(e, "flash_v3")) return on_tensor_cores(e) && e.tiling.like == 0;  // else a library's kernel
    return source_of(e) && (!on_tensor_cores(e) || is(e, "flash_v2") || is(e, "split_kv"));
}

std::vector<Cause> causes_of(Counted what, const Experiment& e, double beyond) {
    if (!has_causes(e)) return {};
    const Source& source = *source_of(e);
    switch (what) {
        case Counted::reads:
            if (is(e, "flash_v3")) return WholeTiles(e).reads();
            [[fallthrough]];
        case Counted::writes:
            return {{"sectors", "cause.sectors", sectors(e, what == Counted::writes)}};
        case Counted::exponentials:
            return exponential_causes(e, source, beyond);
        case Counted::fma_flops:
            return fma_causes(e, source);
    }
    return {};
}

}  // namespace tilescope::device
