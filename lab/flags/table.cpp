#include "lab/flags/table.hpp"

#include <optional>
#include <vector>

#include "algorithms/contract/problem.hpp"
#include "algorithms/contract/validate.hpp"
#include "core/text/numbers.hpp"
#include "core/time/dispatch.hpp"
#include "lab/flags/in_flags.hpp"
#include "lab/flags/mask.hpp"
#include "lab/flags/values.hpp"
#include "lab/mapping.hpp"
#include "lab/model_presets.hpp"

namespace tilescope::lab {
namespace {

constexpr Index most_per_sm = 1024, most_l2 = Index{1} << 50;

std::string text_of(Index n) { return std::to_string(n); }
std::string text_of(std::uint64_t n) { return std::to_string(n); }
std::string text_of(const std::string& s) { return s; }
std::string text_of(bool b) { return b ? "true" : "false"; }
std::string text_of(double x) { return text::exact(x); }
template <class T>
std::string text_of(const std::optional<T>& value) {
    return value ? text_of(*value) : "";
}

// How values are read: (flag, value) to what the member of Options holds.

Index as_size(const std::string& flag, const std::string& v) {
    const Index value = to_index(flag, v);
    in_flags([&] { check_size(flag.c_str() + 2, value); });
    return value;
}
Index as_reach(const std::string& flag, const std::string& v) { return to_index(flag, v, {0, Index{1} << 40, 256}); }
std::string as_tile(const std::string& flag, const std::string& v) {
    const Index rows = to_tile(flag, v);
    return rows > 0 ? std::to_string(rows) : v;
}
std::string as_words(const std::string& /*flag*/, const std::string& v) { return v; }
auto as_whole(Index least, Index most, Index example) {
    return [=](const std::string& flag, const std::string& v) { return to_index(flag, v, {least, most, example}); };
}
auto as_number(const char* example) {
    return [=](const std::string& flag, const std::string& v) { return to_real(flag, v, example); };
}
template <class T, std::size_t N>
auto as_one_of(const T (&values)[N]) {
    return [all = std::span<const T>(values)](const std::string& flag, const std::string& v) {
        return std::string(name_of(to_named(flag, v, all)));
    };
}

class Rows {
  public:
    std::vector<Flag> rows;

