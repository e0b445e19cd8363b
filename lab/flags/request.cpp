// From flags to a problem, a tiling and a machine.
#include "lab/flags/request.hpp"

#include <cmath>

#include "core/text/numbers.hpp"
#include "core/text/words.hpp"
#include "lab/flags/in_flags.hpp"
#include "lab/gpu_presets.hpp"
#include "lab/mapping.hpp"

namespace tilescope::lab {
namespace {

/// Tile sizes: 0 stands for auto.
Index to_tile(const std::string& flag, const std::string& text) {
    if (text == "auto") return 0;
    const Index value = to_index(flag, text);
    if (value < 1) throw UsageError(flag + ' ' + text + ": must be at least 1, or auto; try " + flag + " 64");
    return value;
}

Dtype dtype_named(const std::string& name) {
    if (const auto t = dtype_from(name)) return *t;
    throw UsageError("--dtype " + name + ": must be f32, f16 or bf16; try --dtype f16");
}

Problem problem_from(const Options& o) {
    Problem p = sizes_from(o);
    if (o.dtype) p.dtype = dtype_named(*o.dtype);
    if (o.causal) p.mask = Mask::causal();
    p.scale = o.scale;
    if (o.softmax) {
        if (*o.softmax != "naive" && *o.softmax != "safe")
            throw UsageError("--softmax " + *o.softmax + ": must be naive or safe; try --softmax safe");
        p.softmax = *o.softmax == "naive" ? Softmax::naive : Softmax::safe;
    }
    return p;
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

Problem sizes_from(const Options& o) {
    Problem p;
    p.batch = o.batch.value_or(p.batch);
    p.heads = o.heads.value_or(p.heads);
    p.kv_heads = o.kv_heads.value_or(p.heads);
    p.seq_q = o.seq_q.value_or(o.seq.value_or(p.seq_q));
    p.seq_k = o.seq_k.value_or(o.seq.value_or(p.seq_k));
    p.dim = o.dim.value_or(p.dim);
    p.dim_v = o.dim_v.value_or(p.dim);
    return p;
}

GpuSpec gpu_from(const Options& o) {
    GpuSpec g = in_flags([&] { return load_gpu(o.gpu); });
    if (o.sms) {
        if (*o.sms < 1 || *o.sms > 1'000'000)
            throw UsageError("--sms " + std::to_string(*o.sms) + ": must be from 1 to 1000000; try --sms 108");
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

const char* attention_flag(const Options& o) {
    const std::pair<const char*, bool> flags[] = {
        {"--causal", o.causal},           {"--kv-heads", o.kv_heads.has_value()}, {"--dim", o.dim.has_value()},
        {"--dim-v", o.dim_v.has_value()}, {"--scale", o.scale.has_value()},       {"--softmax", o.softmax.has_value()}};
    for (const auto& [flag, given] : flags)
        if (given) return flag;
    return nullptr;
}

namespace {

/// The flag that asks for a feature, as it was given.
std::string flag_of(Feature feature, const Options& o) {
    switch (feature) {
        case Feature::grouped_heads:
            return "--kv-heads " + std::to_string(*o.kv_heads);
        case Feature::scale:
            return "--scale";
        case Feature::mask:
            return "--causal";
        case Feature::naive_softmax:
            return "--softmax naive";
        case Feature::head_dims:
            break;
    }
    return "--dim";
}

/// Files are for the computation whose first input they are.
void check_files(const Computation& c, const Options& o) {
    const bool attention = c.file_flag == std::string_view("--q");
    if (attention && !o.x.empty())
        throw UsageError("--x " + o.x + ": is for softmax kernels; attention takes --q --k --v");
    if (!attention && !(o.q + o.k + o.v).empty())
        throw UsageError("--q/--k/--v: are for attention; the softmax kernels take --x FILE.npy");
}

}  // namespace

void check_supported(const Algorithm& algorithm, const Problem& problem, const Options& o) {
    const auto refusal = refuses(algorithm, problem);
    if (!refusal) return;
    std::vector<std::string> names;
    for (const Algorithm* a : refusal->instead) names.push_back(a->name);
    throw UsageError(flag_of(refusal->feature, o) + ": " + algorithm.name + " does not do " +
                     name_of(refusal->feature) + "; " + text::join(names, ", ") +
                     (names.size() == 1 ? " does" : " do") + ", or leave it out");
}

Request resolve(const Options& o, const Algorithm& algorithm) {
    Request r = resolve(o, *algorithm.computes);
    check_supported(algorithm, r.problem, o);
    return r;
}

Request resolve(const Options& o, const Computation& computation) {
    Request r{.problem = problem_from(o),
              .given = {to_tile("--br", o.br), to_tile("--bc", o.bc)},
              .gpu = gpu_from(o),
              .file_rank = 0,
              .inputs = {}};
    check_files(computation, o);
    if (const char* flag = attention_flag(o); flag && !computation.features.has(Feature::head_dims))
        throw UsageError(std::string(flag) + ": means nothing to a softmax kernel; leave it out");
    if (!(o.q + o.k + o.v).empty()) read_attention_files(o, r);
    if (!o.x.empty()) read_softmax_files(o, r);
    in_flags([&] {
        validate(r.problem);
        validate(r.given, r.problem);
    });
    return r;
}

const Algorithm& algorithm_named(const std::string& name) {
    if (const Algorithm* a = find_algorithm(name)) return *a;
    if (name.ends_with(".json") || name.find('/') != std::string::npos)
        throw UsageError("algorithm " + text::quoted(name) +
                         ": is a file; `tilescope-gui FILE` plays a recording, `tilescope replay FILE` runs it again");
    std::vector<std::string> names;
    for (const Algorithm& a : algorithms()) names.push_back(a.name);
    throw UsageError("algorithm " + text::quoted(name) + ": unknown; did you mean " + text::nearest(name, names) +
                     "? `tilescope list` shows all of them");
}

std::string renaming(const std::string& name) {
    const Algorithm* a = find_algorithm(name);
    return a && a->name != name ? name + " is now called " + a->name : "";
}

Inputs inputs_for(const Options& o, const Request& request, const Algorithm& algorithm, const Control* control) {
    if (!request.inputs.empty()) return request.inputs;
    const auto distribution = distribution_from(o.distribution);
    if (!distribution)
        throw UsageError("--distribution " + o.distribution + ": must be normal, uniform or outliers; try normal");
    return random_inputs(algorithm.tensors(request.problem, {1, 1}), o.seed, *distribution, control);
}

}  // namespace tilescope::lab
