#include "lab/flags/model.hpp"

#include <tuple>

#include "core/machine/error.hpp"
#include "core/text/message.hpp"
#include "lab/workload/model_presets.hpp"

namespace tilescope::lab {
namespace {

Phase phase_of(const Options& o) { return o.phase == name_of(Phase::decode) ? Phase::decode : Phase::prefill; }

/// The options that have to be equal for a model to count as unchanged. Lengths may differ.
auto shape_of(const Options& o) {
    return std::tuple(o.heads, o.kv_heads.value_or(o.heads.value_or(0)), o.dim, o.dim_v.value_or(o.dim.value_or(0)),
                      o.dtype, o.causal, o.scale, o.softmax);
}

}  // namespace

Options with_model(Options o) {
    if (o.model.empty()) return o;
    const ModelShape& m = model_named(o.model).in(phase_of(o));
    const auto fill = [](auto& flag, const auto& value) {
        if (!flag) flag = value;
    };
    fill(o.heads, m.heads), fill(o.kv_heads, m.kv_heads);
    fill(o.dim, m.dim), fill(o.dim_v, m.dim_v);
    fill(o.scale, m.scale), fill(o.dtype, m.dtype);
    fill(o.seq, m.seq);
    if (phase_of(o) == Phase::decode) fill(o.seq_q, Index{1});
    // Queries are the last of the sequence: a single one sees all keys, so kernels take no mask for it.
    fill(o.causal, o.seq_q.value_or(*o.seq) > 1);
    return o;
}

Options with_usual_sizes(Options o, Index heads, Index seq) {
    if (!(o.q + o.k + o.v + o.x + o.model).empty()) return o;
    if (!o.heads) o.heads = heads;
    if (!o.seq && !o.seq_q) o.seq = seq;
    return o;
}

std::string model_asked(const Options& o) {
    if (o.model.empty()) return "";
    Options alone;
    alone.model = o.model, alone.phase = o.phase;
    alone.seq = o.seq, alone.seq_q = o.seq_q;
    return o.model + (shape_of(with_model(alone)) == shape_of(with_model(o)) ? "" : " (changed)");
}

std::string phase_asked(const Options& o) { return o.model.empty() ? "" : name_of(phase_of(o)); }

void check_model(const Options& o) {
    if (o.model.empty() && !o.phase.empty())
        throw UsageError(text::message("model_flags.phase_without_model", o.phase));
    if (!o.model.empty() && !(o.q + o.k + o.v).empty())
        throw UsageError(text::message("model_flags.model_and_files", o.model));
}

}  // namespace tilescope::lab
