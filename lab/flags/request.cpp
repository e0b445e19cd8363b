// From flags to a problem, a tiling and a machine.
#include "lab/flags/request.hpp"

#include <algorithm>
#include <cmath>

#include "algorithms/contract/kernel_description.hpp"
#include "algorithms/contract/validate.hpp"
#include "core/text/message.hpp"
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
using text::message;
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
        throw UsageError(message("request.file_has_another", name, std::to_string(*flag), text::shown(file),
                                 std::to_string(from_file)));
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

/// `id`: the message where they differ.
void must_match(const char* id, const char* flag, const std::string& file, Index have, Index want, const char* of) {
    if (have != want)
        throw UsageError(message(id, flag, text::shown(file), std::to_string(have), std::to_string(want), of));
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
        throw UsageError(message("request.three_files", o.q.empty() ? "--q" : o.k.empty() ? "--k" : "--v"));
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
    must_match("request.other_batch", "--k", o.k, k.batch, q.batch, "--q");
    must_match("request.other_batch", "--v", o.v, v.batch, q.batch, "--q");
    must_match("request.other_dim", "--k", o.k, k.cols, q.cols, "--q");
    must_match("request.other_heads", "--v", o.v, v.heads, k.heads, "--k");
    must_match("request.other_rows", "--v", o.v, v.rows, k.rows, "--k");
    r.file_rank = q.rank;
    if (!o.layout && q.heads > q.rows)
        r.remark =
            message("request.more_heads_than_rows", text::shown(o.q), std::to_string(q.heads), std::to_string(q.rows));
    take_in(r, "Q", q, dtype, control), take_in(r, "K", k, dtype, control), take_in(r, "V", v, dtype, control);
    if (o.d_o.empty()) return;
    const FileTensor g = read("--do", o.d_o);
    must_match("request.other_batch", "--do", o.d_o, g.batch, q.batch, "--q");
    must_match("request.other_heads", "--do", o.d_o, g.heads, q.heads, "--q");
    must_match("request.other_rows", "--do", o.d_o, g.rows, q.rows, "--q");
    must_match("request.other_columns", "--do", o.d_o, g.cols, v.cols, "--v");
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
        if (k >= r.problem.bias.terms.size())
            throw UsageError(message("request.no_such_bias", flag, text::shown(*path), k == 0 ? "hqk" : "bk+ghqk"));
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
            throw UsageError(
                message("request.bias_of_other_shape", flag, text::shown(*path), has, wanted, r.problem.bias.name()));
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
    if (name != "bhsd" && name != "bshd") throw UsageError(message("request.no_layout", text::shown(name)));
    return name == "bhsd" ? Layout::bhsd : Layout::bshd;
}

