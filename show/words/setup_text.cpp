#include "show/words/setup_text.hpp"

#include "core/text/numbers.hpp"
#include "core/text/version.hpp"
#include "core/text/words.hpp"
#include "lab/model/published_tiles.hpp"
#include "lab/run/covers.hpp"

namespace tilescope::show {
using namespace lab;
namespace {

std::string shape_text(const Tiling& t) { return std::to_string(t.br) + " × " + std::to_string(t.bc); }

}  // namespace

std::string tiling_text(const Options& o, const Tiling& now, const Problem& p) {
    const auto size = [](Index n, const std::string& given) {
        return std::to_string(n) + (given == "auto" ? " (auto)" : "");
    };
    return size(now.br, o.br) + " × " + size(now.bc, o.bc) + ": " + text::grouped(ceil_div(p.seq_q, now.br)) + " × " +
           text::grouped(ceil_div(p.seq_k, now.bc)) + " tiles" +
           (now.splits > 0 ? ", " + text::counted(now.splits, "part") : "");
}

std::string tile_rule_text(const Request* r, const Algorithm& algorithm) {
    std::string text = "Where Br and Bc come from that are auto.";
    if (!r) return text;
    const PublishedTiles kernel = published_tiles(algorithm, r->problem, r->gpu);
    text += " As released kernels have them: " + shape_text(kernel.tiling) + ", " + kernel.source;
    return text + ". Halved where they do not fit on chip.";
}

std::string about_rule(TileRule rule) {
    switch (rule) {
        case TileRule::paper:
            return "FlashAttention's Algorithm 1: with M the SRAM of a thread block in elements, Bc = ceil(M / 4d) and "
                   "Br = min(Bc, d), halved until every tile fits on chip.";
        case TileRule::best:
            return "A search for the least modelled time: seconds to minutes. --objective asks for the least traffic.";
        default:
            return "As released kernels have them for this GPU, head dimension, type and mask, halved until every tile "
                   "fits on chip.";
    }
}

std::string about_parts(bool own_rule) {
    return std::string("Parts of the keys, each a thread block's. × leaves their number to ") +
           (own_rule ? "the algorithm, which has a rule of its own." : "the rule below.");
}

std::string about_rule(SplitRule rule) {
    return rule == SplitRule::fa2
               ? "FlashAttention-2's: the fewest parts that fill waves of two thread blocks an SM to "
                 "85% of the best share."
               : "FlashAttention-3's: as FlashAttention-2's, with one thread block an SM.";
}

std::string about_packing(Packing packing) {
    switch (packing) {
        case Packing::on:
            return "Rows of the query heads that share K and V stand in one tile: K and V are read once for all.";
        case Packing::off:
            return "Every query head has tiles of its own, and reads K and V for itself.";
        default:
            return "Packed where there is one query, as FlashAttention-2 does it.";
    }
}

std::string about_model(const Model& model, Phase phase) {
    const ModelShape& m = model.in(phase);
    const Index kv_heads = m.kv_heads.value_or(m.heads);
    return model.title + (phase == Phase::decode ? ", a token after a context: " : ", a prompt at once: ") +
           text::grouped(m.heads) + " heads of queries, " + text::grouped(kv_heads) +
           " of keys, d = " + text::grouped(m.dim) + ", N = " + text::grouped(m.seq) + ", " + m.dtype + ".";
}

std::string about_distribution(Distribution distribution) {
    switch (distribution) {
        case Distribution::normal:
            return "Random, N(0, 1).";
        case Distribution::uniform:
            return "Random, from -1 to 1.";
        case Distribution::outliers:
            return "Normal, and one in a thousand ten times as wide.";
        case Distribution::sentence:
            return "\"the cat slept because it had caught mice\", again and again: it looks at cat, mice at caught. O "
                   "is "
                   "the weight of each word.";
        case Distribution::band:
            return "Every query looks at the keys beside it: an eighth of them to either side has most of the weight.";
        case Distribution::sink:
            return "All queries look at the first key: it has more than half of every row.";
        case Distribution::new_maximum:
            return "Logits grow from key to key: every block of keys has a new maximum, and O is rescaled.";
        default:
            return "Logits around 100: without the maximum exp leaves what f32 holds, with it all is right.";
    }
}

std::string about_order(Order order) {
    switch (order) {
        case Order::heads:
            return "The same row block of all heads, then the next.";
        case Order::rows:
            return "All row blocks of a head, then the next head.";
        case Order::longest:
            return "The row blocks of all heads that see most keys first.";
        case Order::snake:
            return "Rows of one head forwards, of the next one backwards.";
        default:
            return "As kernels have it: rows, backwards where some see more keys than others.";
    }
}

std::string machine_text(const GpuSpec& gpu) {
    return "A thread block has " + text::binary_bytes(gpu.sram_per_block) + " of SRAM and " +
           text::binary_bytes(gpu.registers_per_sm) + " of registers.";
}

std::string overflow_title(const Overflow& o) {
    const std::string fails = std::string(" does not fit in ") + (o.error.space == Space::sram ? "SRAM" : "registers");
    const auto sizes = [](const Tiling& t) {
        if (t.br > 0 && t.bc > 0) return "Br × Bc = " + shape_text(t);
        return t.br > 0 ? "Br = " + std::to_string(t.br) : "Bc = " + std::to_string(t.bc);
    };
    Tiling chosen = o.tiling;
    if (o.given.br > 0) chosen.br = 0;
    if (o.given.bc > 0) chosen.bc = 0;
    const bool some = o.given.br > 0 || o.given.bc > 0, completed = chosen.br > 0 || chosen.bc > 0;
    return o.algorithm + (some ? " with " + sizes(o.given) : "") + fails +
           (completed ? ", not even with " + sizes(chosen) : "");
}

std::string capacity_text(const OutOfChipMemory& e) { return "one thread block has " + text::binary_bytes(e.capacity); }

std::string need_text(const OutOfChipMemory& e) {
    return "needs " + text::binary_bytes(e.used + e.wanted.bytes) + ": " + text::binary_bytes(e.missing()) +
           " too much";
}

std::string fix_text(const Tiling& fitting) { return "Use Br × Bc = " + shape_text(fitting); }

std::string tile_size(const LiveTile& tile) { return text::binary_bytes(tile.bytes); }

std::string about_tile(const LiveTile& t) {
    return t.name + "  " + std::to_string(t.rows) + " × " + std::to_string(t.cols) + " " + name_of(t.dtype) + "  " +
           tile_size(t);
}

std::string making_text(const Job::Progress& p) {
    return p.done == 0 ? "counting"
                       : "recording " + std::to_string(100 * p.done / std::max<Index>(1, p.done + p.left)) + "%";
}

std::string caption_text(const Session& session, bool of_time) {
    if (!session.request()) return "";
    const Problem& p = session.request()->problem;
    std::string said = session.setup().algorithm;
    if (session.rival()) said += std::string(" and ") + session.rival()->algorithm().name;
    if (p.seq_q == p.seq_k)
        said += ", N = " + text::grouped(p.seq_q);
    else
        said += ", " + text::grouped(p.seq_q) + " queries and " + text::grouped(p.seq_k) + " keys";
    said += ", d = " + text::grouped(p.dim);
    const Index heads = p.batch * p.heads;
    said += heads == 1 ? ", one head" : ", " + text::grouped(heads) + " heads";
    if (p.mask.is_causal()) said += ", " + mask_words(p);
    if (session.tiling() && !session.rival()) said += ", tiles " + shape_text(*session.tiling());
    return said + (of_time ? "; time modelled by" : "; SM traffic counted by") + " TileScope " + text::version() + ".";
}

std::string about_files_text(const Session& session) {
    if (!session.request()) return "";
    std::vector<std::string> said = session.request()->notes;
    if (const std::string& remark = session.request()->remark; !remark.empty()) said.insert(said.begin(), remark);
    return text::join(said, "; ");
}

std::string problem_text(const std::string& problem) { return "This cannot run: " + problem; }

}  // namespace tilescope::show
