#include "lab/flags/options.hpp"

#include <CLI/CLI.hpp>
#include <functional>

#include "algorithms/contract/problem.hpp"
#include "algorithms/contract/validate.hpp"
#include "core/text/numbers.hpp"
#include "core/text/words.hpp"
#include "core/time/dispatch.hpp"
#include "lab/asked.hpp"
#include "lab/flags/in_flags.hpp"
#include "lab/flags/mask.hpp"
#include "lab/flags/values.hpp"
#include "lab/mapping.hpp"
#include "lab/model_presets.hpp"

namespace tilescope::lab {
namespace {

constexpr Index most_threads = 1024, most_per_sm = 1024, most_l2 = Index{1} << 50;

struct Setter {
    const char* name;
    std::function<void(Options&, const std::string&)> set;
    std::function<void(Options&)> clear;
    std::function<std::string(const Options&)> get;  // empty where the flag says nothing new
};

std::string text_of(Index n) { return std::to_string(n); }
std::string text_of(std::uint64_t n) { return std::to_string(n); }
std::string text_of(const std::string& s) { return s; }
std::string text_of(bool b) { return b ? "true" : "false"; }
std::string text_of(double x) { return text::exact(x); }
template <class T>
std::string text_of(const std::optional<T>& value) {
    return value ? text_of(*value) : "";
}

/// A setter whose flag is taken back by giving its member its default.
template <class T>
Setter setter(const char* name, T Options::*member, std::function<T(const std::string&)> read) {
    return {name, [=](Options& o, const std::string& v) { o.*member = read(v); },
            [=](Options& o) { o.*member = Options().*member; },
            [=](const Options& o) { return o.*member == Options().*member ? std::string() : text_of(o.*member); }};
}

const std::vector<Setter>& setters() {
    const auto index = [](const char* name, std::optional<Index> Options::*member) {
        return setter<std::optional<Index>>(name, member, [name](const std::string& v) {
            const Index value = to_index(std::string("--") + name, v);
            in_flags([&] { check_size(name, value); });
            return value;
        });
    };
    const auto reach = [](const char* name, std::optional<Index> Options::*member) {
        return setter<std::optional<Index>>(name, member, [name](const std::string& v) {
            return to_index(std::string("--") + name, v, {0, Index{1} << 40, 256});
        });
    };
    const auto number = [](const char* name, std::optional<double> Options::*member, const char* fix) {
        return setter<std::optional<double>>(
            name, member,
            [flag = std::string("--") + name, fix](const std::string& v) { return to_real(flag, v, fix); });
    };
    const auto tile = [](const char* name, std::string Options::*member) {
        return setter<std::string>(name, member, [flag = std::string("--") + name](const std::string& v) {
            const Index size = to_tile(flag, v);
            return size > 0 ? std::to_string(size) : v;
        });
    };
    const auto named = []<class T>(const char* name, std::string Options::*member, std::span<const T> values) {
        return setter<std::string>(name, member, [flag = std::string("--") + name, values](const std::string& v) {
            return std::string(name_of(to_named(flag, v, values)));
        });
    };
    const auto words = []<class T>(const char* name, T Options::*member) {
        return setter<T>(name, member, [](const std::string& v) { return T(v); });
    };
    static const std::vector<Setter> all = {
        setter<std::string>("model", &Options::model,
                            [](const std::string& v) { return in_flags([&] { return model_named(v).name; }); }),
        named("phase", &Options::phase, std::span<const Phase>(phases)),
        index("batch", &Options::batch),
        index("heads", &Options::heads),
        index("kv-heads", &Options::kv_heads),
        index("seq", &Options::seq),
        index("seq-q", &Options::seq_q),
        index("seq-k", &Options::seq_k),
        index("dim", &Options::dim),
        index("dim-v", &Options::dim_v),
        index("page-size", &Options::page_size),
        index("shared-prefix", &Options::shared_prefix),
        named("page-order", &Options::page_order, std::span<const PageOrder>(page_orders)),
        setter<std::string>("bias", &Options::bias, [](const std::string& v) { return to_bias(v).first; }),
        index("bias-group", &Options::bias_group),
        setter<std::optional<bool>>("alibi", &Options::alibi,
                                    [](const std::string& v) { return to_bool("--alibi", v); }),
        number("soft-cap", &Options::soft_cap, "50"),
        number("dropout", &Options::dropout, "0.1"),
        setter<std::optional<std::uint64_t>>("dropout-seed", &Options::dropout_seed,
                                             [](const std::string& v) { return to_seed("--dropout-seed", v); }),
        named("dropout-mask", &Options::dropout_mask, std::span<const DropoutMask>(dropout_masks)),
        index("sms", &Options::sms),
        number("scale", &Options::scale, "0.125"),
        number("sram", &Options::sram_kib, "164"),
        number("hbm-bandwidth", &Options::hbm_bandwidth, "1555"),
        words("dtype", &Options::dtype),
        words("softmax", &Options::softmax),
        setter<std::optional<bool>>("causal", &Options::causal,
                                    [](const std::string& v) { return to_bool("--causal", v); }),
        reach("window-left", &Options::window_left),
        reach("window-right", &Options::window_right),
        setter<std::string>("documents", &Options::documents, [](const std::string& v) { return to_documents(v), v; }),
        words("block-mask", &Options::block_mask),
        setter<std::string>("mask-block", &Options::mask_block,
                            [](const std::string& v) { return to_mask_block(v), v; }),
        tile("br", &Options::br),
        tile("bc", &Options::bc),
        setter<std::string>("splits", &Options::splits,
                            [](const std::string& v) {
                                const Splits s = to_splits("--splits", v);
                                return s.number > 0 ? std::to_string(s.number) : v;
                            }),
        named("pack", &Options::pack, std::span<const Packing>(packings)),
        named("tiles", &Options::tiles, std::span<const TileRule>(tile_rules)),
        named("objective", &Options::objective, std::span<const Objective>(objectives)),
        named("order", &Options::order, std::span<const Order>(orders)),
        setter<std::optional<Index>>("blocks-per-sm", &Options::blocks_per_sm,
                                     [](const std::string& v) {
                                         return to_index("--blocks-per-sm", v, {1, most_per_sm, 2});
                                     }),
        {"l2", [](Options& o, const std::string& v) { o.l2 = to_switch("--l2", v); }, [](Options& o) { o.l2 = true; },
         [](const Options& o) { return o.l2 ? "" : "off"; }},
        setter<std::optional<Index>>("l2-bytes", &Options::l2_bytes,
                                     [](const std::string& v) {
                                         return to_index("--l2-bytes", v, {0, most_l2, Index{50} << 20});
                                     }),
        words("gpu", &Options::gpu),
    };
    return all;
}

/// Parses a flag's text with `set_flag`, so that sweeps and flags accept and refuse the same.
void add_flag_option(CLI::App& app, Options& options, const char* name, const char* help, const char* type,
                     const char* fallback) {
    app.add_option_function<std::string>(
           std::string("--") + name, [&options, name](const std::string& v) { set_flag(options, name, v); }, help)
        ->type_name(type)
        ->default_str(fallback);
}

void add_random_options(CLI::App& app, Options& o) {
    app.add_option_function<std::string>(
           "--seed", [&o](const std::string& v) { o.seed = to_seed("--seed", v); }, "Seed of the random inputs")
        ->type_name("N")
        ->default_str("0");
    app.add_option_function<std::string>(
           "--distribution", [&o](const std::string& v) { o.distribution = name_of(to_distribution(v)); },
           "Of the inputs: normal, uniform or outliers at random, or a pattern: sentence, band, sink, new_maximum or "
           "overflow")
        ->type_name("KIND")
        ->default_str("normal");
}

void add_input_files(CLI::App& app, Options& o) {
    app.add_option("--q", o.q, "Q from a NumPy file: [n,d], [heads,n,d] or [batch,heads,n,d]")->type_name("FILE.npy");
    app.add_option("--k", o.k, "K from a NumPy file")->type_name("FILE.npy");
    app.add_option("--v", o.v, "V from a NumPy file")->type_name("FILE.npy");
    app.add_option("--do", o.d_o, "dO from a NumPy file (backward passes), beside --q --k --v")->type_name("FILE.npy");
    app.add_option("--x", o.x, "X from a NumPy file (softmax kernels)")->type_name("FILE.npy");
    app.add_option(
           "--bias-file", o.bias_file,
           "The tensor of --bias from a NumPy file, as [batch,heads,n,n] with 1 where it is shared; of booleans, "
           "True is seen")
        ->type_name("FILE.npy");
    app.add_option("--bias2-file", o.bias2_file, "The second one's")->type_name("FILE.npy");
    app.add_option_function<std::string>(
           "--bits16", [&o](const std::string& v) { to_bits16(v), o.bits16 = v; },
           "What u2 and i2 in these files are: bf16, its bits")
        ->type_name("TYPE");
    app.add_option("--layout", o.layout, "Dimensions of the files: bhsd [batch,heads,seq,dim] or bshd, as flash-attn's")
        ->default_str("bhsd");
}

void add_score_options(CLI::App& app, Options& o) {
    const auto add = [&](const char* name, const char* help, const char* type, const char* fallback) {
        add_flag_option(app, o, name, help, type, fallback);
    };
    add("bias",
        "A tensor added to the logits, by its axes: qk for all, k per key only; before them h: one per head, b: per "
        "batch "
        "entry, g: per group of them. Two with a +: bk+ghqk is Evoformer's",
        "AXES", "none");
    add("bias-group", "Consecutive batch entries that share a bias with a g", "N", "1");
    app.add_flag_function(
        "--alibi", [&o](std::int64_t given) { o.alibi = given > 0; },
        "Subtract from each logit the distance of query and key, times a slope of the head");
    add("soft-cap", "X tanh(s / X) in place of each logit s = scale q k", "X", "none");
    add("dropout", "Probability with which weights are dropped", "P", "0");
    add("dropout-seed", "Seed of dropout's mask", "N", "0");
    add("dropout-mask",
        "Of dropout: regenerated where it is needed, or stored: a launch writes it, and it is read again", "KIND",
        "regenerated");
}

}  // namespace

void add_problem_options(CLI::App& app, Options& o) {
    const auto add = [&](const char* name, const char* help, const char* type, const char* fallback) {
        add_flag_option(app, o, name, help, type, fallback);
    };
    add("model", "A model's name: one layer of it (see `tilescope models`); flags beside it win", "NAME", "none");
    add("phase", "Of --model: prefill (a prompt of --seq) or decode (one token after --seq)", "PHASE", "prefill");
    add("batch", "Batch size", "N", "1");
    add("heads", "Query heads", "N", "8");
    add("kv-heads", "Heads of K and V (grouped-query attention)", "N", "--heads");
    add("seq", "Sequence length of queries and keys; 16k is 16384", "N", "1024");
    add("seq-q", "Queries (rows, for the softmax kernels)", "N", "--seq");
    add("seq-k", "Keys (columns, for the softmax kernels)", "N", "--seq");
    add("dim", "Head dimension of Q and K", "N", "64");
    add("dim-v", "Head dimension of V and O", "N", "--dim");
    add("dtype", "Storage type: f32, f16 or bf16", "TYPE", "f16");
    app.add_flag_function(
        "--causal", [&o](std::int64_t given) { o.causal = given > 0; }, "Query r sees keys <= r + seq_k - seq_q");
    add("window-left", "Keys before its own place that a query sees, of all; with --causal a sliding window", "N",
        "all");
    add("window-right", "Keys after its own place that a query sees", "N", "all");
    add("documents", "Sequences one after the other, of so many keys, as in 300+200+524 or 4x256: a query sees its own",
        "LIST", "one");
    add("block-mask",
        "Blocks that are seen: butterfly, band:N, strided:N, global:N, random:X, or a file of 0 and 1 (or booleans)",
        "NAME|FILE", "none");
    add("mask-block", "Queries and keys of a block of --block-mask, as in 128 or 64x256", "N|NxN", "128");
    add("scale", "Factor on the logits", "X", "1/sqrt(dim)");
    add("softmax", "Softmax of `standard`: naive or safe", "KIND", "safe");
    add_score_options(app, o);
    add("page-size", "K and V in pages of N keys that a table finds, as servers keep them", "N", "in one piece");
    add("page-order", "Of the pages in memory: identity (one after the other) or permuted", "ORDER", "identity");
    add("shared-prefix", "Keys that all sequences of the batch begin with: their whole pages are there once", "N",
        "none");
    add("br", "Tile rows, or auto: as --tiles says", "N", "auto");
    add("bc", "Tile columns (keys), or auto", "N", "auto");
    add("splits",
        "Parts that split_kv cuts the keys into: a number, or by the rule of FlashAttention-2 or -3; for backward "
        "passes, that key blocks are dealt out to",
        "N|fa2|fa3", "auto: fa2, backward as released");
    add("pack", "Rows of the query heads that share K and V in one tile: on, off, or auto: where there is one query",
        "on|off|auto", "auto");
    add("tiles", "Of auto: kernel (as released kernels have them), paper (FlashAttention-1's rule) or best", "RULE",
        "kernel");
    add("objective", "What --tiles best makes least: time, dram or sm-traffic", "WHAT", "time");
    add("blocks-per-sm", "Thread blocks on an SM, at most", "N", "as many as fit");
    add("order", "In which thread blocks start: kernel (its own), heads, rows, longest or snake", "ORDER", "kernel");
    add("gpu", "A preset's name (A100 is A100-40GB) or a JSON file", "NAME|FILE.json", "H100");
    add("l2", "on, or off: whatever crosses an SM's boundary comes from DRAM", "on|off", "on");
    add("l2-bytes", "L2 of the whole chip in bytes; 50M is 50 MiB", "N", "of --gpu");
    add("sms", "Streaming multiprocessors", "N", "of --gpu");
    add("sram", "SRAM per SM in KiB", "KIB", "of --gpu");
    add("hbm-bandwidth", "HBM bandwidth in GB/s", "GB/S", "of --gpu");
}

void add_input_options(CLI::App& app, Options& o) {
    add_random_options(app, o);
    add_input_files(app, o);
}

void add_numeric_options(CLI::App& app, Options& o) {
    app.add_option("--mode", o.mode,
                   "numeric (real numbers), count (no data) or auto: numbers where the run takes at most " +
                       std::to_string(patience) + " s, else counts only")
        ->capture_default_str();
    add_random_options(app, o);
    add_whole_option(app, "--threads", {0, most_threads, 8},
                     "Host threads of a numeric run; 0 for all cores. Results do not depend on it",
                     [&o](Index n) { o.threads = n; })
        ->default_str("0");
}

void add_file_options(CLI::App& app, Options& o) {
    add_input_files(app, o);
    app.add_option("--out", o.out, "Write the output to a NumPy file; gradients each to its own: FILE-dQ.npy, ...")
        ->type_name("FILE.npy");
}

void add_json_option(CLI::App& app, Options& o) { app.add_flag("--json", o.json, "Print JSON instead of text"); }

void add_algorithm_argument(CLI::App& app, std::string& name) {
    app.add_option("ALGO", name, "Algorithm (see `tilescope list`)")->required();
}

void set_flag(Options& options, const std::string& name, const std::string& value) {
    for (const Setter& s : setters())
        if (name == s.name) return s.set(options, value);
    const std::string meant = instead_of(Asked::flag, name, value);
    throw UsageError("--vary " + text::shown(name + "=" + value) + ": no such key" +
                     (meant.empty() ? text::did_you_mean("; ", name, settable_flags(), ".") : "; " + meant + '.') +
                     " Keys are " + text::join(settable_flags(), ", "));
}

void clear_flag(Options& options, const std::string& name) {
    for (const Setter& s : setters())
        if (name == s.name) return s.clear(options);
}

std::vector<std::string> flags_of(const Options& o) {
    std::vector<std::string> words;
    const auto add = [&](const std::string& flag, const std::string& value) {
        if (!value.empty()) words.insert(words.end(), {"--" + flag, value});
    };
    for (const Setter& s : setters())
        if (std::string_view(s.name) != "causal" && std::string_view(s.name) != "alibi") add(s.name, s.get(o));
    if (o.causal) words.push_back(*o.causal ? "--causal" : "--causal=false");
    if (o.alibi) words.push_back(*o.alibi ? "--alibi" : "--alibi=false");
    const Options standard;
    if (o.seed != standard.seed) add("seed", std::to_string(o.seed));
    if (o.distribution != standard.distribution) add("distribution", o.distribution);
    add("q", o.q), add("k", o.k), add("v", o.v), add("do", o.d_o), add("x", o.x);
    add("bias-file", o.bias_file), add("bias2-file", o.bias2_file);
    add("bits16", o.bits16), add("layout", o.layout.value_or(""));
    return words;
}

std::vector<std::string> settable_flags() {
    std::vector<std::string> names;
    for (const Setter& s : setters()) names.push_back(s.name);
    return names;
}

}  // namespace tilescope::lab