GpuSpec gpu_from(const Options& o) {
    const GpuSpec before = in_flags([&] { return load_gpu(o.gpu); });
    GpuSpec g = before;
    if (o.sms) {
        if (*o.sms < 1 || *o.sms > 1'000'000) throw UsageError(message("request.no_sms", std::to_string(*o.sms)));
        g.sms = *o.sms;
    }
    if (o.sram_kib) {
        if (!(*o.sram_kib > 0) || *o.sram_kib > 1e6)
            throw UsageError(message("request.no_sram", text::number(*o.sram_kib)));
        // The system's share per thread block stays what it is on this GPU.
        const Bytes reserved = g.system_sram();
        g.sram_per_sm = static_cast<Bytes>(std::llround(*o.sram_kib * 1024));
        if (g.sram_per_sm <= reserved)
            throw UsageError(
                message("request.sram_is_reserved", text::number(*o.sram_kib), g.name, std::to_string(reserved)));
        g.sram_per_block = g.sram_per_sm - reserved;
    }
    if (o.hbm_bandwidth) {
        if (!(*o.hbm_bandwidth > 0) || *o.hbm_bandwidth > 1e9)
            throw UsageError(message("request.no_bandwidth", text::number(*o.hbm_bandwidth)));
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

/// A message that names algorithms that do what this one does not: those of the same computation, or, where there are
/// none, those of the computation of the first one.
template <class F>
[[noreturn]] void refuse(const char* id, const std::string& flag, const Algorithm& algorithm, F&& does) {
    std::vector<const Algorithm*> all;
    for (const Algorithm& a : algorithms())
        if (does(a)) all.push_back(&a);
    const auto same = [&](const Algorithm* a) { return a->computes == algorithm.computes; };
    const Computation* const computes =
        std::any_of(all.begin(), all.end(), same) ? algorithm.computes : all.front()->computes;
    std::vector<std::string> names;
    for (const Algorithm* a : all)
        if (a->computes == computes) names.push_back(a->name);
    throw UsageError(message(id, flag, algorithm.name, text::join(names, ", "), names.size()));
}

void check_packing(const Algorithm& algorithm, const Problem& p, const Options& o) {
    if (o.pack != name_of(Packing::on)) return;
    if (!algorithm.packs)
        refuse("request.packs_no_heads", "--pack on", algorithm, [](const Algorithm& a) { return a.packs; });
    if (p.bias.by_head_or_query()) throw UsageError(message("request.bias_of_packed_heads", o.bias));
    if (p.heads == p.kv_heads)
        throw UsageError(message("request.nothing_to_pack", std::to_string(p.heads % 4 == 0 ? p.heads / 4 : 1)));
}

/// Refuses files of another computation, and flags about files where there is no file.
void check_files(const Computation& c, const Options& o) {
    layout_from(o);
    const bool any = !(o.q + o.k + o.v + o.x + o.d_o + o.bias_file + o.bias2_file).empty();
    if (!any && !o.bits16.empty())
        throw UsageError(message("request.bits16_without_file", text::shown(o.bits16), c.file_flag));
    if (!any && o.layout && o.out.empty())
        throw UsageError(message("request.layout_without_file", text::shown(*o.layout), c.file_flag));
    const bool attention = c.file_flag == std::string_view("--q");
    if (attention && !o.x.empty()) throw UsageError(message("request.x_of_attention", text::shown(o.x)));
    if (!o.d_o.empty() && &c != &computation::attention_backward)
        throw UsageError(message("request.do_of_forward_pass", text::shown(o.d_o)));
    if (!o.d_o.empty() && (o.q + o.k + o.v).empty()) throw UsageError(message("request.do_alone", text::shown(o.d_o)));
    if (!attention && !(o.q + o.k + o.v).empty()) throw UsageError(message("request.qkv_of_softmax"));
}

}  // namespace

void check_supported(const Algorithm& algorithm, const Problem& problem, const Options& o) {
    if (o.splits != Options().splits && !has_splits(algorithm.knobs))
        refuse("request.cuts_no_keys", "--splits " + text::shown(o.splits), algorithm,
               [](const Algorithm& a) { return has_splits(a.knobs); });
    if (algorithm.kernel->parts && o.splits != Options().splits && to_splits("--splits", o.splits).number == 0)
        throw UsageError(message("request.own_rule_of_splits", text::shown(o.splits), algorithm.name));
    check_packing(algorithm, problem, o);
    const auto refusal = refuses(algorithm, problem);
    if (!refusal) return;
    std::vector<std::string> names;
    for (const Algorithm* a : refusal->instead) names.push_back(a->name);
    const std::string flag = flag_of(refusal->feature, o), feature = name_of(refusal->feature);
    throw UsageError(names.empty() ? message("request.none_does", flag, algorithm.name, feature)
                                   : message("request.others_do", flag, algorithm.name, feature,
                                             text::join(names, ", "), names.size()));
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
        throw UsageError(message("request.flag_of_attention", flag));
    check_model(given);
    if (!(o.q + o.k + o.v).empty()) read_attention_files(o, r, control);
    if (!o.x.empty()) read_softmax_files(o, r, control);
    r.problem = problem_from(o);
    in_flags([&] { validate(r.problem); });
    r.problem.mask = mask_from(o, r.problem);
    in_flags([&] { validate(r.problem); });
    if (o.causal_corner != Options().causal_corner && !r.problem.mask.hides() && r.problem.alibi == 0)
        throw UsageError(message("request.corner_without_mask", o.causal_corner));
    read_bias_files(o, r, computation, control);
    if (const std::string unlike = unlike_prefix(r.inputs, r.problem); !unlike.empty())
        throw UsageError(message("request.unlike_prefix", std::to_string(r.problem.pages.shared), unlike));
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
        throw UsageError(message("request.algorithm_is_file", text::shown(name)));
    if (algorithm_in(name) != name) {
        const Variant v = variant_from(name);
        std::string words = v.algorithm->name;
        for (const auto& [key, value] : v.settings) words += " --" + key + "=" + text::shown(value);
        throw UsageError(message("request.algorithm_with_settings", v.label, words));
    }
    if (name.find('=') != std::string::npos) throw UsageError(message("request.algorithm_is_axis", text::shown(name)));
    if (const std::string instead = instead_of(Asked::algorithm, name); !instead.empty())
        throw UsageError(message("request.algorithm_is_elsewhere", text::shown(name), instead));
    std::vector<std::string> names;
    for (const Algorithm& a : algorithms()) names.push_back(a.name);
    if (const auto near = text::nearest(name, names))
        throw UsageError(message("request.misspelt_algorithm", text::shown(name), *near));
    throw UsageError(message("request.unknown_algorithm", text::shown(name)));
}

std::string renaming(const std::string& name) {
    const Algorithm* a = find_algorithm(name);
    return a && a->name != name ? message("request.renamed", text::shown(name), a->name) : "";
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