    template <class T, class F>
    void add(const char* name, FlagOf of, const char* help, const char* type, const char* fallback, T Options::*member,
             F read) {
        rows.push_back(
            {name, of, help, type, fallback,
             [=, flag = std::string("--") + name](Options& o, const std::string& v) { o.*member = read(flag, v); },
             [=](Options& o) { o.*member = Options().*member; },
             [=](const Options& o) { return o.*member == Options().*member ? std::string() : text_of(o.*member); }});
    }
};

void add_workload(Rows& t) {
    constexpr auto sizes = FlagOf::sizes, attention = FlagOf::attention;
    t.add("model", attention, "A model's name: one layer of it (see `tilescope models`); flags beside it win", "NAME",
          "none", &Options::model, [](const std::string&, const std::string& v) {
              return std::string(in_flags([&] { return model_named(v).name; }));
          });
    t.add("phase", attention, "Of --model: prefill (a prompt of --seq) or decode (one token after --seq)", "PHASE",
          "prefill", &Options::phase, as_one_of(phases));
    t.add("batch", sizes, "Batch size", "N", "1", &Options::batch, as_size);
    t.add("heads", sizes, "Query heads", "N", "8", &Options::heads, as_size);
    t.add("kv-heads", attention, "Heads of K and V (grouped-query attention)", "N", "--heads", &Options::kv_heads,
          as_size);
    t.add("seq", sizes, "Sequence length of queries and keys; 16k is 16384", "N", "1024", &Options::seq, as_size);
    t.add("seq-q", sizes, "Queries (rows, for the softmax kernels)", "N", "--seq", &Options::seq_q, as_size);
    t.add("seq-k", sizes, "Keys (columns, for the softmax kernels)", "N", "--seq", &Options::seq_k, as_size);
    t.add("dim", attention, "Head dimension of Q and K", "N", "64", &Options::dim, as_size);
    t.add("dim-v", attention, "Head dimension of V and O", "N", "--dim", &Options::dim_v, as_size);
    t.add("dtype", sizes, "Storage type: f32, f16 or bf16", "TYPE", "f16", &Options::dtype, as_words);
}

void add_mask(Rows& t) {
    constexpr auto attention = FlagOf::attention;
    t.add("causal", attention, "Query r sees keys <= r + seq_k - seq_q, or as --causal-corner says", nullptr, nullptr,
          &Options::causal, to_bool);
    t.add(
        "causal-corner", attention,
        "Which query and key stand side by side: the last (bottom-right, as in FlashAttention) or the first (top-left, "
        "as in PyTorch, JAX and ONNX: query r sees keys <= r)",
        "CORNER", "bottom-right", &Options::causal_corner, as_one_of(corners));
    t.add("window-left", attention,
          "Keys before its own place that a query sees, of all; with --causal a sliding window", "N", "all",
          &Options::window_left, as_reach);
    t.add("window-right", attention, "Keys after its own place that a query sees", "N", "all", &Options::window_right,
          as_reach);
    t.add("documents", attention,
          "Sequences one after the other, of so many keys, as in 300+200+524 or 4x256: a query sees its own", "LIST",
          "one", &Options::documents, [](const std::string&, const std::string& v) { return to_documents(v), v; });
    t.add("block-mask", attention,
          "Blocks that are seen: butterfly, band:N, strided:N, global:N, random:X, or a file of 0 and 1 (or booleans)",
          "NAME|FILE", "none", &Options::block_mask, as_words);
    t.add("mask-block", attention, "Queries and keys of a block of --block-mask, as in 128 or 64x256", "N|NxN", "128",
          &Options::mask_block, [](const std::string&, const std::string& v) { return to_mask_block(v), v; });
}

void add_scores(Rows& t) {
    constexpr auto attention = FlagOf::attention;
    t.add("scale", attention, "Factor on the logits", "X", "1/sqrt(dim)", &Options::scale, as_number("0.125"));
    t.add("scores", attention,
          "Type of S where it goes to HBM (`standard`): f32, as unfused graphs of JAX have it, or --dtype", "TYPE",
          "--dtype", &Options::scores, as_words);
    t.add("weights", attention, "Type of P = softmax(S) where it goes to HBM", "TYPE", "--scores", &Options::weights,
          as_words);
    t.add("softmax", attention, "Softmax of `standard`: naive or safe", "KIND", "safe", &Options::softmax, as_words);
    t.add("bias", attention,
          "A tensor added to the logits, by its axes: qk for all, k per key only; before them h: one per head, b: per "
          "batch entry, g: per group of them. Two with a +: bk+ghqk is Evoformer's",
          "AXES", "none", &Options::bias, [](const std::string&, const std::string& v) { return to_bias(v).first; });
    t.add("bias-group", attention, "Consecutive batch entries that share a bias with a g", "N", "1",
          &Options::bias_group, as_size);
    t.add("alibi", attention, "Subtract from each logit the distance of query and key, times a slope of the head",
          nullptr, nullptr, &Options::alibi, to_bool);
    t.add("soft-cap", attention, "X tanh(s / X) in place of each logit s = scale q k", "X", "none", &Options::soft_cap,
          as_number("50"));
    t.add("dropout", attention, "Probability with which weights are dropped", "P", "0", &Options::dropout,
          as_number("0.1"));
    t.add("dropout-seed", attention, "Seed of dropout's mask", "N", "0", &Options::dropout_seed, to_seed);
    t.add("dropout-mask", attention,
          "Of dropout: regenerated where it is needed, or stored: a launch writes it, and it is read again", "KIND",
          "regenerated", &Options::dropout_mask, as_one_of(dropout_masks));
}

void add_pages(Rows& t) {
    constexpr auto attention = FlagOf::attention;
    t.add("page-size", attention, "K and V in pages of N keys that a table finds, as servers keep them", "N",
          "in one piece", &Options::page_size, as_size);
    t.add("page-order", attention, "Of the pages in memory: identity (one after the other) or permuted", "ORDER",
          "identity", &Options::page_order, as_one_of(page_orders));
    t.add("shared-prefix", attention,
          "Keys that all sequences of the batch begin with: their whole pages are there once", "N", "none",
          &Options::shared_prefix, as_size);
}

void add_mapping(Rows& t) {
    constexpr auto mapping = FlagOf::mapping;
    t.add("br", mapping, "Tile rows, or auto: as --tiles says", "N", "auto", &Options::br, as_tile);
    t.add("bc", mapping, "Tile columns (keys), or auto", "N", "auto", &Options::bc, as_tile);
    t.add("splits", mapping,
          "Parts that split_kv cuts the keys into: a number, or by the rule of FlashAttention-2 or -3; for backward "
          "passes, that key blocks are dealt out to",
          "N|fa2|fa3", "auto: fa2, backward as released", &Options::splits,
          [](const std::string& flag, const std::string& v) {
              const Splits s = to_splits(flag, v);
              return s.number > 0 ? std::to_string(s.number) : v;
          });
    t.add("pack", mapping,
          "Rows of the query heads that share K and V in one tile: on, off, or auto: where there is one query",
          "on|off|auto", "auto", &Options::pack, as_one_of(packings));
    t.add("tiles", mapping, "Of auto: kernel (as released kernels have them), paper (FlashAttention-1's rule) or best",
          "RULE", "kernel", &Options::tiles, as_one_of(tile_rules));
    t.add("objective", mapping, "What --tiles best makes least: time, dram or sm-traffic", "WHAT", "time",
          &Options::objective, as_one_of(objectives));
    t.add("blocks-per-sm", mapping, "Thread blocks on an SM, at most", "N", "as many as fit", &Options::blocks_per_sm,
          as_whole(1, most_per_sm, 2));
    t.add("order", mapping, "In which thread blocks start: kernel (its own), heads, rows, longest or snake", "ORDER",
          "kernel", &Options::order, as_one_of(orders));
}

void add_machine(Rows& t) {
    constexpr auto machine = FlagOf::machine;
    t.add("gpu", machine, "A preset's name (A100 is A100-40GB) or a JSON file", "NAME|FILE.json", "H100", &Options::gpu,
          as_words);
    t.rows.push_back({"l2", machine, "on, or off: whatever crosses an SM's boundary comes from DRAM", "on|off", "on",
                      [](Options& o, const std::string& v) { o.l2 = to_switch("--l2", v); },
                      [](Options& o) { o.l2 = true; }, [](const Options& o) { return o.l2 ? "" : "off"; }});
    t.add("l2-bytes", machine, "L2 of the whole chip in bytes; 50M is 50 MiB", "N", "of --gpu", &Options::l2_bytes,
          as_whole(0, most_l2, Index{50} << 20));
    t.add("sms", machine, "Streaming multiprocessors", "N", "of --gpu", &Options::sms, as_size);
    t.add("sram", machine, "SRAM per SM in KiB", "KIB", "of --gpu", &Options::sram_kib, as_number("164"));
    t.add("hbm-bandwidth", machine, "HBM bandwidth in GB/s", "GB/S", "of --gpu", &Options::hbm_bandwidth,
          as_number("1555"));
}

}  // namespace

std::span<const Flag> flags() {
    static const std::vector<Flag> all = [] {
        Rows t;
        add_workload(t), add_mask(t), add_scores(t), add_pages(t), add_mapping(t), add_machine(t);
        return t.rows;
    }();
    return all;
}

}  // namespace tilescope::lab
