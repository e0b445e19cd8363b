// From flags to a problem, a tiling and a machine.
#include "lab/flags/request.hpp"

#include <algorithm>
#include <cmath>

#include "algorithms/contract/kernel_description.hpp"
#include "algorithms/contract/validate.hpp"
#include "core/text/numbers.hpp"
#include "core/text/words.hpp"
#include "lab/flags/in_flags.hpp"
#include "lab/flags/mask.hpp"
#include "lab/flags/model.hpp"
#include "lab/flags/table.hpp"
#include "lab/flags/values.hpp"
#include "lab/flags/variant.hpp"
#include "lab/gpu/asked.hpp"
#include "lab/gpu/gpu_fields.hpp"
#include "lab/gpu/gpu_presets.hpp"
#include "lab/own/own.hpp"
#include "lab/run/reference.hpp"
#include "lab/workload/file_axes.hpp"
#include "lab/workload/paging.hpp"
#include "lab/workload/patterns.hpp"

namespace tilescope::lab {
namespace {

/// `o` must have all sizes, also those of a model and of files, so that values that follow from sizes are right.
Problem problem_from(const Options& o) {
    Problem p;
    for (const Flag& flag : flags())
        if (flag.ask && flag.given(o)) flag.ask(o, p);
    return p;
}

Wish wish_from(const Options& o) {
    const Splits splits = to_splits("--splits", o.splits);
    return {.tiling = {to_tile("--br", o.br), to_tile("--bc", o.bc), splits.number},
            .rule = to_named("--tiles", o.tiles, std::span<const TileRule>(tile_rules)),
            .objective = to_named("--objective", o.objective, std::span<const Objective>(objectives)),
            .placing = {to_named("--order", o.order, std::span<const Order>(orders)), o.blocks_per_sm.value_or(0)},
            .splits = splits.rule,
            .packing = to_named("--pack", o.pack, std::span<const Packing>(packings))};
}

/// Sets a flag to a size that a file decides. A flag that was given may only repeat it.
void take(std::optional<Index>& flag, const char* name, Index from_file, const std::string& file) {
    if (flag && *flag != from_file)
        throw UsageError(std::string(name) + ' ' + std::to_string(*flag) + ": " + text::shown(file) + " has " +
                         std::to_string(from_file) + "; leave " + name + " out");
    flag = from_file;
}

/// The same for a length, which --seq gives where the length's own flag does not.
void take_length(std::optional<Index>& flag, const char* name, const std::optional<Index>& seq, Index from_file,
                 const std::string& file) {
    if (!flag) flag = seq, name = "--seq";
    take(flag, name, from_file, file);
}

/// The type in which all inputs are stored: that of the flag, or else the type that suits the first file.
Dtype take_dtype(Options& o, const FileTensor& first) {
    if (!o.dtype) o.dtype = name_of(first.natural);
    return to_dtype(*o.dtype);
}

void must_match(const char* flag, const std::string& file, const char* what, Index have, Index want, const char* of) {
    if (have != want)
        throw UsageError(std::string(flag) + ' ' + text::shown(file) + ": has " + what + ' ' + std::to_string(have) +
                         ", must be " + std::to_string(want) + " as in " + of);
}

/// The one place where a file's numbers become an input.
void take_in(Request& r, const char* tensor, const FileTensor& file, Dtype dtype, Control* control) {
    const Index lost = file.overflowed + infinite_in(dtype, file.values);
    const std::string note =
        about_infinite(file.name, lost == file.overflowed ? Dtype::f32 : dtype, lost, std::ssize(file.values));
    if (!note.empty()) r.notes.push_back(note);
    r.inputs[tensor] = to_storage(file, dtype, control);
}

FileFormat format_from(const Options& o) { return {layout_from(o), to_bits16(o.bits16)}; }

/// Reads the inputs; their sizes become those of the options.
void read_attention_files(Options& o, Request& r, Control* control) {
    if (o.q.empty() || o.k.empty() || o.v.empty())
        throw UsageError("--q --k --v: all three files are needed; missing " + std::string(o.q.empty()   ? "--q"
                                                                                           : o.k.empty() ? "--k"
                                                                                                         : "--v"));
    const auto read = [&](const char* flag, const std::string& path) {
        return read_tensor(flag, path, format_from(o), control);
    };
    const FileTensor q = read("--q", o.q), k = read("--k", o.k), v = read("--v", o.v);
    const Dtype dtype = take_dtype(o, q);
    take(o.batch, "--batch", q.batch, o.q);
    take(o.heads, "--heads", q.heads, o.q);
    take(o.kv_heads, "--kv-heads", k.heads, o.k);
    take_length(o.seq_q, "--seq-q", o.seq, q.rows, o.q);
    take_length(o.seq_k, "--seq-k", o.seq, k.rows, o.k);
    take(o.dim, "--dim", q.cols, o.q);
    take(o.dim_v, "--dim-v", v.cols, o.v);
    must_match("--k", o.k, "batch", k.batch, q.batch, "--q");
    must_match("--v", o.v, "batch", v.batch, q.batch, "--q");
    must_match("--k", o.k, "dim", k.cols, q.cols, "--q");
    must_match("--v", o.v, "heads", v.heads, k.heads, "--k");
    must_match("--v", o.v, "rows", v.rows, k.rows, "--k");
    r.file_rank = q.rank;
    if (!o.layout && q.heads > q.rows)
        r.remark = "--q " + text::shown(o.q) + ": heads " + std::to_string(q.heads) + ", seq " +
                   std::to_string(q.rows) +
                   ", read as [batch, heads, seq, dim]; add --layout bshd if it is [batch, seq, heads, dim]";
    take_in(r, "Q", q, dtype, control), take_in(r, "K", k, dtype, control), take_in(r, "V", v, dtype, control);
    if (o.d_o.empty()) return;
    const FileTensor g = read("--do", o.d_o);
    must_match("--do", o.d_o, "batch", g.batch, q.batch, "--q");
    must_match("--do", o.d_o, "heads", g.heads, q.heads, "--q");
    must_match("--do", o.d_o, "rows", g.rows, q.rows, "--q");
    must_match("--do", o.d_o, "columns", g.cols, v.cols, "--v");
    take_in(r, "dO", g, dtype, control);
}

/// To be called when `r.problem` has all sizes: the shapes of both biases follow from them.
void read_bias_files(const Options& o, Request& r, const Computation& computation, Control* control) {
    const std::pair<const char*, const std::string*> files[] = {{"--bias-file", &o.bias_file},
                                                                {"--bias2-file", &o.bias2_file}};
    const std::vector<TensorDecl> declared = computation.tensors(r.problem);
    for (std::size_t k = 0; k < std::size(files); ++k) {
        const auto& [flag, path] = files[k];
        if (path->empty()) continue;
        const auto shown = [f = flag, p = path] { return std::string(f) + ' ' + text::shown(*p) + ": "; };
        if (k >= r.problem.bias.terms.size())
            throw UsageError(shown() + "there is no such bias; say which axes it has, as in --bias " +
                             (k == 0 ? "hqk" : "bk+ghqk"));
        const auto t = std::find_if(declared.begin(), declared.end(),
                                    [&](const TensorDecl& d) { return d.name == std::string_view(bias_tensors[k]); });
        const FileTensor file = read_tensor(flag, *path, {Layout::bhsd, to_bits16(o.bits16), true}, control);
        const Index entries = batch_in_file(r.problem, *t);
        const auto shape = [](Index batch, Index h, Index rows, Index cols) {
            return '[' + std::to_string(batch) + ',' + std::to_string(h) + ',' + std::to_string(rows) + ',' +
                   std::to_string(cols) + ']';
        };
        const std::string has = shape(file.batch, file.heads, file.rows, file.cols),
                          wanted = shape(entries, t->slices / entries, t->rows, t->cols);
        if (has != wanted)
            throw UsageError(shown() + "has shape " + has + ", must have " + wanted + " for --bias " +
                             r.problem.bias.name() + "; reshape it");
        take_in(r, t->name, file, r.problem.dtype, control);
    }
}

void read_softmax_files(Options& o, Request& r, Control* control) {
    const FileTensor x = read_tensor("--x", o.x, format_from(o), control);
    const Dtype dtype = take_dtype(o, x);
    take(o.batch, "--batch", x.batch, o.x);
    take(o.heads, "--heads", x.heads, o.x);
    take_length(o.seq_q, "--seq-q", o.seq, x.rows, o.x);
    take_length(o.seq_k, "--seq-k", o.seq, x.cols, o.x);
    r.file_rank = x.rank;
    take_in(r, "X", x, dtype, control);
}

}  // namespace

Problem sizes_from(const Options& given) {
    const Options o = with_model(given);
    Problem p;
    for (const Flag& flag : flags())
        if (flag.is_size && flag.given(o)) flag.ask(o, p);
    return p;
}

Layout layout_from(const Options& o) {
    const std::string name = o.layout.value_or("bhsd");
    if (name != "bhsd" && name != "bshd")
        throw UsageError("--layout " + text::shown(name) + ": must be bhsd or bshd; try --layout bshd");
    return name == "bhsd" ? Layout::bhsd : Layout::bshd;
}

GpuSpec gpu_from(const Options& o) {
    const GpuSpec before = in_flags([&] { return load_gpu(o.gpu); });
    GpuSpec g = before;
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
        const Bytes reserved = g.system_sram();
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
    scale_what_follows(g, before, [&](std::string_view key) {
        return (key == "sms" && o.sms) || (key.starts_with("sram_per_") && o.sram_kib) ||
               (key == "hbm_gbs" && o.hbm_bandwidth);
    });
    g.l2_bytes = o.l2 ? o.l2_bytes.value_or(g.l2_bytes) : 0;
    return g;
}

const char* attention_flag(const Options& o) {
    for (const Flag& flag : flags())
        if (flag.of == FlagOf::attention && flag.given(o)) return flag.name;
    return nullptr;
}

namespace {

/// Names algorithms that do what this one does not: those of the same computation, or, where there are none, those of
/// the computation of the first one.
template <class F>
[[noreturn]] void refuse(const std::string& flag, const Algorithm& algorithm, const char* does_not, F&& does) {
    std::vector<const Algorithm*> all;
    for (const Algorithm& a : algorithms())
        if (does(a)) all.push_back(&a);
    const auto same = [&](const Algorithm* a) { return a->computes == algorithm.computes; };
    const Computation* const computes =
        std::any_of(all.begin(), all.end(), same) ? algorithm.computes : all.front()->computes;
    std::vector<std::string> names;
    for (const Algorithm* a : all)
        if (a->computes == computes) names.push_back(a->name);
    throw UsageError(flag + ": " + algorithm.name + " does not " + does_not + "; " + text::join(names, ", ") +
                     (names.size() == 1 ? " does" : " do") + ", or leave it out");
}

void check_packing(const Algorithm& algorithm, const Problem& p, const Options& o) {
    if (o.pack != name_of(Packing::on)) return;
    if (!algorithm.packs) refuse("--pack on", algorithm, "pack heads", [](const Algorithm& a) { return a.packs; });
    if (p.bias.by_head_or_query())
        throw UsageError("--pack on: rows of several heads share no row of a bias per head or query, as --bias " +
                         o.bias + " is; leave one of the two out");
    if (p.heads == p.kv_heads)
        throw UsageError("--pack on: every head has K and V of its own, there is nothing to pack; try --kv-heads " +
                         std::to_string(p.heads % 4 == 0 ? p.heads / 4 : 1));
}

/// Refuses files of another computation, and flags about files where there is no file.
void check_files(const Computation& c, const Options& o) {
    layout_from(o);
    const bool any = !(o.q + o.k + o.v + o.x + o.d_o + o.bias_file + o.bias2_file).empty();
    const auto refuse_without_file = [&](const std::string& flag, const char* what) {
        throw UsageError(flag + ": says how " + what + ", and there is none; give " + c.file_flag +
                         " FILE.npy, or leave it out");
    };
    if (!any && !o.bits16.empty()) refuse_without_file("--bits16 " + text::shown(o.bits16), "a file is read");
    if (!any && o.layout && o.out.empty())
        refuse_without_file("--layout " + text::shown(*o.layout), "files are read and written");
    const bool attention = c.file_flag == std::string_view("--q");
    if (attention && !o.x.empty())
        throw UsageError("--x " + text::shown(o.x) + ": is for softmax kernels; attention takes --q --k --v");
    const std::string gradient = "--do " + text::shown(o.d_o);
    if (!o.d_o.empty() && &c != &computation::attention_backward)
        throw UsageError(gradient + ": is for backward passes; leave it out, or try flash_v2_backward");
    if (!o.d_o.empty() && (o.q + o.k + o.v).empty())
        throw UsageError(gradient + ": comes with the files of its forward pass; add --q --k --v");
    if (!attention && !(o.q + o.k + o.v).empty())
        throw UsageError("--q/--k/--v: are for attention; the softmax kernels take --x FILE.npy");
}

}  // namespace

void check_supported(const Algorithm& algorithm, const Problem& problem, const Options& o) {
    if (o.splits != Options().splits && !has_splits(algorithm.knobs))
        refuse("--splits " + text::shown(o.splits), algorithm, "cut the keys into parts",
               [](const Algorithm& a) { return has_splits(a.knobs); });
    if (algorithm.kernel->parts && o.splits != Options().splits && to_splits("--splits", o.splits).number == 0)
        throw UsageError("--splits " + text::shown(o.splits) + ": " + algorithm.name +
                         " has a rule of its own; give a number, or auto for that rule");
    check_packing(algorithm, problem, o);
    const auto refusal = refuses(algorithm, problem);
    if (!refusal) return;
    std::vector<std::string> names;
    for (const Algorithm* a : refusal->instead) names.push_back(a->name);
    throw UsageError(flag_of(refusal->feature, o) + ": " + algorithm.name + " does not do " +
                     name_of(refusal->feature) + "; " +
                     (names.empty() ? "" : text::join(names, ", ") + (names.size() == 1 ? " does" : " do") + ", or ") +
                     "leave it out");
}

Request resolve(const Options& o, const Algorithm& algorithm, Control* control) {
    Request r = resolve(o, *algorithm.computes, control);
    check_supported(algorithm, r.problem, o);
    return r;
}

Request resolve(const Options& given, const Computation& computation, Control* control) {
    // First whatever decides a size: flags, the model, files. Then what follows from sizes.
    Options o = with_model(given);
    Request r{.problem = {},
              .wish = wish_from(o),
              .gpu = gpu_from(o),
              .file_rank = 0,
              .inputs = {},
              .model = model_asked(given),
              .phase = phase_asked(given),
              .remark = ""};
    check_files(computation, o);
    if (const char* flag = attention_flag(given); flag && !computation.features.has(Feature::head_dims))
        throw UsageError(std::string("--") + flag + ": means nothing to a softmax kernel; leave it out");
    check_model(given);
    if (!(o.q + o.k + o.v).empty()) read_attention_files(o, r, control);
    if (!o.x.empty()) read_softmax_files(o, r, control);
    r.problem = problem_from(o);
    in_flags([&] { validate(r.problem); });
    r.problem.mask = mask_from(o, r.problem);
    in_flags([&] { validate(r.problem); });
    if (o.causal_corner != Options().causal_corner && !r.problem.mask.hides() && r.problem.alibi == 0)
        throw UsageError(
            "--causal-corner " + o.causal_corner +
            ": says where queries stand among the keys, and there is neither mask nor ALiBi; add --causal, or "
            "leave it out");
    read_bias_files(o, r, computation, control);
    if (const std::string unlike = unlike_prefix(r.inputs, r.problem); !unlike.empty())
        throw UsageError("--shared-prefix " + std::to_string(r.problem.pages.shared) + ": the sequences of " + unlike +
                         "'s file do not all begin alike; leave --shared-prefix out");
    in_flags([&] {
        validate(r.wish.tiling, r.problem);
        if ((o.q + o.x).empty() && computation.features.has(Feature::head_dims))
            check_pattern(to_distribution(o.distribution), r.problem.dim);
    });
    return r;
}

Problem problem_of(const Algorithm& algorithm, const Request& r) {
    return packed_for(algorithm, r.problem, r.wish.packing);
}

Experiment experiment_of(const Algorithm& algorithm, const Request& r, Control* control) {
    return mapped(algorithm, problem_of(algorithm, r), r.wish, r.gpu, control);
}

const Algorithm& algorithm_named(const std::string& name) {
    if (const Algorithm* a = find_algorithm(name)) return *a;
    if (const auto own = own_name_in(name); own && own->size == name.size()) return own_algorithm(*own);
    if (name.ends_with(".json") || (name.find('/') != std::string::npos && algorithm_in(name) == name))
        throw UsageError("algorithm " + text::shown(name) +
                         ": is a file; `tilescope-gui FILE` plays a recording, `tilescope replay FILE` runs it again");
    if (algorithm_in(name) != name) {
        const Variant v = variant_from(name);
        std::string flags;
        for (const auto& [key, value] : v.settings) flags += " --" + key + "=" + text::shown(value);
        throw UsageError("algorithm " + v.label +
                         ": has settings in its name, which `tilescope compare`, `sweep` and `plot` take; try " +
                         v.algorithm->name + flags);
    }
    if (name.find('=') != std::string::npos)
        throw UsageError("algorithm " + text::shown(name) + ": is none; each key has a --vary of its own: --vary " +
                         text::shown(name));
    if (const std::string instead = instead_of(Asked::algorithm, name); !instead.empty())
        throw UsageError("algorithm " + text::shown(name) + ": " + instead);
    std::vector<std::string> names;
    for (const Algorithm& a : algorithms()) names.push_back(a.name);
    throw UsageError("algorithm " + text::shown(name) + ": unknown" + text::did_you_mean("; ", name, names, ";") +
                     " `tilescope list` shows all of them");
}

std::string renaming(const std::string& name) {
    const Algorithm* a = find_algorithm(name);
    return a && a->name != name ? text::shown(name) + " is now called " + a->name : "";
}

Inputs inputs_for(const Options& o, const Request& request, const Algorithm& algorithm, Control* control) {
    std::vector<TensorDecl> missing = algorithm.tensors(unpacked(request.problem), {1, 1});
    std::erase_if(missing, [&](const TensorDecl& t) {
        return t.role != Role::input || t.dtype == Dtype::i32 || t.saved || request.inputs.contains(t.name);
    });
    // Packed or not, a query of a head has the same values.
    Inputs all = random_inputs(missing, o.seed, to_distribution(o.distribution), control);
    all.insert(request.inputs.begin(), request.inputs.end());
    all = with_saved(algorithm, request.problem, std::move(all), static_cast<int>(o.threads), control);
    return packed_inputs(with_shared_prefix(all, request.problem), request.problem);
}

}  // namespace tilescope::lab
