#include "cli/options.hpp"

#include <charconv>
#include <cmath>
#include <functional>

#include "cli/text.hpp"
#include "lab/gpu_presets.hpp"

namespace tilescope::cli {
namespace {

Index to_index(const std::string& flag, const std::string& text) {
    Index value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc::result_out_of_range)
        throw UsageError(flag + ' ' + text.substr(0, 40) + ": is too large; try " + flag + " 65536");
    if (error != std::errc() || end != text.data() + text.size())
        throw UsageError(flag + ' ' + text + ": must be a whole number; try " + flag + " 64");
    return value;
}

double to_number(const std::string& flag, const std::string& text) {
    try {
        std::size_t used = 0;
        const double value = std::stod(text, &used);
        if (used == text.size()) return value;
    } catch (const std::exception&) {
    }
    throw UsageError(flag + ' ' + text + ": must be a number; try " + flag + " 1.5");
}

bool to_bool(const std::string& flag, const std::string& text) {
    if (text == "true" || text == "1" || text == "yes") return true;
    if (text == "false" || text == "0" || text == "no") return false;
    throw UsageError(flag + ' ' + text + ": must be true or false; try " + flag + "=true");
}

/// Tile sizes: 0 stands for auto.
Index to_tile(const std::string& flag, const std::string& text) {
    if (text == "auto") return 0;
    const Index value = to_index(flag, text);
    if (value < 1) throw UsageError(flag + ' ' + text + ": must be at least 1, or auto; try " + flag + " 64");
    return value;
}

struct Setter {
    const char* name;
    std::function<void(Options&, const std::string&)> set;
};

const std::vector<Setter>& setters() {
    const auto index = [](const char* name, std::optional<Index> Options::*member) {
        return Setter{name, [=](Options& o, const std::string& v) {
                          const std::string flag = std::string("--") + name;
                          const Index value = to_index(flag, v);
                          check_size(flag, value);
                          o.*member = value;
                      }};
    };
    const auto number = [](const char* name, std::optional<double> Options::*member) {
        return Setter{name,
                      [=](Options& o, const std::string& v) { o.*member = to_number(std::string("--") + name, v); }};
    };
    static const std::vector<Setter> all = {
        index("batch", &Options::batch),
        index("heads", &Options::heads),
        index("kv-heads", &Options::kv_heads),
        index("seq", &Options::seq),
        index("seq-q", &Options::seq_q),
        index("seq-k", &Options::seq_k),
        index("dim", &Options::dim),
        index("dim-v", &Options::dim_v),
        index("sms", &Options::sms),
        number("scale", &Options::scale),
        number("sram", &Options::sram_kib),
        number("hbm-bandwidth", &Options::hbm_bandwidth),
        {"dtype", [](Options& o, const std::string& v) { o.dtype = v; }},
        {"softmax", [](Options& o, const std::string& v) { o.softmax = v; }},
        {"causal", [](Options& o, const std::string& v) { o.causal = to_bool("--causal", v); }},
        {"br", [](Options& o, const std::string& v) { o.br = v; }},
        {"bc", [](Options& o, const std::string& v) { o.bc = v; }},
        {"gpu", [](Options& o, const std::string& v) { o.gpu = v; }},
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

Dtype dtype_named(const std::string& name) {
    if (const auto t = dtype_from(name)) return *t;
    throw UsageError("--dtype " + name + ": must be f32, f16 or bf16; try --dtype f16");
}

Problem problem_from(const Options& o) {
    Problem p;
    p.batch = o.batch.value_or(p.batch);
    p.heads = o.heads.value_or(p.heads);
    p.kv_heads = o.kv_heads.value_or(p.heads);
    p.seq_q = o.seq_q.value_or(o.seq.value_or(p.seq_q));
    p.seq_k = o.seq_k.value_or(o.seq.value_or(p.seq_k));
    p.dim = o.dim.value_or(p.dim);
    p.dim_v = o.dim_v.value_or(p.dim);
    if (o.dtype) p.dtype = dtype_named(*o.dtype);
    p.causal = o.causal;
    p.scale = o.scale;
    if (o.softmax) {
        if (*o.softmax != "naive" && *o.softmax != "safe")
            throw UsageError("--softmax " + *o.softmax + ": must be naive or safe; try --softmax safe");
        p.softmax = *o.softmax == "naive" ? Softmax::naive : Softmax::safe;
    }
    return p;
}

GpuSpec gpu_from(const Options& o) {
    GpuSpec g = load_gpu(o.gpu);
    if (o.sms) {
        if (*o.sms > 1'000'000)
            throw UsageError("--sms " + std::to_string(*o.sms) + ": must be at most 1000000; try --sms 108");
        g.sms = *o.sms;
    }
    if (o.sram_kib) {
        if (!(*o.sram_kib > 0) || *o.sram_kib > 1e6)
            throw UsageError("--sram " + text::number(*o.sram_kib) +
                             ": KiB per SM, must be above 0 and at most 1000000; try --sram 164");
        // The system's share per thread block stays what it is on this GPU.
        const Bytes reserved = g.sram_per_sm - g.sram_per_block;
        g.sram_per_sm = static_cast<Bytes>(std::llround(*o.sram_kib * 1024));
        if (g.sram_per_sm <= reserved)
            throw UsageError("--sram " + text::number(*o.sram_kib) + ": " + g.name + " reserves " +
                             std::to_string(reserved) + " B per thread block; try --sram 16");
        g.sram_per_block = g.sram_per_sm - reserved;
    }
    if (o.hbm_bandwidth) {
        if (!(*o.hbm_bandwidth > 0) || *o.hbm_bandwidth > 1e9)
            throw UsageError("--hbm-bandwidth " + text::number(*o.hbm_bandwidth) +
                             ": GB/s, must be above 0 and at most 1e9; try --hbm-bandwidth 1555");
        g.hbm_gbs = *o.hbm_bandwidth;
    }
    return g;
}

/// A size that a file decides: the flag may only repeat it.
void take(Index& size, const std::optional<Index>& flag, const char* name, Index from_file, const std::string& file) {
    if (flag && *flag != from_file)
        throw UsageError(std::string(name) + ' ' + std::to_string(*flag) + ": " + file + " has " +
                         std::to_string(from_file) + "; leave " + name + " out");
    size = from_file;
}

void must_match(const char* flag, const std::string& file, const char* what, Index have, Index want, const char* of) {
    if (have != want)
        throw UsageError(std::string(flag) + ' ' + file + ": has " + what + ' ' + std::to_string(have) + ", must be " +
                         std::to_string(want) + " as in " + of);
}

void read_attention_files(const Options& o, Request& r) {
    if (o.q.empty() || o.k.empty() || o.v.empty())
        throw UsageError("--q --k --v: all three files are needed; missing " + std::string(o.q.empty()   ? "--q"
                                                                                           : o.k.empty() ? "--k"
                                                                                                         : "--v"));
    const FileTensor q = read_tensor("--q", o.q), k = read_tensor("--k", o.k), v = read_tensor("--v", o.v);
    Problem& p = r.problem;
    if (!o.dtype) p.dtype = q.natural;
    take(p.batch, o.batch, "--batch", q.batch, o.q);
    take(p.heads, o.heads, "--heads", q.heads, o.q);
    take(p.kv_heads, o.kv_heads, "--kv-heads", k.heads, o.k);
    take(p.seq_q, o.seq_q ? o.seq_q : o.seq, o.seq_q ? "--seq-q" : "--seq", q.rows, o.q);
    take(p.seq_k, o.seq_k ? o.seq_k : o.seq, o.seq_k ? "--seq-k" : "--seq", k.rows, o.k);
    take(p.dim, o.dim, "--dim", q.cols, o.q);
    take(p.dim_v, o.dim_v, "--dim-v", v.cols, o.v);
    must_match("--k", o.k, "batch", k.batch, q.batch, "--q");
    must_match("--v", o.v, "batch", v.batch, q.batch, "--q");
    must_match("--k", o.k, "dim", k.cols, q.cols, "--q");
    must_match("--v", o.v, "heads", v.heads, k.heads, "--k");
    must_match("--v", o.v, "rows", v.rows, k.rows, "--k");
    r.file_rank = q.rank;
    r.inputs = {{"Q", to_storage(q, p.dtype)}, {"K", to_storage(k, p.dtype)}, {"V", to_storage(v, p.dtype)}};
}

void read_softmax_files(const Options& o, Request& r) {
    const FileTensor x = read_tensor("--x", o.x);
    Problem& p = r.problem;
    if (!o.dtype) p.dtype = x.natural;
    take(p.batch, o.batch, "--batch", x.batch, o.x);
    take(p.heads, o.heads, "--heads", x.heads, o.x);
    p.kv_heads = p.heads;
    take(p.seq_q, o.seq_q ? o.seq_q : o.seq, o.seq_q ? "--seq-q" : "--seq", x.rows, o.x);
    take(p.seq_k, o.seq_k ? o.seq_k : o.seq, o.seq_k ? "--seq-k" : "--seq", x.cols, o.x);
    r.file_rank = x.rank;
    r.inputs = {{"X", to_storage(x, p.dtype)}};
}

}  // namespace

void add_problem_options(CLI::App& app, Options& o) {
    const auto add = [&](const char* name, const char* help, const char* type, const char* fallback) {
        add_flag_option(app, o, name, help, type, fallback);
    };
    add("batch", "Batch size", "N", "1");
    add("heads", "Query heads", "N", "8");
    add("kv-heads", "Heads of K and V (grouped-query attention)", "N", "--heads");
    add("seq", "Sequence length of queries and keys", "N", "1024");
    add("seq-q", "Queries (rows, for the softmax kernels)", "N", "--seq");
    add("seq-k", "Keys (columns, for the softmax kernels)", "N", "--seq");
    add("dim", "Head dimension of Q and K", "N", "64");
    add("dim-v", "Head dimension of V and O", "N", "--dim");
    add("dtype", "Storage type: f32, f16 or bf16", "TYPE", "f16");
    app.add_flag("--causal", o.causal, "Query r sees keys <= r + seq_k - seq_q");
    add("scale", "Factor on the logits", "X", "1/sqrt(dim)");
    add("softmax", "Softmax of `standard`: naive or safe", "KIND", "safe");
    add("br", "Tile rows, or auto", "N", "auto");
    add("bc", "Tile columns (keys), or auto", "N", "auto");
    add("gpu", "A preset's name or a JSON file", "NAME|FILE.json", "A100-40GB");
    add("sms", "Streaming multiprocessors", "N", "of --gpu");
    add("sram", "SRAM per SM in KiB", "KIB", "of --gpu");
    add("hbm-bandwidth", "HBM bandwidth in GB/s", "GB/S", "of --gpu");
}

void add_numeric_options(CLI::App& app, Options& o) {
    app.add_option("--mode", o.mode, "numeric (real numbers), count (no data) or auto: numeric when it takes seconds")
        ->capture_default_str();
    app.add_option("--seed", o.seed, "Seed of the random inputs")->capture_default_str();
    app.add_option("--distribution", o.distribution, "Of the random inputs: normal, uniform or outliers")
        ->capture_default_str();
    app.add_option("--threads", o.threads,
                   "Host threads of a numeric run; 0 for all cores. Results do not depend on it")
        ->capture_default_str();
}

void add_file_options(CLI::App& app, Options& o) {
    app.add_option("--q", o.q, "Q from a NumPy file: [n,d], [heads,n,d] or [batch,heads,n,d]")->type_name("FILE.npy");
    app.add_option("--k", o.k, "K from a NumPy file")->type_name("FILE.npy");
    app.add_option("--v", o.v, "V from a NumPy file")->type_name("FILE.npy");
    app.add_option("--x", o.x, "X from a NumPy file (softmax kernels)")->type_name("FILE.npy");
    app.add_option("--out", o.out, "Write the output to a NumPy file")->type_name("FILE.npy");
}

void add_json_option(CLI::App& app, Options& o) { app.add_flag("--json", o.json, "Print JSON instead of text"); }

void add_algorithm_argument(CLI::App& app, std::string& name) {
    app.add_option("ALGO", name, "Algorithm (see `tilescope list`)")->required();
}

void set_flag(Options& options, const std::string& name, const std::string& value) {
    for (const Setter& s : setters())
        if (name == s.name) return s.set(options, value);
    throw UsageError("--vary " + name + "=" + value + ": no such key; keys are " + text::join(settable_flags(), ", "));
}

std::vector<std::string> settable_flags() {
    std::vector<std::string> names;
    for (const Setter& s : setters()) names.push_back(s.name);
    return names;
}

Request resolve(const Options& o, Family family) {
    Request r{.problem = problem_from(o),
              .given = {to_tile("--br", o.br), to_tile("--bc", o.bc)},
              .gpu = gpu_from(o),
              .file_rank = 0,
              .inputs = {}};
    const bool attention = family == Family::attention;
    if (attention && !o.x.empty())
        throw UsageError("--x " + o.x + ": is for softmax kernels; attention takes --q --k --v");
    if (!attention && !(o.q + o.k + o.v).empty())
        throw UsageError("--q/--k/--v: are for attention; the softmax kernels take --x FILE.npy");
    if (!attention && o.causal) throw UsageError("--causal: means nothing to a softmax kernel; leave it out");
    if (!(o.q + o.k + o.v).empty()) read_attention_files(o, r);
    if (!o.x.empty()) read_softmax_files(o, r);
    validate(r.problem);
    return r;
}

const Algorithm& algorithm_named(const std::string& name) {
    if (const Algorithm* a = find_algorithm(name)) return *a;
    std::vector<std::string> names;
    for (const Algorithm& a : algorithms()) names.push_back(a.name);
    throw UsageError("algorithm " + text::quoted(name) + ": unknown; did you mean " + text::nearest(name, names) +
                     "? `tilescope list` shows all of them");
}

}  // namespace tilescope::cli
