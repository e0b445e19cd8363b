#include "lab/flags/input_files.hpp"

#include <algorithm>
#include <optional>
#include <tuple>

#include "core/machine/dtypes.hpp"
#include "core/machine/error.hpp"
#include "core/text/message.hpp"
#include "core/text/words.hpp"
#include "lab/flags/values.hpp"
#include "lab/run/experiment.hpp"
#include "lab/workload/file_axes.hpp"
#include "lab/workload/rounding.hpp"

namespace tilescope::lab {
using text::message;
namespace {

/// Sets a flag to a size that a file decides. A flag that was given may only repeat it.
void take(std::optional<Index>& flag, const char* name, Index from_file, const std::string& file) {
    if (flag && *flag != from_file)
        throw UsageError(message("request.file_has_another", name, std::to_string(*flag), text::shown(file),
                                 std::to_string(from_file)));
    flag = from_file;
}

/// The same for a length: --seq stands in where the length's own flag was not given.
void take_length(std::optional<Index>& flag, const char* name, const std::optional<Index>& seq, Index from_file,
                 const std::string& file) {
    if (!flag) flag = seq, name = "--seq";
    take(flag, name, from_file, file);
}

/// The type in which all inputs are stored: that of the flag, or else that of the first file; f16 where it has 8 bits.
Dtype take_dtype(Options& o, const FileTensor& first) {
    if (!o.dtype) o.dtype = name_of(size_of(first.stored) == 1 ? Dtype::f16 : first.stored);
    return to_dtype(*o.dtype);
}

/// Throws the message `id` where `have` and `want` differ.
void must_match(const char* id, const char* flag, const std::string& file, Index have, Index want, const char* of) {
    if (have != want)
        throw UsageError(message(id, flag, text::shown(file), std::to_string(have), std::to_string(want), of));
}

/// Adds a file's numbers to the request as an input. All inputs from files are made here.
void take_in(Request& r, const char* tensor, const FileTensor& file, Dtype dtype, Control* control) {
    const std::string note = about_infinite(file.name, before_rounding(dtype), file.values, file.overflowed);
    if (!note.empty()) r.notes.push_back(note);
    r.inputs[tensor] = to_storage(file, before_rounding(dtype), control);
}

/// The bits of 8-bit types are in files that do not say so: the flag of the type says it.
std::optional<Dtype> bits_from(const Options& o, const std::optional<std::string>& own_type) {
    const std::optional<Dtype> type = dtype_from(own_type ? *own_type : o.dtype.value_or(""));
    return type && size_of(*type) == 1 ? type : to_bits16(o.bits16);
}

FileFormat format_from(const Options& o, const std::optional<std::string>& own_type = {}) {
    return {layout_from(o), bits_from(o, own_type)};
}

/// Whether files of K and V have this type of 8 bits already.
bool are_stored(const FileTensor& k, const FileTensor& v, Dtype type) {
    return size_of(type) == 1 && k.stored == type && v.stored == type;
}

/// What becomes of values that have 8 bits in their file: they are widened to `type`, or rounded a second time; empty
/// where they stay as they are.
std::string about_8_bits(const FileTensor& file, Dtype type, const char* flag, bool scaled) {
    if (size_of(file.stored) > 1) return "";
    const std::string name = text::shown(file.name), stored = name_of(file.stored);
    if (size_of(type) > 1) return message("request.widened", name, stored, name_of(type), flag);
    return scaled && file.stored == type ? message("request.rounded_again", name, stored) : "";
}

void read_attention_files(Options& o, Request& r, Control* control) {
    if (o.q.empty() || o.k.empty() || o.v.empty())
        throw UsageError(message("request.three_files", o.q.empty() ? "--q" : o.k.empty() ? "--k" : "--v"));
    const auto read = [&](const char* flag, const std::string& path, const std::optional<std::string>& type = {}) {
        return read_tensor(flag, path, format_from(o, type), control);
    };
    const FileTensor q = read("--q", o.q, o.q_dtype), k = read("--k", o.k, o.kv_dtype),
                     v = read("--v", o.v, o.kv_dtype);
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
    const Dtype of_q = o.q_dtype ? to_dtype(*o.q_dtype, "--q-dtype") : dtype;
    const Dtype of_kv = o.kv_dtype ? to_dtype(*o.kv_dtype, "--kv-dtype") : dtype;
    if (!o.scales && are_stored(k, v, of_kv) && (size_of(of_q) > 1 || q.stored == of_q)) {
        o.scales = "none";  // another scale would round them again
        r.notes.push_back(message("request.stored_without_scales", name_of(of_kv)));
    }
    for (const auto& [file, type, flag] : {std::tuple(&q, of_q, "--dtype"), {&k, of_kv, "--kv-dtype"}})
        if (const std::string note = about_8_bits(*file, type, flag, o.scales.value_or("head") != "none");
            !note.empty())
            r.notes.push_back(note);
    take_in(r, "Q", q, of_q, control), take_in(r, "K", k, of_kv, control), take_in(r, "V", v, of_kv, control);
    if (o.d_o.empty()) return;
    const FileTensor g = read("--do", o.d_o);
    must_match("request.other_batch", "--do", o.d_o, g.batch, q.batch, "--q");
    must_match("request.other_heads", "--do", o.d_o, g.heads, q.heads, "--q");
    must_match("request.other_rows", "--do", o.d_o, g.rows, q.rows, "--q");
    must_match("request.other_columns", "--do", o.d_o, g.cols, v.cols, "--v");
    take_in(r, "dO", g, dtype, control);
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

Layout layout_from(const Options& o) {
    const std::string name = o.layout.value_or("bhsd");
    if (name != "bhsd" && name != "bshd") throw UsageError(message("request.no_layout", text::shown(name)));
    return name == "bhsd" ? Layout::bhsd : Layout::bshd;
}

void check_files(const Computation& c, const Options& o) {
    layout_from(o);
    const bool any = !(o.q + o.k + o.v + o.x + o.d_o + o.bias_file + o.bias2_file).empty();
    if (!any && !o.bits16.empty())
        throw UsageError(message("request.bits16_without_file", text::shown(o.bits16), c.file_flag));
    if (!any && o.layout && (o.out + o.out_lse).empty())
        throw UsageError(message("request.layout_without_file", text::shown(*o.layout), c.file_flag));
    const bool attention = c.file_flag == std::string_view("--q");
    if (attention && !o.x.empty()) throw UsageError(message("request.x_of_attention", text::shown(o.x)));
    if (!o.d_o.empty() && &c != &computation::attention_backward)
        throw UsageError(message("request.do_of_forward_pass", text::shown(o.d_o)));
    if (!o.d_o.empty() && (o.q + o.k + o.v).empty()) throw UsageError(message("request.do_alone", text::shown(o.d_o)));
    if (!attention && !(o.q + o.k + o.v).empty()) throw UsageError(message("request.qkv_of_softmax"));
}

void read_input_files(Options& o, Request& r, Control* control) {
    if (!(o.q + o.k + o.v).empty()) read_attention_files(o, r, control);
    if (!o.x.empty()) read_softmax_files(o, r, control);
}

void read_bias_files(const Options& o, Request& r, const Computation& computation, Control* control) {
    const std::pair<const char*, const std::string*> files[] = {{"--bias-file", &o.bias_file},
                                                                {"--bias2-file", &o.bias2_file}};
    if ((o.bias_file + o.bias2_file).empty()) return;
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
        take_in(r, t->name, file, t->dtype, control);
    }
}

}  // namespace tilescope::lab
